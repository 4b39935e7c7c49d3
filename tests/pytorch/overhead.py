"""What recording costs: the same program with and without Loadscope, in turn.

    python overhead.py --loadscope EXECUTABLE --data FOLDER [--rounds N] [--results FILE] PYTHON

FOLDER: what `tests/peers/make_data.py` made. Speeds move from minute to minute, so what counts is the ratio within a round; given are the
median of the rounds and the range of their middle half.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

PROGRAM = str(pathlib.Path(__file__).resolve().parent / "programs" / "speed.py")
# Name, workers, epochs, and what must hold.
WORKS = (
    ("pictures", 2, 3, "share", 2.0),
    ("steady", 2, 2, "share", 2.0),
    ("tiny", 2, 3, "sample", 1.0),
    ("tiny", 0, 3, "sample", 1.0),
)


def seconds(command, env=None):
    came = subprocess.run(command, capture_output=True, text=True, env=env)
    if came.returncode != 0:
        sys.exit("%s fails: %s" % (command, came.stderr[-500:]))
    return json.loads(came.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--loadscope", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--results")
    parser.add_argument("python")
    options = parser.parse_args()
    loadscope = os.path.abspath(options.loadscope)
    rows, fails = [], 0
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log.jsonl.zst")
        for name, workers, epochs, unit, most in WORKS:
            if options.only not in "%s-%d" % (name, workers):
                continue
            command = [options.python, PROGRAM, name, str(workers), str(epochs), options.data]
            extra, bare_times = [], []
            for number in range(options.rounds):
                turns = [("bare", command), ("recorded", [loadscope, "record", "-o", log, "--", *command])]
                took = {who: seconds(what) for who, what in (turns if number % 2 else turns[::-1])}
                bare, recorded = took["bare"]["seconds"], took["recorded"]["seconds"]
                bare_times.append(bare)
                if unit == "share":
                    extra.append((recorded / bare - 1) * 100)
                else:
                    extra.append((recorded - bare) / took["bare"]["samples"] * 1e6)
            middle = statistics.median(extra)
            spread = statistics.quantiles(extra, n=4) if len(extra) > 1 else [middle] * 3
            sign = " %" if unit == "share" else " µs a sample"
            text = "%.2f%s (%.2f to %.2f)" % (middle, sign, spread[0], spread[2])
            holds = middle <= most
            fails += not holds
            row = (name, str(workers), "%.2f s" % statistics.median(bare_times), text, "%g%s" % (most, sign), "yes" if holds else "NO")
            print(" | ".join(row), flush=True)
            rows.append(row)
    if options.results:
        head = "# What recording a PyTorch program costs\n\nWritten by `cargo xtask probe-overhead`, %d rounds.\n\n" % options.rounds
        head += "| work | workers | bare | recording adds | at most | holds |\n|---|---|---|---|---|---|\n"
        lines = ["| %s |" % " | ".join(row) for row in rows]
        pathlib.Path(options.results).write_text(head + "\n".join(lines) + "\n")
    return 1 if fails else 0


if __name__ == "__main__":
    sys.exit(main())
