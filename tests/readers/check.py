"""Holds what `loadscope export` writes against the programs that read it: DuckDB, pyarrow, Perfetto's trace processor.

    cargo xtask readers          (or: python tests/readers/check.py path/to/loadscope)

Runs in a virtual environment of its own, made with pip on the first call. Perfetto's package downloads its trace processor from the
internet; where that cannot be reached this says so, and traces are held against the rules of the format alone.
"""

import argparse
import collections
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data"
PACKAGES = ["duckdb==2.0.0", "pyarrow==26.0.1", "perfetto==0.59.1"]


def in_own_environment(folder):
    """Starts this program again with the packages it needs."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if pathlib.Path(sys.prefix).resolve() == folder.resolve():
        return
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
        (folder / "ready").write_text("\n".join(PACKAGES))
    sys.exit(subprocess.run([python, __file__, *sys.argv[1:]]).returncode)


def same(what, a, b, within=0):
    close = a == b or (within and abs(a - b) <= within)
    assert close, f"{what}: {a} and {b}"
    checks[what] += 1


checks = collections.Counter()


class Case:
    """A recording, and what it is exported to."""

    def __init__(self, program, file, folder):
        self.program, self.file, self.folder = program, file, folder
        self.info = json.loads(self.run("info", file, "--json"))

    def run(self, *arguments):
        command = [self.program, *map(str, arguments)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def export(self, to, out):
        paths = self.run("export", self.file, "--to", to, "-o", out).split("\n")
        return [pathlib.Path(p) for p in paths if p]


def trace_rules(path):
    """The rules of Chrome's format, and ours: no two slices of a track overlap, every flow is tied to slices."""
    text = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    events = json.loads(text)["traceEvents"]

    def ns(event, field):
        value = event[field] * 1000
        assert abs(value - round(value)) < 1e-3, f"{field} of {event} is not a whole number of ns"
        return round(value)

    tracks, flows, names = collections.defaultdict(list), collections.defaultdict(list), {}
    for event in events:
        phase = event["ph"]
        assert phase in "XMCistf", event
        if phase == "X":
            tracks[event["pid"], event["tid"]].append((ns(event, "ts"), ns(event, "dur"), event))
        elif phase in "stf":
            flows[event["id"]].append((ns(event, "ts"), "stf".index(phase), event))
        elif phase == "C":
            assert all(isinstance(v, (int, float)) for v in event["args"].values()), event
        elif phase == "M" and event["name"] == "thread_name":
            names[event["tid"]] = event["args"]["name"]
    spans = {}
    for key, slices in tracks.items():
        assert key[1] in names, f"track {key} has no name"
        slices.sort(key=lambda s: s[:2])
        for (start, took, event), (after, *_) in zip(slices, slices[1:]):
            assert took >= 0 and start + took <= after, f"{event} overlaps the next one"
        spans[key] = {start: took for start, took, _ in slices if took > 0}
        checks["slices that do not overlap"] += len(slices)
    for flow in flows.values():
        flow.sort(key=lambda e: e[:2])
        for start, _, event in flow:
            assert start in spans[event["pid"], event["tid"]], f"{event} is tied to no slice"
        phases = "".join(event["ph"] for *_, event in flow)
        assert phases in ("f", "s") or phases[0] == "s", phases
        assert phases.count("s") <= 1 and phases.count("f") <= 1, phases
        checks["flows tied to slices"] += 1
    return [event for slices in tracks.values() for *_, event in slices], events


def traces(case):
    for name in ("trace.json", "trace.json.gz"):
        (path,) = case.export("chrome", case.folder / name)
        slices, events = trace_rules(path)
    waited = sum(s["dur"] for s in slices if s["cat"] == "waiting") / 1e6
    same("time waited in the trace", waited, case.info["waited_seconds"] or 0, within=1e-6)
    training = sum(s["cat"] == "training" for s in slices)
    same("batches in the trace", training, case.info["batches"] or 0)
    return path, slices, events


def tables(case):
    import duckdb
    import pyarrow.parquet

    csv = case.export("csv", case.folder / "run.csv")
    parquet = case.export("parquet", case.folder / "tables")
    tables = ["batches", "samples", "gauges", "waits", "loaders", "errors", "stacks"]
    assert [p.name for p in csv] == ["run.%s.csv" % name for name in tables]
    assert [p.name for p in parquet] == ["%s.parquet" % name for name in tables]
    sql = duckdb.connect()
    for text, binary in zip(csv, parquet):
        name = binary.stem
        sql.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{binary}')")
        # With the types of the one the other reads the same.
        types = {c: t for c, t, *_ in sql.execute(f"DESCRIBE {name}").fetchall()}
        columns = ", ".join(f"'{c}': '{t}'" for c, t in types.items())
        read = f"read_csv('{text}', header=true, delim=',', quote='\"', columns={{{columns}}})"
        differing = f"(SELECT * FROM {read} EXCEPT ALL SELECT * FROM {name})"
        same("rows that differ between CSV and Parquet", sql.execute(f"SELECT count(*) FROM {differing}").fetchone()[0], 0)
        rows = sql.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
        same("rows of CSV and Parquet", rows, sql.execute(f"SELECT count(*) FROM {read}").fetchone()[0])
        table = pyarrow.parquet.read_table(binary)
        same("rows for DuckDB and pyarrow", table.num_rows, rows)
        same("columns for DuckDB and pyarrow", table.column_names, list(types))
    one = lambda query: sql.execute(query).fetchone()[0]
    info = case.info
    same("batches yielded", one("SELECT count(handed_out_at_ns) FROM batches"), info["batches"] or 0)
    same("held batches", one("SELECT count(*) FROM batches WHERE was_held"), info["held"] or 0)
    yielded = "FROM batches WHERE handed_out_at_ns IS NOT NULL"
    same("samples", one(f"SELECT coalesce(sum(samples), 0) {yielded}"), info["samples"] or 0)
    stages = ["queued", "fetching", "collating", "returning", "pinning", "held", "ready", "training"]
    total = " + ".join(f"coalesce({s}_ns, 0)" for s in stages)
    wrong = f"SELECT count(*) FROM batches WHERE ended_at_ns - dispatched_at_ns <> {total}"
    same("batches whose stages do not add up", one(wrong), 0)
    return sql


def log(case, sql):
    """Against the recording itself, which DuckDB reads, too."""
    one = lambda query: sql.execute(query).fetchone()[0]
    if case.file.suffix != ".jsonl":
        return
    lines = f"read_json('{case.file}', format='newline_delimited', union_by_name=true, maximum_object_size=100000000)"
    same("dispatches", one(f"SELECT count(*) FROM {lines} WHERE e = 'dispatched'"), one("SELECT count(*) FROM batches"))
    walls = f"SELECT coalesce(sum(list_sum(walls)), 0) FROM {lines} WHERE e = 'fetched'"
    same("time in samples", int(one(walls)), int(one("SELECT sum(wall_ns) FROM samples")))
    indices = f"SELECT sum(list_sum(indices)) FROM {lines} WHERE e = 'dispatched'"
    same("dataset indices", int(one(indices)), int(one("SELECT sum(sample) FROM samples")))


def perfetto(path, slices, events):
    """What Perfetto itself makes of a trace; false where its trace processor cannot be had."""
    from perfetto.trace_processor import TraceProcessor

    try:
        processor = TraceProcessor(trace=str(path))
    except Exception as error:
        print(f"Perfetto's trace processor cannot be had here: {type(error).__name__}")
        return False
    one = lambda query: next(iter(processor.query(query))).n
    same("slices for Perfetto", one("SELECT count(*) n FROM slice WHERE category <> 'message'"), len(slices))
    same("nested slices for Perfetto", one("SELECT count(*) n FROM slice WHERE depth > 0"), 0)
    counted = sum(e["ph"] == "C" for e in events)
    same("counter values for Perfetto", one("SELECT count(*) n FROM counter"), counted)
    steps = sum(e["ph"] in "tf" for e in events)
    same("flows for Perfetto", one("SELECT count(*) n FROM flow"), steps)
    errors = "SELECT coalesce(sum(value), 0) n FROM stats WHERE severity = 'error'"
    same("errors for Perfetto", one(errors), 0)
    processor.close()
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("loadscope", type=pathlib.Path, help="the program")
    parser.add_argument("--environment", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "loadscope-readers")
    arguments = parser.parse_args()
    in_own_environment(arguments.environment)
    program = str(arguments.loadscope.resolve())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run = folder / "run.jsonl"
        options = "--dataset synthetic:len=600,cost_ms=2,slow=50:60 --num-workers 3 --batch-size 4 --epochs 2 --shuffle"
        subprocess.run([program, "run", *options.split(), "--record", run], check=True, capture_output=True)
        files = [run, DATA / "profiler/workers.json.gz", DATA / "lotus/newer", DATA / "spdl/pipeline.sqlite"]
        has_perfetto = True
        for k, file in enumerate(files):
            inside = folder / str(k)
            inside.mkdir()
            case = Case(program, file, inside)
            path, slices, events = traces(case)
            sql = tables(case)
            log(case, sql)
            has_perfetto = has_perfetto and perfetto(path, slices, events)
            print(f"{file.name}: {len(slices)} slices, {len(events)} events: in order")
    for what, count in checks.items():
        print(f"{count:>8}  {what}")
    if not has_perfetto:
        print("Not checked with Perfetto itself.")


if __name__ == "__main__":
    main()
