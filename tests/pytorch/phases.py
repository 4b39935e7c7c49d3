"""Compares the phases of the training step in reports with programs that measure themselves.

    python phases.py --loadscope EXECUTABLE [--programs N] [--results FILE] PYTHON

Each program trains a random network in one of several styles. It measures each phase with a clock, in hooks where a library calls the phase.
Loadscope samples it without a change to the program.
"""

import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

STYLES = ["plain", "closure", "checkpointing", "scaler", "custom", "helper"]
PHASES = ["copy", "forward", "backward", "optimizer", "other"]
PROGRAM = """
import contextlib, json, sys, time
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

clock = time.perf_counter
torch.manual_seed(0)
torch.set_num_threads(1)
device = torch.device("cpu")
times = dict.fromkeys(["copy", "forward", "backward", "optimizer", "other"], 0.0)

@contextlib.contextmanager
def timed(phase):
    start = clock()
    yield
    times[phase] += clock() - start

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear({width}, {width}) for _ in range({layers})])
        self.loss = nn.MSELoss()

    def forward(self, x):
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if {is_checkpointed} else layer(x)
            x = torch.relu(x)
        return x

class Plain(torch.optim.Optimizer):
    def __init__(self, parameters, lr):
        super().__init__(parameters, dict(lr=lr))

    def step(self, closure=None):
        for group in self.param_groups:
            for one in group["params"]:
                for _ in range({repeats}):
                    one.data.add_(one.grad, alpha=-group["lr"])

def move(x):
    return x.to(device, torch.float64)

def spin(seconds):
    end = clock() + seconds
    while clock() < end:
        pass

net = Net()
optimizer = {optimizer}
scaler = torch.amp.GradScaler("cpu")
rows = TensorDataset(torch.randn(2 * {batch}, {width}), torch.zeros(2 * {batch}, {extra}))

def work(x):
    with timed("forward"):
        out = net(x)
        loss = net.loss(out, x)
    spin({other})
    with timed("backward"):
        {backward}
    return loss

def train(x, extra):
    with timed("copy"):
        extra = {copy}
    {step}

loader = DataLoader(rows, batch_size={batch}, num_workers=1)
whole, end = 0.0, clock() + {seconds}
while clock() < end:
    for x, extra in loader:
        for _ in range(30):
            start = clock()
            train(x, extra)
            whole += clock() - start
# Code between the phases belongs to none.
times["other"] = whole - sum(times.values())
with open(sys.argv[1], "w") as file:
    json.dump(times, file)
"""
PLAIN = """with timed("optimizer"):
        optimizer.zero_grad()
    work(x)
    with timed("optimizer"):
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()"""
SCALED = """with timed("optimizer"):
        optimizer.zero_grad()
    work(x)
    with timed("optimizer"):
        scaler.step(optimizer)
        scaler.update()"""
CLOSURE = """closed = 0.0

    def closure():
        nonlocal closed
        start = clock()
        with timed("optimizer"):
            optimizer.zero_grad()
        loss = work(x)
        closed += clock() - start
        return loss

    start = clock()
    optimizer.step(closure)
    times["optimizer"] += clock() - start - closed"""


def generate(seed):
    """Returns the style and the text of a program."""
    rng = random.Random(seed)
    style = STYLES[seed % len(STYLES)]
    name = "Plain" if style == "custom" else "torch.optim." + rng.choice(["SGD", "Adam", "AdamW", "RMSprop"])
    text = PROGRAM
    fills = {
        "width": rng.choice([64, 128, 256, 512]),
        "layers": rng.randint(2, 8),
        "batch": rng.choice([16, 64, 128, 256]),
        "extra": rng.choice([100, 1000, 5000, 20000]),
        "repeats": rng.choice([1, 5, 20]),
        "other": rng.choice([0.0, 0.001, 0.005]),
        "is_checkpointed": style == "checkpointing",
        "optimizer": "%s(net.parameters(), lr=1e-4)" % name,
        "backward": "scaler.scale(loss).backward()" if style == "scaler" else "loss.backward()",
        "copy": "move(extra)" if style == "helper" else "extra.to(device, torch.float64)",
        "step": {"scaler": SCALED, "closure": CLOSURE}.get(style, PLAIN),
        "seconds": 8,
    }
    for key, value in fills.items():
        text = text.replace("{%s}" % key, str(value))
    return style, text


def shares(times):
    whole = sum(times.values()) or 1
    return {phase: times[phase] / whole for phase in PHASES}


def compared(options, folder, program):
    """Returns the measured and the reported share of each phase, the margins, and the number of samples."""
    log, times = folder / "run.jsonl", folder / "times"
    command = [options.loadscope, "record", "--force", "-o", log, "--", options.python, program, times]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
    report = subprocess.run([options.loadscope, "report", "--json", log], check=True, capture_output=True, timeout=300)
    found = json.loads(report.stdout)["step_phases"]
    if found is None:
        raise SystemExit("no phases in the report of %s" % program.read_text())
    measured = shares(json.loads(times.read_text()))
    return measured, {one["phase"]: one["share"] for one in found}, {one["phase"]: one["margin"] for one in found}, sum(one["samples"] for one in found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loadscope", required=True)
    parser.add_argument("--programs", type=int, default=60)
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("python", nargs="?", default=sys.executable)
    options = parser.parse_args()
    rows = []
    for seed in range(options.programs):
        style, text = generate(seed)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            program = folder / "program.py"
            program.write_text(text)
            measured, found, margins, samples = compared(options, folder, program)
        rows.append((style, measured, found, margins, samples))
        cells = ["%s %.0f %.0f" % (phase, 100 * measured[phase], 100 * found[phase]) for phase in PHASES]
        print(seed, style, samples, *cells, flush=True)
    table = results(rows)
    print(table)
    if options.results:
        options.results.write_text(table)


def results(rows):
    lines = [
        "# Phases of the training step compared with the clock\n",
        "Written by `cargo xtask phases`. %d programs with random networks measure the phases of their steps. The error is the difference" % len(rows),
        "between the share of samples and the share of the measured time. *in the interval*: phases whose measured share is in the 95 % interval",
        "of the report.\n",
        "| style | programs | error, median | error, 90th percentile | error, largest | in the interval | samples, median |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for style in [*STYLES, "all"]:
        own = [row for row in rows if style in (row[0], "all")]
        if not own:
            continue
        errors = sorted(100 * abs(row[1][phase] - row[2][phase]) for row in own for phase in PHASES)
        inside = sum(abs(row[1][phase] - row[2][phase]) <= row[3][phase] for row in own for phase in PHASES)
        points = statistics.median(errors), errors[int(0.9 * (len(errors) - 1))], errors[-1]
        cells = [style, len(own), *("%.1f points" % one for one in points), "%d of %d" % (inside, len(errors)), int(statistics.median(row[4] for row in own))]
        lines.append("| %s |" % " | ".join(map(str, cells)))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
