"""What a recording says: its tables, its report, and the window. The program ``loadscope`` reads it; here is no reader of its own."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Union

from ._binary import LoadscopeError, ask, binary, environment

if TYPE_CHECKING:
    import numpy
    import pandas

Path = Union[str, "os.PathLike[str]"]

# Columns by what is in them; all others hold whole numbers. Their meaning stands in TABLES.md of Loadscope.
TEXTS = frozenset("stage lane part what unit name dataset program host origin severity text".split())
FLAGS = frozenset("was_held has_error pin_memory persistent_workers in_order drop_last".split())
FLOATS = frozenset(["value"])
# Those of whole numbers up to 2**64.
UNSIGNED = frozenset(["sample"])

NAMES = ("batches", "samples", "waits", "gauges", "loaders", "errors")


class Table(Dict[str, "numpy.ndarray"]):
    """A table: arrays of numpy by the names of its columns.

    Whole numbers are ``int64`` (``sample`` is ``uint64``); where some are missing, ``float64`` with ``nan``. Texts are objects, ``None`` where
    missing, as truth values where some are. ``…_ns`` are nanoseconds, ``…_at_ns`` and ``start_ns`` since the run began.
    """

    def __len__(self) -> int:
        """The number of columns, as of every dict; :attr:`rows` is that of rows."""
        return super().__len__()

    @property
    def rows(self) -> int:
        """The number of rows."""
        for column in self.values():
            return len(column)
        return 0

    def pandas(self) -> "pandas.DataFrame":
        """The same as a ``pandas.DataFrame``."""
        import pandas

        return pandas.DataFrame(dict(self))


class Tables:
    """The tables of a recording.

    Attributes:
        batches: one row a batch: its worker, when it was dispatched and yielded, for how long it was in each stage.
        samples: one row a sample: its index, when its fetching began, for how long it took.
        waits: one row for each time that the program waited for a batch.
        gauges: one row a measurement: memory, processor time and others.
        loaders: one row a loader: its name, dataset and arguments.
        errors: one row an error or a warning.
    """

    batches: Table
    samples: Table
    waits: Table
    gauges: Table
    loaders: Table
    errors: Table

    def __init__(self, tables: Dict[str, Table]) -> None:
        self.__dict__.update(tables)

    def pandas(self) -> "Dict[str, pandas.DataFrame]":
        """All of them as ``pandas.DataFrame``, by name."""
        return {name: getattr(self, name).pandas() for name in NAMES}

    def __repr__(self) -> str:
        return "<loadscope.Tables: %s>" % ", ".join("%d %s" % (getattr(self, name).rows, name) for name in NAMES)


def column(name: str, texts: List[str]) -> "numpy.ndarray":
    """A column of a table as numpy has it."""
    import numpy

    if name in TEXTS:
        values = numpy.empty(len(texts), dtype=object)
        # The program puts an apostrophe before what a spreadsheet would take for a formula.
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
    """The tables of a recording, as dicts of numpy arrays; ``.pandas()`` makes DataFrames of them.

    Args:
        path: a recording, a folder of them, or what another tool wrote that ``loadscope open`` shows.
        loader: only this loader: its number or words of its name, as in ``"rank 2"``. By default all.

    Raises:
        LoadscopeError: if it is no recording.
    """
    with tempfile.TemporaryDirectory(prefix="loadscope-tables-") as folder:
        out = os.path.join(folder, "tables")
        chosen = [] if loader is None else ["--loader", str(loader)]
        ask(["export", *chosen, "--to", "csv", "--output", out, "--", os.fspath(path)])
        return Tables({name: table(os.path.join(out, name + ".csv")) for name in NAMES})


def of_loader(loader: Optional[str]) -> List[str]:
    return [] if loader is None else ["--loader", str(loader)]


def report(path: Path, loader: Optional[str] = None) -> Dict[str, Any]:
    """Why training waited and what to do about it, as ``loadscope report --json`` says it.

    Args:
        path: as in :func:`read`.
        loader: which loader, of several. By default the one that the program waited for most.

    Raises:
        LoadscopeError: if it is no recording.
    """
    return dict(json.loads(ask(["report", "--json", *of_loader(loader), "--", os.fspath(path)])))


def verdict(path: Path, loader: Optional[str] = None) -> str:
    """Does training wait, and why? In a sentence or two."""
    return str(report(path, loader)["verdict"]["text"])


def markdown(path: Path, loader: Optional[str] = None) -> str:
    """The report in Markdown."""
    return ask(["report", "--markdown", *of_loader(loader), "--", os.fspath(path)])


def show(path: Path, inline: Optional[bool] = None, height: Optional[int] = None) -> "Optional[subprocess.Popen[bytes]]":
    """Shows a recording: in a notebook below the cell, elsewhere in a window of its own, and returns at once.

    Args:
        path: as in :func:`read`.
        inline: below the cell or not, wherever this runs.
        height: of what is shown below the cell, in points.

    Raises:
        LoadscopeError: if it is no recording, there is no display for a window, or the program was built without the page.
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
    # Without a display it says so at once.
    until = time.monotonic() + 1.0
    while window.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    with said:
        if window.poll() not in (None, 0):
            said.seek(0)
            why = said.read().decode("utf-8", "replace").strip()
            raise LoadscopeError(why or "the window ended with code %s" % window.returncode)
    return window
