#!/usr/bin/env python3
"""Holds the engine against the real PyTorch on programs that no one wrote: drawn by seed, run by both, made smaller where they differ.

    python differential.py --cases 100000 --first 1 --engine PARITY_TEST --results RESULTS.md

    python differential.py --cases 0 --engine PARITY_TEST --add PART.md ... --results RESULTS.md

The second adds up what several processes, or one after another, have tried. `--engine` is the executable of the test `parity` of loadscope-engine; `cargo xtask differential` builds it and calls this.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import warnings

import torch

from cases import drawn, programs, simpler, stateful
from cases.record import Cases

AT_ONCE = 500  # programs in a file
NEW_PROCESSES = 25  # one program of so many has worker processes of its own, as it would have outside of this
MOST_SHRUNK = 10  # differences that are made smaller


def judged(engine, told):
    """Which of these programs the engine answers differently: {position: how}."""
    cases = Cases("programs", programs.NOTES)
    for program, said in told:
        cases.add("program", program, **said)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "programs.json").write_text(cases.to_text(), encoding="utf-8")
        failures = folder / "failures.jsonl"
        environment = {**os.environ, "LOADSCOPE_REFERENCE": str(folder), "LOADSCOPE_DIFFERENCES": str(failures)}
        ran = subprocess.run([engine, "parity_with_pytorch"], env=environment, capture_output=True, text=True, timeout=600, check=False)
        lines = failures.read_text(encoding="utf-8").splitlines() if failures.exists() else None
    if lines is None:
        sys.exit(f"The engine gave no verdict:\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")
    found = [json.loads(line) for line in lines]
    return {int(one["id"].split("-")[1]) - 1: one for one in found}


def answer(program):
    """What PyTorch does."""
    return programs.answer(program, reuse=program["seed"] % NEW_PROCESSES != 0)


def shrunk(engine, program):
    """The smallest program found that still differs, what PyTorch does with it, and what the engine does."""
    told, how = (program, programs.answer(program)), None
    while True:
        steps = [(step, answer(step)) for step in simpler.smaller(told[0])]
        differing = judged(engine, [told, *steps])
        how = differing.get(0, how)
        smaller = [position for position in sorted(differing) if position > 0]
        if not smaller:
            return (*told, how)
        told = steps[smaller[0] - 1]


LOST = "a conjugate of a loader without batches, which PyTorch's workers send without what makes it one"


def reason(program):
    """Why PyTorch and the engine differ where PyTorch is wrong; `None`: they may not differ."""
    has_workers = program["args"]["num_workers"] or any(point.get("workers") for point in program.get("resume", []))
    is_lazy = '"conjugate"' in json.dumps(program["dataset"].get("samples", ""))
    is_single = program["args"].get("batch_size", 1) is None and "batch_sampler" not in program
    return LOST if has_workers and is_lazy and is_single else None


def kinds(program):
    """What a program is of, for the table."""
    dataset, args = program["dataset"], program["args"]
    yield "iterable-style" if dataset["kind"] != "map" else "map-style"
    yield f"{args['num_workers']} workers"
    for name in ("concat", "subset"):
        if name in dataset:
            yield name
    for name in ("sampler", "batch_sampler"):
        if name in program:
            yield f"{name} {program[name]['name']}"
    for name in ("shuffle", "drop_last", "persistent_workers", "prefetch_factor"):
        if name in args:
            yield name
    if dataset["fails"] is not None:
        yield "a sample that raises"
    if any(stop is not None for stop in program["stops"]):
        yield "stopped early"
    yield from more_kinds(program)


def more_kinds(program):
    dataset, args, points = program["dataset"], program["args"], program.get("resume", [])
    for name, kind in (("tree", "datasets in datasets"), ("chain", "chain"), ("length", "a stream with a length"), ("samples", "default_collate")):
        if name in dataset:
            yield kind
    if "complex" in json.dumps(dataset.get("samples", "")):
        yield "complex numbers"
    for name in ("timeout", "in_order", "multiprocessing_context"):
        if name in args:
            yield name
    if "init" in program:
        yield "worker_init_fn"
    if points:
        yield "resume"
    if len(points) > 1:
        yield "resume more than once"
    if any(point["after"] is None for point in points):
        yield "resume between two epochs"
    if any("workers" in point for point in points):
        yield "resume with more or fewer workers"


NOTE = f"""# Random programs in PyTorch and in the engine

Written by `cargo xtask differential`. PyTorch and the engine run random programs: a dataset, its wrappers, a sampler, a loader, some epochs,
samples that raise, epochs that end early. Batches, workers, base seeds, exceptions, lengths and the final states of the generators must be
equal.

From seed {drawn.MORE} on, programs also contain nested datasets, iterable-style datasets with a length, `worker_init_fn`, `timeout`, `in_order`, and
samples of every form and dtype for `default_collate`, with the last line of its error. *resume*: the engine saves the loader as text after
some batches (none, all, between two epochs, several times), creates everything again with other seeds, loads the text and continues. The
result must equal PyTorch's uninterrupted run, also in the generators. If the number of workers changes, one PyTorch loader starts the epoch
and another one ends it with the same generators.

Not compared:

- `in_order=False` with several workers, and weights without replacement. Their order depends on the host.
- `set`s among other samples, which the engine does not examine.
- Other numbers of persistent workers after the first epoch, which would keep their seed.
- Persistent workers whose `worker_init_fn` failed, which new workers would call again.
- With *resume*, warnings about the length of an iterable-style dataset if batches can be exceptions, because a state does not contain them.

One program of {NEW_PROCESSES} has worker processes of its own. In the others PyTorch's `_worker_loop` runs in reused processes.

If torchdata is installed, StatefulDataLoader runs one resumed program of ten. It is not a reference. It differed from uninterrupted PyTorch in
these cases: its `shuffle` draws differently from the first epoch on, a state saved at the end of an epoch starts the next one, it keeps no
generators (base seeds, an unstarted order), and it handles some exceptions differently (`worker_init_fn`, iterable-style samples).
"""


# As `table` writes it.
HEAD = re.compile(r"(\d+) programs, seeds (.+), PyTorch (\S+): (\d+) answered alike, (\d+) not(?:, (\d+) for a reason below)?\. PyTorch refused (\d+) of them\.")


class Tried:
    """What was tried: of which seeds, how many differed, how many PyTorch refused, and how many there were of each kind."""

    def __init__(self):
        self.seeds, self.differing, self.listed, self.refused, self.counts = [], 0, 0, 0, collections.Counter()

    def add(self, path):
        """Counts what another run has written with this one."""
        text = path.read_text(encoding="utf-8")
        head = HEAD.search(text) or sys.exit(f"{path} is no table of this program")
        done, seeds, version, _, differing, listed, refused = head.groups()
        if version != torch.__version__:
            sys.exit(f"{path} is of PyTorch {version}, and this is {torch.__version__}")
        parts = [tuple(map(int, part.split(" to "))) for part in seeds.split(", ")]
        if sum(last - first + 1 for first, last in parts) != int(done):
            sys.exit(f"{path}: its seeds are not as many as its programs")
        for first, last in parts:
            self.take(first, last)
        self.differing += int(differing)
        self.listed += int(listed or 0)
        self.refused += int(refused)
        self.counts.update({kind: int(count) for kind, count in re.findall(r"^\| (.+) \| (\d+) \|$", text, re.M)})

    def take(self, first, last):
        """Seeds that were not tried before."""
        for a, b in self.seeds:
            if first <= b and a <= last:
                sys.exit(f"the seeds {first} to {last} were tried already")
        joined = []
        for part in sorted([*self.seeds, (first, last)]):
            if joined and joined[-1][1] + 1 == part[0]:
                joined[-1] = (joined[-1][0], part[1])
            else:
                joined.append(part)
        self.seeds = joined

    def done(self):
        return sum(last - first + 1 for first, last in self.seeds)

    def table(self):
        seeds = ", ".join(f"{first} to {last}" for first, last in self.seeds)
        alike = self.done() - self.differing - self.listed
        listed = f", {self.listed} for a reason below" if self.listed else ""
        lines = [f"{self.done()} programs, seeds {seeds}, PyTorch {torch.__version__}: {alike} answered alike, "
                 f"{self.differing} not{listed}. PyTorch refused {self.refused} of them.", "", "| programs with | how many |", "|---|---|"]
        return lines + [f"| {kind} | {count} |" for kind, count in sorted(self.counts.items())]


def write(path, lines):
    """The file of results, if one is wanted."""
    if path:
        path.write_text(NOTE + "\n" + "\n".join(lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--engine", required=True)
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--add", type=pathlib.Path, nargs="*", default=[], help="results of other seeds, counted with these")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    began, differing, tried = time.monotonic(), [], Tried()
    for path in arguments.add:
        tried.add(path)
    end = arguments.first + arguments.cases
    for first in range(arguments.first, end, AT_ONCE):
        seeds = range(first, min(first + AT_ONCE, end))
        told = [(program, answer(program)) for program in map(drawn.drawn, seeds)]
        found = judged(arguments.engine, told)
        listed = [why for why in (reason(told[position][0]) for position in found) if why]
        found = {position: how for position, how in found.items() if not reason(told[position][0])}
        tried.listed += len(listed)
        tried.counts.update(f"differs: {why}" for why in listed)
        tried.take(seeds[0], seeds[-1])
        tried.refused += sum("error" in said for _, said in told)
        tried.differing += len(found)
        for program, said in told:
            tried.counts.update(kinds(program))
            if stateful.is_asked(program, said):
                tried.counts[stateful.compared(program, said)] += 1
        differing += [(seeds[position], told[position][0]) for position in sorted(found)]
        done = seeds[-1] - arguments.first + 1
        if found:
            print("differ: seeds " + ", ".join(str(seeds[position]) for position in sorted(found)), flush=True)
        print(f"{done} of {arguments.cases} programs, {len(differing)} differ, {time.monotonic() - began:.0f} s", flush=True)
        # Written each time: it takes hours, and may be stopped.
        write(arguments.results, tried.table())
    lines = tried.table()
    for seed, program in differing[:MOST_SHRUNK]:
        smallest, said, how = shrunk(arguments.engine, program)
        lines += ["", f"Seed {seed}, made smaller:", "", "```", json.dumps(smallest), f"PyTorch: {json.dumps(said)[:600]}",
                  f"engine:  {(how or {}).get('actual', '?')[:600]}", "```"]
    print("\n".join(lines))
    write(arguments.results, lines)
    return min(1, tried.differing)


if __name__ == "__main__":
    sys.exit(main())
