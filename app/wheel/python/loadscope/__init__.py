"""Loadscope makes the inside of a PyTorch ``DataLoader`` visible.

Record a part of a program, and ask why it waited::

    import loadscope

    with loadscope.record() as run:
        train()

    print(run.verdict)      # a sentence: does training wait, and why
    run.report()            # the whole report, as a dict
    run.read().batches      # tables, as dicts of numpy arrays; .pandas() for DataFrames
    run.show()              # opens the window

Whole programs need no change at all: ``loadscope record -- python train.py``.

Recording never harms a program: if it cannot be recorded, a warning says why, and the program goes on. Nothing here imports PyTorch, numpy or
pandas before it is needed.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._binary import LoadscopeError, binary, version
    from ._recording import Recording, record, start, stop
    from ._results import Table, Tables, read, report, show, verdict

__all__ = [
    "LoadscopeError",
    "Recording",
    "Table",
    "Tables",
    "binary",
    "read",
    "record",
    "report",
    "show",
    "start",
    "stop",
    "verdict",
    "version",
]
# Where each of them is. They come when they are asked for: programs that only wait to be recorded pay for none.
PLACES = {
    "LoadscopeError": "_binary",
    "binary": "_binary",
    "version": "_binary",
    "Recording": "_recording",
    "record": "_recording",
    "start": "_recording",
    "stop": "_recording",
    "Table": "_results",
    "Tables": "_results",
    "read": "_results",
    "report": "_results",
    "show": "_results",
    "verdict": "_results",
}


def __getattr__(name: str) -> Any:
    if name not in PLACES:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    from importlib import import_module

    value = getattr(import_module("." + PLACES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> "list[str]":
    return sorted(set(globals()) | set(__all__))


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext loadscope``: adds ``%%loadscope``, which records a cell and says why it waited."""
    from ._ipython import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext loadscope``"""
    from ._ipython import unload

    unload(shell)
