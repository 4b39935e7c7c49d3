"""What recording costs: the same program with and without Loadscope, in turn.

    python overhead.py --loadscope EXECUTABLE --data FOLDER [--rounds N] [--instructions] [--only WORD] [--results FILE] PYTHON

FOLDER: what `tests/peers/make_data.py` made. Speeds move from minute to minute, so what counts is the ratio within a round; given are the
median of the rounds and the range of their middle half. Processor time is of the program with its workers, and then of the
recorder as well, which runs beside it: most of its own is that of its start, which is listed separately. Where other users of the host make
times vary by more than what is looked for, `--instructions` counts those of the program and its workers with callgrind instead: of an
epoch, the difference between a run of two and a run of one, and of the start, what else there is. FILE keeps what it says of works that
are not measured this time.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import zlib

PROGRAM = str(pathlib.Path(__file__).resolve().parent / "programs" / "speed.py")
# Name, workers, epochs, and what must hold of the time it takes.
WORKS = (
    ("pictures", 2, 3, "share", 2.0),
    ("steady", 2, 2, "share", 2.0),
    ("tiny", 2, 8, "sample", 1.0),
    ("tiny", 0, 3, "sample", 1.0),
    ("pairs", 0, 4, "batch", 20.0),
    ("pairs", 2, 2, "batch", 40.0),
)
# Samples of what a limit is about.
OF = {"sample": 1, "batch": 2}
MEANS = "*pictures*: 800 JPEGs, read, decoded and resized to 224 × 224, in batches of 32. *steady*: 1 ms per sample. *tiny*: no work per sample. *pairs*: the same, two to a batch."
TIMES = ["work", "workers", "rounds", "not recorded", "recording adds", "at most", "within limit", "CPU time, program", "and recorder", "its start", "probe"]
COUNTS = ["work", "workers", "an epoch, not recorded", "recording adds", "at most", "within limit", "per sample", "its start", "probe"]
COUNTED = (
    "Instructions of the program and its workers, counted by callgrind (`--instructions`), independent of other load on the host. "
    "They do not include the recorder, a separate process. *its start*: once, until the first epoch."
)


def spent(command):
    """What a program says, and the seconds of processor time of all its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    came = subprocess.run(command, capture_output=True, text=True)
    if came.returncode != 0:
        sys.exit("%s fails: %s" % (command, came.stderr[-500:]))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return came.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def turn(command):
    text, seconds = spent(command)
    return {**json.loads(text), "all": seconds}


def measured(loadscope, command, rounds, unit, log):
    """By figure: what recording added in each round."""
    extra = {"seconds": [], "busy": [], "all": []}
    bare_times = []
    for number in range(rounds):
        turns = [("bare", command), ("recorded", [loadscope, "record", "--force", "-o", log, "--", *command])]
        took = {who: turn(what) for who, what in (turns if number % 2 else turns[::-1])}
        bare, recorded = took["bare"], took["recorded"]
        bare_times.append(bare["seconds"])
        for figure, values in extra.items():
            if unit == "share":
                values.append((recorded[figure] / bare[figure] - 1) * 100)
            else:
                # Processor time is of all epochs, also of the first, which is not timed.
                samples = bare["samples"] if figure == "seconds" else bare["all_samples"]
                values.append((recorded[figure] - bare[figure]) / samples * 1e6 * OF[unit])
    return statistics.median(bare_times), extra


def said(values, unit):
    spread = statistics.quantiles(values, n=4)
    sign = " %" if unit == "share" else " µs per " + unit
    return "%.2f%s (%.2f to %.2f)" % (statistics.median(values), sign, spread[0], spread[2])


def executed(command):
    """The instructions of all processes of a program, and what it says."""
    with tempfile.TemporaryDirectory() as folder:
        tool = ["valgrind", "--tool=callgrind", "-q", "--callgrind-out-file=%s/%%p" % folder]
        at = command.index("--") + 1 if "--" in command else 0
        text, _ = spent([*command[:at], *tool, *command[at:]])
        sums = (re.search(r"^totals: (\d+)$", file.read_text(), re.MULTILINE) for file in pathlib.Path(folder).iterdir())
        return sum(int(found.group(1)) for found in sums), json.loads(text)


def instructions(loadscope, command, folder):
    """Instructions of an epoch, bare and recorded, how many more there are before it, and its samples."""

    def of(number):
        recorded, epochs = divmod(number, 2)
        words = [*command[:4], str(epochs), *command[5:]]
        log = os.path.join(folder, "%d.jsonl.zst" % epochs)
        return executed([loadscope, "record", "--force", "-o", log, "--", *words] if recorded else words)

    # They do not disturb each other.
    with concurrent.futures.ThreadPoolExecutor(2) as two:
        (bare, said), (bare_twice, _), (recorded, _), (recorded_twice, _) = two.map(of, range(4))
    # Forked workers begin with what their parent had counted: its start counts several times, but the same in both.
    bare_epoch, epoch = bare_twice - bare, recorded_twice - recorded
    starts = recorded - epoch - (bare - bare_epoch)
    return bare_epoch, epoch, starts // (int(command[3]) + 1), said["all_samples"]


def known(path, columns):
    """Rows of the table with these columns, by work and number of workers."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines() if path and os.path.exists(path) else []
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    order = [[name, str(workers)] for name, workers, *_ in WORKS]
    of_table = rows[rows.index(columns) + 2 :] if columns in rows else []
    return {tuple(row[:2]): row for row in of_table if row[:2] in order and len(row) == len(columns)}


def chosen(options):
    for name, workers, epochs, unit, most in WORKS:
        if options.only in "%s-%d" % (name, workers):
            command = [options.python, PROGRAM, name, str(workers), str(epochs), options.data]
            yield [name, str(workers)], command, unit, most


def timed(options, folder):
    """Rows of the table of times."""
    log = os.path.join(folder, "log.jsonl.zst")
    nothing = [options.python, "-c", "pass"]
    recorded = [options.loadscope, "record", "--force", "-o", log, "--", *nothing]
    start = statistics.median(spent(recorded)[1] - spent(nothing)[1] for _ in range(5))
    for row, command, unit, most in chosen(options):
        bare, extra = measured(options.loadscope, command, options.rounds, unit, log)
        holds = statistics.median(extra["seconds"]) <= most
        row += [str(options.rounds), "%.2f s" % bare, said(extra["seconds"], unit)]
        row += ["%g%s" % (most, " %" if unit == "share" else " µs per " + unit), "yes" if holds else "NO"]
        yield row + [said(extra["busy"], unit), said(extra["all"], unit), "%.2f s" % start, options.probe]


def counted(options, folder):
    """Rows of the table of instructions."""
    for row, command, unit, most in chosen(options):
        if row[0] == "steady":
            continue
        bare, recorded, start, samples = instructions(options.loadscope, command, folder)
        share = (recorded / bare - 1) * 100
        limit = ["%g %%" % most, "yes" if share <= most else "NO"] if unit == "share" else ["", ""]
        row += ["%.2f G" % (bare / 1e9), "%.3f %%" % share, *limit]
        yield row + ["%.0f" % ((recorded - bare) / samples), "%.0f M" % (start / 1e6), options.probe]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--loadscope", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--instructions", action="store_true", help="count them with callgrind, instead of measuring times")
    parser.add_argument("--only", default="", help="only works whose name, with the number of workers, has this in it")
    parser.add_argument("--results")
    parser.add_argument("python")
    options = parser.parse_args()
    options.loadscope = os.path.abspath(options.loadscope)
    options.probe = "%08x" % zlib.crc32(subprocess.run([options.loadscope, "probe"], capture_output=True).stdout)
    tables = {name: known(options.results, columns) for name, columns in (("times", TIMES), ("counts", COUNTS))}
    fails = 0
    with tempfile.TemporaryDirectory() as folder:
        for row in (counted if options.instructions else timed)(options, folder):
            print(" | ".join(row), flush=True)
            tables["counts" if options.instructions else "times"][tuple(row[:2])] = row
            fails += "NO" in row
            if options.results:
                write(options.results, **tables)
    return 1 if fails else 0


def write(path, times, counts):
    order = [(name, str(workers)) for name, workers, *_ in WORKS]

    def table(columns, rows):
        lines = [columns, ["---"] * len(columns), *(rows[key] for key in order if key in rows)]
        return "".join("| %s |\n" % " | ".join(line) for line in lines)

    head = "# Cost of recording a PyTorch program\n\nWritten by `cargo xtask probe-overhead`. Each program ran in turn with and without "
    head += "recording. Cells contain the median of the rounds, with the range of their middle half.\n%s *probe*: CRC-32 of the probe." % MEANS
    parts = [head, table(TIMES, times)]
    if counts:
        parts += ["## Instructions", COUNTED, table(COUNTS, counts)]
    pathlib.Path(path).write_text("\n\n".join(part.rstrip("\n") for part in parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
