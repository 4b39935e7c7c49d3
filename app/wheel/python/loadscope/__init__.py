"""Find out why PyTorch training waits for data.

Record a part of a program and print the verdict::

    import loadscope

    with loadscope.record() as run:     # or @loadscope.record over a function
        train()

    print(run.verdict)      # does training wait, and why
    run.report()            # the report as a dict
    run.read().batches      # tables as dicts of numpy arrays, or DataFrames with .pandas()
    run.show()              # opens the window

To record a whole program without changing it, run ``loadscope record -- python train.py``.

If a recording fails, a warning gives the reason and the program continues. The package imports PyTorch, numpy and pandas only when they are
needed.
"""

import typing as _typing

if _typing.TYPE_CHECKING:
    from ._binary import LoadscopeError, binary, version
    from ._record import record
    from ._recording import Recording, start, stop
    from ._results import Table, Tables, read, report, show, verdict
    from ._stage import stage

    __version__: str

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
    "stage",
    "start",
    "stop",
    "verdict",
    "version",
]
# The module of each name. Names are imported on first use, so programs that wait to be recorded load none of them.
_PLACES = {
    "LoadscopeError": "_binary",
    "binary": "_binary",
    "version": "_binary",
    "Recording": "_recording",
    "record": "_record",
    "start": "_recording",
    "stop": "_recording",
    "Table": "_results",
    "Tables": "_results",
    "read": "_results",
    "report": "_results",
    "show": "_results",
    "stage": "_stage",
    "verdict": "_results",
}


def __getattr__(name: str) -> "_typing.Any":
    if name == "__version__":
        from ._binary import package_version

        value = package_version()
    elif name in _PLACES:
        from importlib import import_module

        value = getattr(import_module("." + _PLACES[name], __name__), name)
    else:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    globals()[name] = value
    return value


def __dir__() -> "list[str]":
    return sorted({*__all__, "__version__", *(name for name in globals() if name.startswith("__"))})


def load_ipython_extension(shell: "_typing.Any") -> None:
    """``%load_ext loadscope``: adds ``%%loadscope``, which records a cell and explains why it waited."""
    from ._ipython import load

    load(shell)


def unload_ipython_extension(shell: "_typing.Any") -> None:
    """``%unload_ext loadscope``"""
    from ._ipython import unload

    unload(shell)
