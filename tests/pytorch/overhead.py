"""What recording costs: the same program with and without Loadscope, in turn.

    python overhead.py --loadscope EXECUTABLE --data FOLDER [--rounds N] [--only WORD] [--results FILE] PYTHON

FOLDER: what `tests/peers/make_data.py` made. Speeds move from minute to minute, so what counts is the ratio within a round; given are the
median of the rounds and the range of their middle half. Processor time is of the program with its workers, and then of the
recorder as well, which runs beside it: most of its own is that of its start, which is told apart. FILE keeps what it says of works that are not measured this time.
"""

import argparse
import json
import os
import pathlib
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
)
MEANS = "*pictures*: 800 JPEGs, each read, decoded and made 224 × 224, in batches of 32. *steady*: 1 ms for a sample. *tiny*: nothing to do for a sample."
COLUMNS = ["work", "workers", "rounds", "bare", "recording adds", "at most", "holds", "processor time, program", "and recorder", "its start", "probe"]


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
        turns = [("bare", command), ("recorded", [loadscope, "record", "-o", log, "--", *command])]
        took = {who: turn(what) for who, what in (turns if number % 2 else turns[::-1])}
        bare, recorded = took["bare"], took["recorded"]
        bare_times.append(bare["seconds"])
        for figure, values in extra.items():
            if unit == "share":
                values.append((recorded[figure] / bare[figure] - 1) * 100)
            else:
                # Processor time is of all epochs, also of the first, which is not timed.
                samples = bare["samples"] if figure == "seconds" else bare["all_samples"]
                values.append((recorded[figure] - bare[figure]) / samples * 1e6)
    return statistics.median(bare_times), extra


def said(values, unit):
    spread = statistics.quantiles(values, n=4)
    sign = " %" if unit == "share" else " µs a sample"
    return "%.2f%s (%.2f to %.2f)" % (statistics.median(values), sign, spread[0], spread[2])


def known(path):
    """Rows by work and number of workers."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return {tuple(row[:2]): row for row in rows[2:]} if rows and rows[0] == COLUMNS else {}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--loadscope", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="only works whose name, with the number of workers, has this in it")
    parser.add_argument("--results")
    parser.add_argument("python")
    options = parser.parse_args()
    loadscope = os.path.abspath(options.loadscope)
    probe = "%08x" % zlib.crc32(subprocess.run([loadscope, "probe"], capture_output=True).stdout)
    rows = known(pathlib.Path(options.results)) if options.results else {}
    fails = 0
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log.jsonl.zst")
        nothing = [options.python, "-c", "pass"]
        start = statistics.median(spent([loadscope, "record", "-o", log, "--", *nothing])[1] - spent(nothing)[1] for _ in range(5))
        for name, workers, epochs, unit, most in WORKS:
            if options.only not in "%s-%d" % (name, workers):
                continue
            command = [options.python, PROGRAM, name, str(workers), str(epochs), options.data]
            bare, extra = measured(loadscope, command, options.rounds, unit, log)
            holds = statistics.median(extra["seconds"]) <= most
            fails += not holds
            row = [name, str(workers), str(options.rounds), "%.2f s" % bare, said(extra["seconds"], unit)]
            row += ["%g%s" % (most, " %" if unit == "share" else " µs a sample"), "yes" if holds else "NO"]
            row += [said(extra["busy"], unit), said(extra["all"], unit), "%.2f s" % start, probe]
            print(" | ".join(row), flush=True)
            rows[name, str(workers)] = row
    if options.results:
        write(pathlib.Path(options.results), rows)
    return 1 if fails else 0


def write(path, rows):
    head = "# What recording a PyTorch program costs\n\nWritten by `cargo xtask probe-overhead`; each program ran with and without "
    head += "in turn.\n%s *probe*: its CRC-32.\n\n" % MEANS
    order = [(name, str(workers)) for name, workers, *_ in WORKS]
    lines = [COLUMNS, ["---"] * len(COLUMNS), *(rows[key] for key in order if key in rows)]
    path.write_text(head + "".join("| %s |\n" % " | ".join(line) for line in lines), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
