"""Compares the lines of code of a report with the time that programs measure themselves, and with py-spy.

    python lines.py --loadscope EXECUTABLE [--py-spy EXECUTABLE] [--programs N] [--results FILE] PYTHON

Each program has functions that spin, sleep, decompress, parse, sort or read, with random times. It measures each call with a clock. The
first function of the report must be the slowest one, or one that took at most 3 points less. Its share must be within 3 points.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

# Body of a function, by kind. `{ms}` is its time.
KINDS = {
    "spin": "while clock() < end:\n        pass",
    "sleep": "time.sleep({ms} / 1000)",
    "decompress": "while clock() < end:\n        zlib.decompress(PACKED)",
    "parse": "while clock() < end:\n        json.loads(TEXT)",
    "sort": "while clock() < end:\n        numpy.sort(NUMBERS)",
    "read": "while clock() < end:\n        open(__file__, 'rb').read()",
}
PROGRAM = """
import json, os, sys, time, zlib
import numpy, torch
from torch.utils.data import DataLoader, Dataset

clock = time.perf_counter
PACKED = zlib.compress(os.urandom(300_000) + bytes(3_000_000))
TEXT = json.dumps(list(range(3000)))
NUMBERS = numpy.random.default_rng(0).random(30_000)

{functions}

class Samples(Dataset):
    def __len__(self):
        return {samples}

    def __getitem__(self, index):
        times = []
        {calls}
        with open(sys.argv[1], "a") as file:
            file.write(json.dumps(times) + "\\n")
        return torch.zeros(3)

if __name__ == "__main__":
    for _ in DataLoader(Samples(), batch_size=4, num_workers={workers}):
        pass
"""


def generate(seed):
    """Returns the text of a program."""
    rng = random.Random(seed)
    kinds = [rng.choice(list(KINDS)) for _ in range(rng.randint(3, 5))]
    times = sorted((rng.uniform(1, 12) for _ in kinds), reverse=True)
    # The slowest function is distinct: the order of nearly equal ones is no fact.
    times[0] = max(times[0], 1.3 * times[1])
    functions, calls = [], []
    for at, (kind, ms) in enumerate(zip(kinds, times)):
        body = KINDS[kind].replace("{ms}", "%.3f" % ms)
        functions.append("def %s_%d():\n    end = clock() + %.6f\n    %s" % (kind, at, ms / 1000, body))
        calls.append("start = clock(); %s_%d(); times.append(clock() - start)" % (kind, at))
    rng.shuffle(calls)
    names = [re.search(r"(\w+_\d+)\(\)", call).group(1) for call in calls]
    workers = rng.choice([0, 1, 2, 2])
    samples = int(6500 * max(1, workers) / sum(times) / max(1, workers))
    text = PROGRAM.format(functions="\n\n".join(functions), calls="\n        ".join(calls), samples=samples, workers=workers)
    return text, names, workers


def truth(path, names):
    """Returns the time of each function, s."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return {name: sum(row[at] for row in rows) for at, name in enumerate(names)}


def shares(times):
    whole = sum(times.values()) or 1
    return {name: time / whole for name, time in times.items()}


def reported(options, folder, program, names):
    """Returns the measured time and the number of samples of each function."""
    log, times = folder / "run.jsonl", folder / "times"
    times.write_text("")
    command = [options.loadscope, "record", "--force", "-o", log, "--", options.python, program, times]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
    report = subprocess.run([options.loadscope, "report", "--json", log], check=True, capture_output=True, timeout=300)
    found = collections.Counter()
    for section in json.loads(report.stdout)["code"]:
        if section["activity"] == "fetching":
            for line in section["lines"]:
                found[line["function"].rsplit(".")[-1]] += line["samples"]
    return truth(times, names), {name: found[name] for name in names}


def spied(options, folder, program, names):
    """Returns the measured time and py-spy's number of samples of each function."""
    times, raw = folder / "times", folder / "raw"
    times.write_text("")
    command = [options.py_spy, "record", "--nonblocking", "--subprocesses", "-r", "100", "-f", "raw", "-o", raw, "--"]
    subprocess.run([*command, options.python, program, times], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
    found = collections.Counter()
    for line in raw.read_text().splitlines():
        stack, _, count = line.rpartition(" ")
        functions = [frame.split(" ")[0] for frame in stack.split(";")]
        for name in names:
            found[name] += int(count) * (name in functions)
    return truth(times, names), {name: found[name] for name in names}


def judged(measured, found):
    """Returns whether the first function is right, the error of its share in points, and the number of samples."""
    wanted, got = shares(measured), shares(found)
    first = max(wanted, key=wanted.get)
    is_right = wanted[first] - wanted[max(got, key=got.get)] <= 0.03
    return is_right, 100 * abs(got[first] - wanted[first]), sum(found.values()), first


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loadscope", required=True)
    parser.add_argument("--py-spy")
    parser.add_argument("--programs", type=int, default=60)
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("python", nargs="?", default=sys.executable)
    options = parser.parse_args()
    rows, bad = [], 0
    for seed in range(options.programs):
        text, names, workers = generate(seed)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            program = folder / "program.py"
            program.write_text(text)
            row = judged(*reported(options, folder, program, names))
            other = judged(*spied(options, folder, program, names)) if options.py_spy else None
        rows.append((seed, workers, row, other))
        bad += not row[0]
        print(seed, workers, row, other, flush=True)
    table = results(rows, options.py_spy)
    print(table)
    if options.results:
        options.results.write_text(table)
    return 1 if bad else 0


def summary(judgments):
    errors = sorted(error for _, error, _, _ in judgments)
    right = sum(is_right for is_right, _, _, _ in judgments)
    samples = sorted(samples for _, _, samples, _ in judgments)
    middle = len(errors) // 2
    return right, errors[middle], errors[-1], sum(error <= 3 for error in errors), samples[0], samples[middle]


def results(rows, has_spy):
    ways = [("Loadscope", [row[2] for row in rows])]
    if has_spy:
        ways.append(("py-spy, non-blocking", [row[3] for row in rows]))
    lines = [
        "# Lines of code compared with the clock\n",
        "Written by `cargo xtask lines`. %d programs with functions that spin, sleep, decompress, parse, sort or read measure themselves." % len(rows),
        "The error is the difference between the share of samples and the share of the measured time, of the slowest function.\n",
        "| sampler | first function right | error, median | error, largest | within 3 points | samples, least | samples, median |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, judgments in ways:
        right, middle, most, near, least, usual = summary(judgments)
        cells = "%d of %d" % (right, len(rows)), "%.1f points" % middle, "%.1f points" % most, "%d of %d" % (near, len(rows)), least, usual
        lines.append("| %s | %s |" % (name, " | ".join(map(str, cells))))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
