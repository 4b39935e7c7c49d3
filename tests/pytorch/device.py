"""Compares the idle time of a device in a report with the answer of a simulated device.

    python device.py --loadscope EXECUTABLE [--programs N] [--results FILE] PYTHON

Each program trains with random times of loading, of the host's part of a step, and of the work that it launches on the device.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
# Times per batch in ms: of one sample, of the host in a step, of the work on the device, and steps between two synchronizations.
KINDS = {
    "bound by the loader": dict(sample=(8, 25), host=(0, 3), work=(2, 10), every=0),
    "bound by the device": dict(sample=(1, 6), host=(0, 2), work=(25, 60), every=0),
    "bound by launches": dict(sample=(1, 8), host=(15, 40), work=(2, 10), every=0),
    "as long as each other": dict(sample=(8, 12), host=(1, 5), work=(8, 14), every=0),
    "synchronized": dict(sample=(3, 15), host=(0, 5), work=(5, 25), every=(1, 8)),
    "several streams": dict(sample=(3, 15), host=(0, 5), work=(5, 25), every=0),
}
PROGRAM = """
import json, sys, time
sys.path.insert(0, {here!r})
import torch
from torch.utils.data import DataLoader, Dataset
import simulated_device as device

class Samples(Dataset):
    def __len__(self):
        return {batches} * {size}
    def __getitem__(self, index):
        time.sleep({sample})
        return torch.zeros(8)

def step(number):
    end = time.perf_counter() + {host}
    if {streams}:
        device.launch({work} / 4, COPIES)
        device.wait_for_stream(device.MAIN, COPIES)
    for _ in range(4):
        device.launch({work} / 4)
    while time.perf_counter() < end:
        pass
    if {every} and number % {every} == 0:
        torch.cuda.synchronize()

if __name__ == "__main__":
    device.install()
    COPIES = device.Stream()
    waits = []
    batches = iter(DataLoader(Samples(), {size}, num_workers={workers}))
    for number in range({batches}):
        start = time.perf_counter()
        next(batches)
        waits.append((start, time.perf_counter()))
        step(number)
    time.sleep(1)
    # The last step begins after the last wait.
    next(batches, None)
    idle = sum(device.idle_within(*wait) for wait in waits)
    waited = sum(end - start for start, end in waits)
    with open(sys.argv[1], "w") as file:
        json.dump(dict(idle=idle, waited=waited, waits=len(waits), probe=device.waits_of_probe), file)
"""


def generate(seed):
    """Returns the kind and the text of a program."""
    rng = random.Random(seed)
    kind = list(KINDS)[seed % len(KINDS)]
    times = {name: rng.uniform(*limits) / 1000 if limits else 0 for name, limits in KINDS[kind].items()}
    every = int(times.pop("every") * 1000)
    given = dict(here=str(HERE), batches=rng.randint(80, 120), size=rng.randint(1, 3), workers=rng.randint(0, 2))
    return kind, PROGRAM.format(every=every, streams=kind == "several streams", **times, **given)


def check(seed, options, folder):
    """Returns the kind of a program, the times of the simulation and of the report, and the number of waits of the probe."""
    kind, text = generate(seed)
    program, answer, log = folder / "train.py", folder / "answer.json", folder / "run.jsonl"
    program.write_text(text)
    record = [options.loadscope, "record", "--force", "-o", log, "--", options.python, program, answer]
    subprocess.run(record, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    report = subprocess.run([options.loadscope, "report", log, "--json"], check=True, stdout=subprocess.PIPE)
    true = json.loads(answer.read_text())
    return kind, true, json.loads(report.stdout)["device"] or dict(idle_seconds=0, waited_seconds=0, hidden_seconds=0)


def is_wrong(true, got):
    """Returns true if the error is more than 2 % of the waits and 0.3 ms per wait, or if the probe waited for the device."""
    error = abs(got["idle_seconds"] - true["idle"])
    return error > max(0.02 * true["waited"], 0.0003 * true["waits"]) or true["probe"] > 0


def page(rows, took, options):
    lines = ["# Idle time of a simulated device", ""]
    lines += ["Written by `cargo xtask device`. Each program has random times, and knows when its simulated device had no work (`device.py`)."]
    lines += ["*Idle*: time in which the device had no work because the program waited for a batch. *Waited*: all waits for batches."]
    lines += ["No program ran on a real device.", ""]
    wrong, waits = sum(is_wrong(true, got) for _, true, got in rows), sum(true["probe"] for _, true, _ in rows)
    lines += ["- programs: %d, with an error above 2 %% of the waits and 0.3 ms per wait: %d" % (len(rows), wrong)]
    lines += ["- waits of the probe for the device: %d" % waits]
    lines += ["- time of the probe per measured wait, without the cost of the events of CUDA: %.1f µs" % took, ""]
    lines += ["| programs | waited s | idle s | in the report | difference, % of waited |", "|---|---|---|---|---|"]
    for kind, true, got in rows:
        error = (got["idle_seconds"] - true["idle"]) / max(true["waited"], 1e-9)
        lines += ["| %s | %.2f | %.2f | %.2f | %+.1f |" % (kind, true["waited"], true["idle"], got["idle_seconds"], 100 * error)]
    return "\n".join(lines) + "\n"


def cost(options, folder):
    """Returns the microseconds of the probe per wait, with events that cost nothing."""
    text = """
import sys, time
sys.path.insert(0, {here!r})
import torch, simulated_device as device
import loadscope_probe as probe
device.install()
class State:
    number = epoch = 0
    device = None
state, times = State(), []
for number in range(20000):
    start = time.perf_counter()
    probe.begin_wait(state, 0)
    probe.end_wait(state, 1000, number)
    times.append(time.perf_counter() - start)
times.sort()
print(times[len(times) // 2] * 1e6)
"""
    program = folder / "cost.py"
    program.write_text(text.format(here=str(HERE)))
    variables = dict(os.environ, PYTHONPATH=str(HERE.parent.parent / "assets" / "probe"))
    found = subprocess.run([options.python, program], env=variables, check=True, stdout=subprocess.PIPE, timeout=120)
    return float(found.stdout.split()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loadscope", required=True, type=os.path.abspath)
    parser.add_argument("--programs", type=int, default=60)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("python", nargs="?", default=sys.executable)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for seed in range(options.first, options.first + options.programs):
            rows.append(check(seed, options, folder))
            print(seed, *rows[-1], flush=True)
        text = page(rows, cost(options, folder), options)
    print(text)
    if options.results:
        options.results.write_text(text)
    return 1 if any(is_wrong(true, got) for _, true, got in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
