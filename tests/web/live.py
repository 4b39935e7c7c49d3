"""Programs that run with a page open: what the page misses of them, how far it is behind, and what it costs them."""

import contextlib
import json
import os
import re
import subprocess
import time
from statistics import median

from browser import Browser
from remote import Ignorant, Server

# From a batch that the program gets to the page that shows it, ms, at most.
BEHIND = 250.0
# So often a program runs without a viewer that reads nothing, and with one.
PAIRS = 11

PROGRAM = """
import time
import torch
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 800

    def __getitem__(self, index):
        time.sleep(0.01)
        return torch.full((3,), float(index)), index % 2

times = []
for epoch in range(2):
    for x, y in DataLoader(Slow(), batch_size=8, num_workers=2):
        times.append(time.time())
        time.sleep(0.005)
print("batches", len(times))
print("times", times, flush=True)
"""

# Waits for a line, then yields as fast as it can.
FAST = """
import sys
import time
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.arange(320_000)), batch_size=8)
sys.stdin.readline()
began = time.perf_counter()
for batch in loader:
    pass
print("took", time.perf_counter() - began, flush=True)
"""


def live(attempt, python):
    """A real program with the page open: no batch is missing against its own count, and none is late."""
    program = attempt.folder / "train.py"
    program.write_text(PROGRAM)
    for command, more in (("record", ["-o", "live.jsonl.zst"]), ("watch", [])):
        count = followed(attempt, "%s --web" % command, [command, *more], python, program, {})
        if command == "record":
            said = json.loads(attempt.loadscope("info", "live.jsonl.zst", "--json").splitlines()[0])
            assert str(count) in json.dumps(said), said
    server = Server.start(attempt.folder)
    if server is None:
        attempt.row("record --ssh HOST --web", "NOT RUN: there is no sshd")
        return
    with server:
        command = ["record", "--ssh", "gpu7:%s" % attempt.folder, "-o", "far.jsonl.zst"]
        followed(attempt, "record --ssh HOST --web", command, python, program, {"LOADSCOPE_SSH": server.ssh})


def followed(attempt, name, command, python, program, variables):
    """Runs the program and looks at the page all the time. Returns the number of batches that the program counts."""
    running = subprocess.Popen(
        [attempt.binary, *command, "--web", "--port", "0", "--", python, str(program)],
        cwd=attempt.folder, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    link = None
    while link is None:
        line = running.stderr.readline()
        assert line, "no link is printed"
        link = re.search(r"http://\S+", line)
    seen = []
    with Browser(1100, 700) as browser:
        browser.open(link.group(0))
        browser.until(lambda screen: screen.state["source"] == "live" and screen.state["batches_of_all"] > 5, "live", 60)
        attempt.picture(browser, "live " + name)
        ended = time.monotonic() + 120
        while running.poll() is None:
            screen = browser.read()
            seen.append((screen.state["at"], screen.state["yielded"]))
            assert time.monotonic() < ended, "the program does not end"
            time.sleep(0.1)
        out, said = running.stdout.read(), running.stderr.read()
        screen = browser.until(lambda screen: screen.state["source"] == "finished", "the end", 60)
    assert running.returncode == 0, (running.returncode, out)
    again = re.search(r"run `loadscope view (.+)`", said)
    file = command[command.index("-o") + 1] if "-o" in command else ""
    assert again and again.group(1).endswith(file), said
    count = int(re.search(r"batches (\d+)", out).group(1))
    got = screen.state["batches_of_all"]
    attempt.row("%s: batches of the program, of the page" % name, "%d, %d" % (count, got), count == got)
    late = [1e3 * lateness(json.loads(re.search(r"times (.*)", out).group(1)), at, yielded) for at, yielded in seen]
    said = "median %.0f ms, longest %.0f ms, of %d looks" % (sorted(late)[len(late) // 2], max(late), len(late))
    attempt.timed("%s: the page behind the program" % name, said, max(late) <= BEHIND)
    return count


def ignored(attempt, python):
    """A viewer that connects and reads nothing does not slow the program down."""
    program = attempt.folder / "fast.py"
    program.write_text(FAST)
    # A host is now and then slower for a second, and then for both of a pair.
    count = PAIRS if attempt.judges_times else 1
    pairs = [[alone_or_ignored(attempt, python, program, is_there) for is_there in (False, True)] for _ in range(count)]
    share = median(beside / without for without, beside in pairs)
    without, beside = (median(pair[at] for pair in pairs) for at in (0, 1))
    said = "%.2f s, %.2f s without one: %.2f of it (medians of %d pairs)" % (beside, without, share, count)
    attempt.timed("a program beside a viewer that reads nothing", said, share <= 1.05)


def alone_or_ignored(attempt, python, program, is_there):
    running = subprocess.Popen(
        [attempt.binary, "record", "-o", "fast.jsonl.zst", "--force", "--web", "--port", "0", "--", python, str(program)],
        cwd=attempt.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    link = None
    while link is None:
        line = running.stderr.readline()
        assert line, "no link is printed"
        link = re.search(r"http://localhost:(\d+)/(\w+)/", line)
    viewer = Ignorant(int(link.group(1)), link.group(2)) if is_there else contextlib.nullcontext()
    with viewer:
        # The program waits for this line, so that the viewer does not come too late.
        out, _ = running.communicate("\n", timeout=240)
    assert running.returncode == 0, out
    return float(re.search(r"took ([\d.]+)", out).group(1))


def lateness(times, at, yielded):
    """How far a page was behind, seconds, that showed so many batches at this time, when the program got them at these."""
    missing = [time for time in times[yielded:] if time < at]
    return at - missing[0] if missing else 0.0
