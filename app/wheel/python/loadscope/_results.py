"""Tables, report and window of a recording. The program ``loadscope`` reads the recording."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Union

from ._binary import LoadscopeError, ask, binary, environment

if TYPE_CHECKING:
    import numpy
    import pandas

Path = Union[str, "os.PathLike[str]"]

# Columns by type. All others are integers. TABLES.md of Loadscope describes them.
TEXTS = frozenset("stage lane part what unit name dataset program host origin severity text activity function file own_function own_file".split())
FLAGS = frozenset("was_held has_error pin_memory persistent_workers in_order drop_last".split())
FLOATS = frozenset(["value"])
# Unsigned 64-bit integers.
UNSIGNED = frozenset(["sample"])

# Variables of which Linux needs one for a window.
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET")

NAMES = ("batches", "samples", "waits", "gauges", "loaders", "errors", "stacks")


def counted(number: int, one: str) -> str:
    """``1 batch`` or ``2 batches``"""
    return "%d %s%s" % (number, one, "" if number == 1 else "es" if one.endswith("ch") else "s")


class Table(Dict[str, "numpy.ndarray"]):
    """A table as a dict of numpy arrays, one per column.

    - Integers are ``int64``, ``sample`` is ``uint64``. Columns with missing values are ``float64`` with ``nan``.
    - Texts are objects, ``None`` if missing. Booleans are ``bool``, or objects with ``None`` if some are missing.
    - ``…_ns`` are nanoseconds. ``…_at_ns`` and ``start_ns`` count from the start of the run.
    """

    def __len__(self) -> int:
        """The number of columns, as for every dict. :attr:`rows` is the number of rows."""
        return super().__len__()

    @property
    def rows(self) -> int:
        """The number of rows."""
        for column in self.values():
            return len(column)
        return 0

    def pandas(self) -> "pandas.DataFrame":
        """The table as a ``pandas.DataFrame``."""
        import pandas

        return pandas.DataFrame(dict(self))


class Tables:
    """The tables of a recording.

    Attributes:
        batches: one row per batch: worker, times of dispatch and yield, time in each stage.
        samples: one row per sample: index, start and duration of its fetch.
        waits: one row per wait for a batch.
        gauges: one row per measurement: memory, CPU time and others.
        loaders: one row per loader: name, dataset and arguments.
        errors: one row per error or warning.
        stacks: one row per equal consecutive stack samples of a process: function, line, and the line of your code.
    """

    batches: Table
    samples: Table
    waits: Table
    gauges: Table
    loaders: Table
    errors: Table
    stacks: Table

    def __init__(self, tables: Dict[str, Table]) -> None:
        self.__dict__.update(tables)

    def pandas(self) -> "Dict[str, pandas.DataFrame]":
        """All tables as ``pandas.DataFrame``, by name."""
        return {name: getattr(self, name).pandas() for name in NAMES}

    def __repr__(self) -> str:
        sizes = (counted(getattr(self, name).rows, "batch" if name == "batches" else name[:-1]) for name in NAMES)
        return "<loadscope.Tables: %s>" % ", ".join(sizes)


def column(name: str, texts: List[str]) -> "numpy.ndarray":
    """A column of a table as a numpy array."""
    import numpy

    if name in TEXTS:
        values = numpy.empty(len(texts), dtype=object)
        # An export puts an apostrophe before texts that a spreadsheet would treat as a formula.
        values[:] = [(text[1:] if text.startswith("'") else text) if text else None for text in texts]
        return values
    if name in FLAGS:
        known = {"true": True, "false": False, "": None}
        return numpy.array([known[text] for text in texts], dtype=object if "" in texts else bool)
    if name in FLOATS or "" in texts:
        return numpy.array([text or "nan" for text in texts], dtype=object).astype(numpy.float64)
    kind = numpy.uint64 if name in UNSIGNED else numpy.int64
    return numpy.array([int(text) for text in texts], dtype=kind)


def table(path: str) -> Table:
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        names = next(rows)
        columns = list(zip(*rows)) or [()] * len(names)
    return Table((name, column(name, list(texts))) for name, texts in zip(names, columns))


def read(path: Path, loader: Optional[str] = None) -> Tables:
    """Reads the tables of a recording as dicts of numpy arrays. ``.pandas()`` converts them to DataFrames.

    Args:
        path: a recording, a folder of recordings, or a trace of another tool.
        loader: only this loader, by number or part of its name, such as ``"rank 2"``. By default all.

    Raises:
        LoadscopeError: if the path is not a recording.
    """
    with tempfile.TemporaryDirectory(prefix="loadscope-tables-") as folder:
        out = os.path.join(folder, "tables")
        chosen = [] if loader is None else ["--loader", str(loader)]
        ask(["export", *chosen, "--to", "csv", "--output", out, "--", os.fspath(path)])
        return Tables({name: table(os.path.join(out, name + ".csv")) for name in NAMES})


def of_loader(loader: Optional[str]) -> List[str]:
    return [] if loader is None else ["--loader", str(loader)]


def report(path: Path, loader: Optional[str] = None) -> Dict[str, Any]:
    """Explains why training waited and what to change, as ``loadscope report --json``.

    Args:
        path: as in :func:`read`.
        loader: the loader, by number or part of its name. By default the one training waited for longest.

    Raises:
        LoadscopeError: if the path is not a recording.
    """
    return dict(json.loads(ask(["report", "--json", *of_loader(loader), "--", os.fspath(path)])))


def verdict(path: Path, loader: Optional[str] = None) -> str:
    """Whether and why training waits, in one or two sentences."""
    return str(report(path, loader)["verdict"]["text"])


def markdown(path: Path, loader: Optional[str] = None) -> str:
    """The report in Markdown."""
    return ask(["report", "--markdown", *of_loader(loader), "--", os.fspath(path)])


def show(path: Path, inline: Optional[bool] = None, height: Optional[int] = None) -> "Optional[subprocess.Popen[bytes]]":
    """Shows a recording under the cell of a notebook, or in a window outside a notebook, and returns at once.

    Args:
        path: as in :func:`read`.
        inline: ``True`` for under the cell, ``False`` for a window. By default, depends on where it runs.
        height: height under the cell, in points.

    Raises:
        LoadscopeError: if the path is not a recording, no display is available, or the program was built without the browser page.
    """
    from . import _page

    if inline or (inline is None and _page.in_notebook()):
        from IPython.display import HTML, display

        display(HTML(_page.frame(path, height or _page.HEIGHT)))
        return None
    ask(["info", "--json", "--", os.fspath(path)])
    said = tempfile.TemporaryFile()
    window = subprocess.Popen(
        [binary(), "open", os.path.abspath(os.fspath(path))],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=said,
        env=environment(),
        start_new_session=True,
    )
    # Without a display the program ends with an error, on a busy host after several seconds.
    has_display = not sys.platform.startswith("linux") or any(name in os.environ for name in DISPLAYS)
    until = time.monotonic() + (1.0 if has_display else 30.0)
    while window.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    with said:
        if window.poll() not in (None, 0):
            said.seek(0)
            why = said.read().decode("utf-8", "replace").strip()
            raise LoadscopeError(why or "the window ended with exit code %s" % window.returncode)
    return window
