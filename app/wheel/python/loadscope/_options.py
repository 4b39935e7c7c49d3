"""The arguments of a recording, and the options of ``loadscope listen`` that they become."""

from __future__ import annotations

import collections.abc
import datetime
import itertools
import math
import os
from typing import Iterable, List, Optional, Tuple, Union

from ._binary import LoadscopeError

Path = Union[str, "os.PathLike[str]"]
Time = Union[str, float, datetime.timedelta]
Size = Union[str, int]
Epochs = Union[int, str, Iterable[int]]

# The largest numbers that the program takes.
MOST_BATCHES = 2**64 - 1
MOST_EPOCHS = 2**32 - 1
# Epochs that may be named one by one: a command line has room for them, and an iterable may never end.
MOST_NAMED = 10_000


class Options:
    """The checked arguments of a recording.

    Raises:
        LoadscopeError: if an argument has a wrong type or value.
    """

    def __init__(
        self,
        path: Optional[Path] = None,
        *,
        force: bool = False,
        previews: int = 0,
        live: bool = False,
        last: Optional[Time] = None,
        max_size: Optional[Size] = None,
        skip_first: int = 0,
        epochs: Optional[Epochs] = None,
    ) -> None:
        self.path = None if path is None else path_of(path)
        self.force, self.live = bool(force), bool(live)
        self.previews = min(max(whole("previews", previews), 0), 64)
        self.last = None if last is None else time_of(last)
        self.max_size = None if max_size is None else size_of(max_size)
        self.skip_first = whole("skip_first", skip_first)
        if not 0 <= self.skip_first <= MOST_BATCHES:
            raise LoadscopeError("skip_first=%r: expected a number of batches, such as 10" % (skip_first,))
        self.epochs = [] if epochs is None else epochs_of(epochs)

    def command(self) -> List[str]:
        """The options of the program."""
        command = ["--previews", str(self.previews)]
        if self.path is not None:
            # With the equals sign a name may begin with a hyphen.
            command.append("--output=" + self.path)
        if self.force:
            command.append("--force")
        if self.live:
            command.append("--web")
        if self.last is not None:
            command.append("--last=" + self.last)
        if self.max_size is not None:
            command.append("--max-size=" + self.max_size)
        if self.skip_first:
            command.append("--skip-first=%d" % self.skip_first)
        if self.epochs:
            command.append("--epochs=" + ",".join(self.epochs))
        return command


def path_of(path: Path) -> str:
    if not isinstance(path, (str, os.PathLike)):
        raise LoadscopeError("path=%r: expected a file name, such as 'run.jsonl.zst'" % (path,))
    text = os.fspath(path)
    if not isinstance(text, str):
        raise LoadscopeError("path=%r: expected a str, not bytes. Use os.fsdecode()." % (text,))
    return text


def whole(name: str, value: object) -> int:
    """A whole number, also one of NumPy."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise LoadscopeError("%s=%r: expected a whole number, such as 4" % (name, value))
    return int(value.__index__())


def time_of(value: Time) -> str:
    if isinstance(value, str):
        return value
    try:
        seconds = value.total_seconds() if isinstance(value, datetime.timedelta) else float(value)
    except (TypeError, ValueError):
        seconds = math.nan
    # A comparison with nan is false.
    if isinstance(value, bool) or not 0 < seconds <= 1e9:
        raise LoadscopeError("last=%r: expected seconds, a timedelta, or a text such as '90s', '30m', '12h' or '2d'" % (value,))
    return "%.9fs" % seconds


def size_of(value: Size) -> str:
    if isinstance(value, str):
        return value
    number = whole("max_size", value)
    if number < 1_000_000:
        raise LoadscopeError("max_size=%r: expected at least 1,000,000 bytes, or a text such as '200MB' or '2GB'" % (value,))
    return "%dB" % number


def epochs_of(value: Epochs) -> List[str]:
    """Ranges of epochs, as the program takes them: ``["0", "5-9"]``."""
    if isinstance(value, str):
        return [value]
    wrong = LoadscopeError("epochs=%.200r: expected an epoch, counted from 0, or several, such as range(2, 6)" % (value,))
    try:
        ranges = ranges_of(value)
    except TypeError:
        raise wrong from None
    if not ranges or ranges[0][0] < 0 or ranges[-1][1] > MOST_EPOCHS:
        raise wrong
    return ["%d-%d" % both if both[0] != both[1] else "%d" % both[0] for both in ranges]


def ranges_of(value: Union[int, Iterable[int]]) -> List[Tuple[int, int]]:
    """The first and the last epoch of each range, in order."""
    if isinstance(value, range) and value.step == 1:
        # It may have any length.
        return [(value[0], value[-1])] if value else []
    each = value if isinstance(value, collections.abc.Iterable) else [value]
    numbers = [whole("epochs", one) for one in itertools.islice(each, MOST_NAMED + 1)]
    if len(numbers) > MOST_NAMED:
        raise LoadscopeError("epochs: expected at most %d single epochs. Pass a range for more." % MOST_NAMED)
    ranges: List[Tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ranges
