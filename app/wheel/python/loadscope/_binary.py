"""The program ``loadscope``, which the package brings along: where it is, and how it is asked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from typing import Iterator, List, Optional, Sequence


class LoadscopeError(Exception):
    """Something that was asked for cannot be done. The text says what, and what to do about it."""


def candidates() -> Iterator[str]:
    """Places where the program may be, the likeliest first."""
    name = "loadscope" + (sysconfig.get_config_var("EXE") or "")
    own = os.environ.get("LOADSCOPE_BINARY")
    if own:
        yield own
        return
    # The environment of this Python, then that of the user, then the folder that the package was put into by `pip install --target`.
    yield os.path.join(sysconfig.get_path("scripts"), name)
    yield os.path.join(os.path.dirname(os.path.abspath(sys.executable)), name)
    scheme = "%s_user" % os.name
    if scheme in sysconfig.get_scheme_names():
        yield os.path.join(sysconfig.get_path("scripts", scheme=scheme), name)
    package = os.path.dirname(os.path.abspath(__file__))
    yield os.path.join(os.path.dirname(package), "bin", name)
    found = shutil.which(name)
    if found:
        yield found


def binary() -> str:
    """The path of the program ``loadscope``.

    Raises:
        LoadscopeError: if it is not there.
    """
    looked: List[str] = []
    for path in candidates():
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
        looked.append(path)
    raise LoadscopeError(
        "the program loadscope is not there (looked for %s). Install the package again (pip install --force-reinstall loadscope), or name "
        "it in LOADSCOPE_BINARY" % ", ".join(looked)
    )


def environment() -> "dict[str, str]":
    """For the program itself: libraries that this Python was pointed to are not for it, and it is not recorded."""
    return {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}


def ask(arguments: Sequence[str], timeout: Optional[float] = None) -> str:
    """What the program prints for these arguments.

    Raises:
        LoadscopeError: what it complains of, if it does not end with success.
    """
    try:
        asked = subprocess.run(
            [binary(), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
            timeout=timeout,
            encoding="utf-8",
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LoadscopeError("the program loadscope cannot be run: %s" % error) from error
    if asked.returncode != 0:
        said = asked.stderr.strip()
        if said.startswith("loadscope: "):
            said = said[len("loadscope: ") :]
        raise LoadscopeError(said or "the program loadscope ended with code %d" % asked.returncode)
    return asked.stdout


def version() -> str:
    """The version of the program, as in ``"0.1.0"``."""
    return ask(["--version"], timeout=60).split()[-1]
