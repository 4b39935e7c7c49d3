"""``stage``: names a step of ``dataset[index]``."""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Optional, Tuple

# Maximum length of a name, characters.
MOST = 100


class stage(contextlib.ContextDecorator):
    """Names a step in which a dataset makes a sample, for a ``with`` block or as a decorator::

        def __getitem__(self, index):
            with loadscope.stage("decode"):
                image = decode(self.files[index])

    The report shows how long training waited for each step. A step inside another one is part of that one. Without a recording this
    has no effect.

    Args:
        name: the name of the step in the report.
    """

    def __init__(self, name: str) -> None:
        self._name = str(name)[:MOST]
        self._begun: Optional[Tuple[Any, ...]] = None

    def _recreate_cm(self) -> "stage":
        # Each call of a decorated function has its own.
        return stage(self._name)

    def __enter__(self) -> "stage":
        begin = getattr(sys.modules.get("loadscope_probe"), "begin_stage", None)
        begun = None if begin is None else begin()
        if begun is not None:
            self._begun = begun
        return self

    def __exit__(self, *error: Any) -> None:
        begun, self._begun = self._begun, None
        if begun is not None:
            sys.modules["loadscope_probe"].end_stage(begun, self._name)
