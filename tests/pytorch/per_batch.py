"""What recording costs a batch that costs nothing itself: tiny samples, a few to a batch.

    python per_batch.py [--loadscope EXECUTABLE] [--probe NAME=FOLDER]… [--rounds N] [--instructions] [--batch N] [--workers N]… PYTHON

Each probe (by default that of this checkout) is measured *alone*, where it writes into a file, and with an executable under
`loadscope record`, where it speaks to a recorder: instead of the one that the executable brings. Given are what is more than without:
processor time of the program and its workers a batch (of the recorder as well: *all*), and the time of the clock, as the medians of
rounds in which all take turns. `--instructions` counts with callgrind, which does not depend on what else the host does.
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

ASSETS = pathlib.Path(__file__).resolve().parent.parent.parent / "assets" / "probe"
PROGRAM = """
import json, os, sys, time
import torch, torch.utils.data as data

class Rows(data.Dataset):
    def __init__(self, count): self.count, self.row = count, torch.zeros(8)
    def __len__(self): return self.count
    def __getitem__(self, index): return self.row

def main():
    workers, batches, size, epochs = map(int, sys.argv[1:5])
    loader = data.DataLoader(Rows(batches * size), batch_size=size, num_workers=workers, persistent_workers=workers > 0)
    best = None
    for _ in range(epochs):
        start = time.perf_counter()
        for _ in loader: pass
        took = time.perf_counter() - start
        best = took if best is None else min(best, took)
    del loader
    print(json.dumps({"wall": best}))

if __name__ == "__main__": main()
"""
# The folder of the recorder's probe stands first in PYTHONPATH.
BRINGS = 'cp "$0"/*.py "${PYTHONPATH%%:*}/"; exec "$@"'


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)
        self.program = self.folder / "program.py"
        self.program.write_text(PROGRAM)

    def ways(self):
        """By name: what goes before the program, and its environment."""
        yield "bare", [], {}
        for name, probe in self.options.probes.items():
            out = self.folder / ("out-" + name)
            yield name + " alone", [], {"PYTHONPATH": probe, "LOADSCOPE_PROBE_TO": "dir:%s" % out}
            if self.options.loadscope:
                log = str(self.folder / ("%s.jsonl.zst" % name))
                record = [self.options.loadscope, "record", "--force", "-o", log, "--", "sh", "-c", BRINGS, probe]
                yield name + " recorded", record, {}

    def run(self, before, more, workers, batches, epochs, tool=()):
        """What the program says, and the seconds of processor time of all processes."""
        numbers = (workers, batches, self.options.batch, epochs)
        command = [*before, *tool, self.options.python, str(self.program), *map(str, numbers)]
        env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", **more}
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        came = subprocess.run(command, capture_output=True, text=True, env=env)
        if came.returncode:
            sys.exit("%s fails: %s" % (command, came.stderr[-800:]))
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        return json.loads(came.stdout), end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime

    def clear(self):
        for path in self.folder.glob("out-*/*"):
            path.unlink()

    def timed(self, workers, batches):
        """By way: medians of processor time and of time, µs a batch: the difference between many epochs and one."""
        ways, took = list(self.ways()), {}
        for number in range(self.options.rounds):
            for name, before, more in ways if number % 2 else ways[::-1]:
                _, one = self.run(before, more, workers, batches, 1)
                said, four = self.run(before, more, workers, batches, 4)
                took.setdefault(name, []).append(((four - one) / 3 / batches * 1e6, said["wall"] / batches * 1e6))
                self.clear()
        return {name: tuple(statistics.median(column) for column in zip(*rows)) for name, rows in took.items()}

    def counted(self, workers, batches):
        """By way: instructions a batch, of the program and its workers."""

        def of(way, epochs):
            name, before, more = way
            with tempfile.TemporaryDirectory() as outs:
                tool = ["valgrind", "--tool=callgrind", "-q", "--callgrind-out-file=%s/%%p" % outs]
                self.run(before, more, workers, batches, epochs, tool)
                sums = (re.search(r"^totals: (\d+)$", file.read_text(), re.MULTILINE) for file in pathlib.Path(outs).iterdir())
                return sum(int(found.group(1)) for found in sums)

        ways = list(self.ways())
        with concurrent.futures.ThreadPoolExecutor(2) as two:
            sums = list(two.map(lambda pair: of(*pair), [(way, epochs) for way in ways for epochs in (1, 2)]))
        return {way[0]: ((twice - once) / batches,) for way, once, twice in zip(ways, sums[::2], sums[1::2])}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--loadscope")
    parser.add_argument("--probe", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=0)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--workers", type=int, action="append")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("python")
    options = parser.parse_args()
    options.probes = {name: os.path.abspath(folder) for name, _, folder in (word.partition("=") for word in options.probe)}
    options.probes = options.probes or {"probe": str(ASSETS)}
    options.loadscope = options.loadscope and os.path.abspath(options.loadscope)
    for workers in options.workers or (0, 2):
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(options, folder)
            batches = options.batches or (1000 if options.instructions else 20_000 if workers == 0 else 4000)
            figures = bench.counted(workers, batches) if options.instructions else bench.timed(workers, batches)
        bare = figures["bare"]
        columns = ["instructions"] if options.instructions else ["µs of processor time", "µs"]
        for name, values in figures.items():
            parts = ["%.1f %s (%+.1f)" % (value, unit, value - zero) for value, unit, zero in zip(values, columns, bare)]
            print("%d workers, %d a batch, %s: %s" % (workers, options.batch, name, ", ".join(parts)), flush=True)


if __name__ == "__main__":
    main()
