"""A file of cases while it is being made, and how results are written down in it."""

import hashlib
import json
import re

import numpy
import torch

LONGEST = 1000  # longer lists of integers are given by length, ends and hash


class Cases:
    """The cases of one area, numbered in the order in which they are added."""

    def __init__(self, area, notes):
        self.area = area
        self.head = {"schema": 1, "torch": torch.__version__, "numpy": numpy.__version__,
                     "area": area, "notes": notes}
        self.cases = []
        self.extra = {}

    def __len__(self):
        return len(self.cases)

    def add(self, op, inputs, **result):
        """One case; `result` is `out=…` or `error=…`, as `attempt` gives it."""
        number = len(self.cases) + 1
        self.cases.append({"id": f"{self.area}-{number:03d}", "op": op, "in": inputs, **result})

    def to_text(self):
        """The file: a line for each case."""
        whole = {**self.head, "cases": self.cases, **self.extra}
        text = json.dumps(whole, separators=(",", ":"))
        return text.replace('{"id":', '\n{"id":') + "\n"


def generator(seed):
    """A generator of its own."""
    return torch.Generator().manual_seed(seed)


def draw_i64(source=None):
    """The next int64; of the default generator if none is given. Shows what was consumed before."""
    return torch.empty((), dtype=torch.int64).random_(generator=source).item()


def listed(numbers):
    """A list of integers, in short if it is long."""
    numbers = list(numbers)
    if len(numbers) <= LONGEST:
        return numbers
    text = ",".join(map(str, numbers))
    return {"len": len(numbers), "head": numbers[:16], "tail": numbers[-16:],
            "sha256": hashlib.sha256(text.encode()).hexdigest()}


def masked(message):
    """A message without what changes from run to run: addresses and process ids."""
    message = re.sub(r"0x[0-9a-f]{6,}", "0xADDR", str(message))
    return re.sub(r"pid\(?s?\)? [0-9, ]+",
                  lambda found: re.sub(r"[0-9]+", "PID", found.group(0)), message)


def let_go(error):
    """Frees the iterator that the exception was raised in.

    Else the two hang in a cycle, and workers forked later take them along and complain.
    """
    while error is not None:
        error.__traceback__ = None
        error = error.__context__


def described_error(error, first_line=False):
    """Type and message of an exception."""
    let_go(error)
    message = masked(error)
    if first_line:
        message = message.split("\n")[0]
    return {"type": type(error).__name__, "message": message}


def attempt(action):
    """What an action returns, or how it fails."""
    try:
        return {"out": action()}
    except Exception as error:  # whatever PyTorch raises is the case
        return {"error": described_error(error)}


def succeeds(action):
    """An action of which only counts that it does not fail."""
    def run():
        action()
        return "ok"
    return run
