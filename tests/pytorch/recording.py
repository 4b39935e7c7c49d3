"""What the checks of this folder share: running programs, and reading what was recorded of them."""

import collections
import json
import os
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent / "programs"
# Seconds that a program has. Where workers are started anew, each imports PyTorch, which takes 10 s on a busy host.
LIMIT = 3600


class Wrong(Exception):
    """A sentence about what does not hold."""


class Missing(Exception):
    """What is not at hand, so that something was not tried."""


def must(holds, text):
    if not holds:
        raise Wrong(text)


def run(command, limit=LIMIT, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=limit, **more)


def steady(text):
    """Output without what differs from run to run by itself."""
    # Whether a batch was held or just arrived decides which line of PyTorch's yields it.
    text = re.sub(r'(dataloader\.py", line )\d+', r"\1…", text)
    text = re.sub(r"pid\(?s?\)? ?\(?[\d, ]+\)?|0x[0-9a-f]+|/mp-\w+|\(pid \d+\)", "…", text)
    lines = [line for line in text.splitlines() if not line.startswith("loadscope: ")]
    # A warning of multiprocessing's that comes or does not come with the moment at which a worker ends.
    return [line for line in lines if "resource_tracker" not in line and "warnings.warn" not in line]


class Recording:
    """What a recording says, by loader."""

    def __init__(self, path):
        self.runs = collections.OrderedDict()
        self.dropped = self.troubles = 0
        self.cut = False
        self.last = 0
        lines = pathlib.Path(path).read_bytes().split(b"\n")
        for number, line in enumerate(lines[1:]):
            if not line:
                continue
            try:
                event = json.loads(line)
            except ValueError:
                must(number == len(lines) - 2, "line %d is damaged" % number)
                self.cut = True
                continue
            self.last = max(self.last, event["t"])
            run = self.runs.setdefault(event.get("run", 0), [])
            run.append(event)
            self.dropped += event["count"] if event["e"] == "dropped" else 0
            self.troubles += event["e"] == "message" and "probe could not" in event["text"]

    def info(self, run):
        return next(event["info"] for event in self.runs[run] if event["e"] == "run_started")

    def messages(self, level):
        return [e["text"] for run in self.runs.values() for e in run if e["e"] == "message" and e["level"] == level]

    def whole(self):
        must(not self.cut, "the recording is cut")
        must(self.dropped == 0, "%d records were lost" % self.dropped)
        must(self.troubles == 0, "the probe had troubles: %s" % self.messages("warning"))


def recorded(loadscope, log, command, *options, **more):
    """Runs the command under the recorder. A recording of an earlier run is removed, since none is replaced unasked."""
    if os.path.isfile(log):
        os.remove(log)
    return run([loadscope, "record", "-o", log, *options, "--", *command], **more)


def check_joined(events, name):
    """Every fetch that a worker did is in the life of a batch, in the right order. Answers batches and samples."""
    order = ["queued", "fetching", "collating", "returning", "pinning", "held", "ready", "training"]
    life = collections.defaultdict(lambda: ["queued"])
    fetched = {}
    for event in events:
        key = (event.get("epoch"), event.get("batch"))
        if event["e"] == "dispatched":
            must(key not in life, "%s: batch %s was dispatched twice" % (name, key))
            life[key]
        elif event["e"] == "entered":
            must(key in life, "%s: batch %s entered %s before it was dispatched" % (name, key, event["stage"]))
            life[key].append(event["stage"])
        elif event["e"] == "fetched":
            must(key in life, "%s: batch %s was fetched and never dispatched" % (name, key))
            fetched[key] = len(event["walls"])
    for key, stages in life.items():
        # What was pinned is on its way back once more.
        once = [stage for before, stage in zip([""] + stages, stages) if (before, stage) != ("pinning", "returning")]
        known = [order.index(stage) for stage in once if stage in order]
        must(known == sorted(known), "%s: batch %s went %s" % (name, key, stages))
        if "training" in stages:
            must("fetching" in stages, "%s: batch %s was trained on and never fetched" % (name, key))
            must(key in fetched, "%s: batch %s was trained on, without the time it took" % (name, key))
    return len(life), sum(fetched.values())
