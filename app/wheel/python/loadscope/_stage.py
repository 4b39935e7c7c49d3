"""``stage``: names a step of ``dataset[index]``."""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import Any, List, Optional, Tuple

# Maximum length of a name, characters.
MOST = 100


class _Open(threading.local):
    """The steps that a thread is in, the innermost last."""

    def __init__(self) -> None:
        self.all: List[Optional[Tuple[Any, ...]]] = []


_OPEN = _Open()


class stage(contextlib.ContextDecorator):
    """Names a step in which a dataset makes a sample, for a ``with`` block or as a decorator::

        def __getitem__(self, index):
            with loadscope.stage("decode"):
                image = decode(self.files[index])

    The report shows how long training waited for each step. A step inside another one is part of that one. Without a recording this
    has no effect.

    Args:
        name: the name of the step in the report. The first 32 names of a process are recorded.
    """

    def __init__(self, name: str) -> None:
        self._name = str(name)[:MOST]

    def __enter__(self) -> "stage":
        begin = getattr(sys.modules.get("loadscope_probe"), "begin_stage", None)
        _OPEN.all.append(None if begin is None else begin())
        return self

    def __exit__(self, *error: Any) -> None:
        begun = _OPEN.all.pop()
        if begun is not None:
            sys.modules["loadscope_probe"].end_stage(begun, self._name)
