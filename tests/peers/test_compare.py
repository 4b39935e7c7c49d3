"""Checks the pages of `compare.py` with invented figures. Needs no PyTorch."""

import argparse
import pathlib
import subprocess
import tempfile
import time

import compare
from compare import MIMALLOC, OURS, PYTORCH, RUST

COST = {"cost": 0.2, "batch": 1.5, "loading": 2.0, "recorded_loading": 2.25, "listening": 0.5, "batch_events": 8.0}


def measured(name, value):
    """Returns a work whose tasks have these figures."""
    work = next(one for one in compare.WORKS if one.name == name)
    work.differences = []
    for task in work.turns:
        turn = {"value": value(task), "sum": 1, "order": 2, **(COST if task[3] != "off" else {})}
        work.turns[task] = [{**turn, "round": number} for number in (1, 2, 3)]
    return work


def check(text, *lines):
    for line in lines:
        assert line in text, line + "\n" + text


def figures(task):
    program, _, workers, kind = task
    best = {(OURS, 1): 120.0, (PYTORCH, 0): 100.0, (RUST, 2): 240.0, (MIMALLOC, 2): 240.0}
    return best.get((program, workers), 10.0 if program == OURS else 1.0)


check(
    compare.page("", [measured("w1", figures)], 3),
    "| w1 | at least 1× PyTorch | 1.20× (1.20× – 1.20×) | met |",
    "| w1 | at least 1× dataloader-rs | 0.50× (0.50× – 0.50×); 0.50× with mimalloc there, too | **missed** |",
    "| w1 | event recording costs at most 5 %, 2 workers | 20.0 % (20.0 % – 20.0 %) | **missed** |",
    "| w1 | 2 | log | 20.0 % | 1.50 | 2.00 | 2.25 | 0.50 | 8.0 | 62 |",
)
# Only a missed goal has a reason.
work = measured("w1", lambda task: {OURS: 100.0, MIMALLOC: 110.0}.get(task[0], 1.0))
text = compare.page("", [work, measured("w1-copy", lambda task: 125.0)], 3)
check(
    text,
    "- **w1**, at least 1.1× dataloader-rs + mimalloc: that would be 121 /s. Copying alone, with no loader, reaches 125 /s. Loadscope "
    "reaches 100 /s, 80 % of it.",
    "- **w1**, event recording costs at most 5 %, 0 workers: a batch takes 1.50 µs, so that would be 0.08 µs. Its 8.0 events take the loader's "
    "threads 0.25 µs more (31 ns each) and the recorder 0.50 µs (62 ns each)",
)
assert "**w1**, at least 1× PyTorch:" not in text
text = compare.page("", [measured("w5-fresh", lambda task: 0.2 if task[0] == OURS else 2.0)], 3)
check(text, "| w5-fresh | at most 0.300 ms | 0.200 ms (0.200 ms – 0.200 ms) | met |")
assert "What recording needs" not in text

# Different work is reported.
work = measured("w1", lambda task: 1.0)
work.turns[PYTORCH, "w1", 2, "off"][0]["order"] = 3
work.turns[RUST, "w1", 0, "off"][0]["order"] = 3
work.turns[RUST, "w1", 1, "off"][0]["sum"] = 5
work.compare_work()
assert work.differences == ["PyTorch w1, 2 workers had another order.", "dataloader-rs w1, 1 workers loaded other samples."]

# A failed round is left out of the ratios. The other rounds stay pairs.
work = compare.Work("failing", "", ["failing"], workers=([0], [0], ["off"]), goals={PYTORCH: 1})
real_run, calls = compare.run, []


def run_but_one(task, options):
    calls.append(task[0])
    number = calls.count(task[0])
    if (task[0], number) == (PYTORCH, 2):
        raise subprocess.TimeoutExpired("python3", 600)
    return {"value": number * (3.0 if task[0] == OURS else 2.0), "sum": 1, "order": 2}


compare.run = run_but_one
compare.measure(work, argparse.Namespace(rounds=3))
compare.run = real_run
assert work.times(PYTORCH) == [1.5, 1.5], work.times(PYTORCH)
assert work.differences == ["PyTorch failing, 0 workers failed."]
work.turns[PYTORCH, "failing", 0, "off"].clear()
assert work.times(PYTORCH) == [] and work.median(PYTORCH) is None
check(compare.page("", [work], 3), "| failing | at least 1× PyTorch | – | **missed** |")

# A program that does not end counts as failed. Its child has the output open, so `run` returns only after the end of both.
with tempfile.TemporaryDirectory() as folder:
    program, began = pathlib.Path(folder, "program"), time.monotonic()
    program.write_text("#!/bin/sh\nsleep 600 &\nwait\n", encoding="utf-8")
    program.chmod(0o700)
    compare.MOST = 0.5
    work = compare.Work("hanging", "")
    compare.measure(work, argparse.Namespace(rounds=1, measure=str(program), libraries="", quick=True, data=""))
    assert work.differences == ["Loadscope hanging, 0 workers failed."] and not any(work.turns.values())
    assert time.monotonic() - began < 300

names = [work.name for work in compare.WORKS]
assert [name for name, work in zip(names, compare.WORKS) if work.is_called("w1")] == ["w1", "w1-copy", "w1-samples"]
assert not any(work.is_called("w") for work in compare.WORKS) and len(set(names)) == len(names)
for work in compare.WORKS:
    # A goal that the host limits has a comparison.
    if "least" in work.goals or MIMALLOC in work.goals:
        assert compare.PARTS[work.name][0] in names, work.name
assert [compare.WORKS[0].figure(value) for value in (81349.0, 2.46e6, 759.4)] == ["81.3 k/s", "2.46 M/s", "759 /s"]
