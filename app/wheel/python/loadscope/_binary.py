"""Finds and runs the program ``loadscope``, which is part of the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from typing import Iterator, List, Optional, Sequence

# Options of the program that its messages name, and the arguments they are here.
ARGUMENTS = {
    "--output": "path",
    "--force": "force=True",
    "--previews": "previews",
    "--web": "live=True",
    "--last": "last",
    "--max-size": "max_size",
    "--skip-first": "skip_first",
    "--epochs": "epochs",
    "--loader": "loader",
}


class LoadscopeError(Exception):
    """An error of Loadscope. The text names the cause and, if there is one, the remedy."""


def reason(error: BaseException) -> str:
    """The text of an error. For an error of the system, its file and the reason without the number: ``/data: Permission denied``."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    return error.strerror if error.filename is None else "%s: %s" % (error.filename, error.strerror)


def candidates() -> Iterator[str]:
    """Possible paths of the program, the likeliest first."""
    name = "loadscope" + (sysconfig.get_config_var("EXE") or "")
    own = os.environ.get("LOADSCOPE_BINARY")
    if own:
        yield own
        return
    # The environment of this Python, the user's environment, and the folder of `pip install --target`.
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
        LoadscopeError: if no path has the program.
    """
    looked: List[str] = []
    for path in candidates():
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
        looked.append(path)
    raise LoadscopeError(
        "the program loadscope was not found (searched %s). Reinstall the package, or set LOADSCOPE_BINARY to the path of the program."
        % ", ".join(looked)
    )


def environment() -> "dict[str, str]":
    """The environment for the program: without the library paths of this Python."""
    return {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}


def in_python(text: str) -> str:
    """A message of the program, with the arguments of Python in place of options."""
    text = re.sub(r"^error: ", "", text)
    # The lines below an error are about the command line.
    text = re.split(r"\n+(?:Usage:|For more information)", text)[0].strip()
    return re.sub(r"--[a-z][a-z-]*(?: <[A-Z_]+>)?", lambda found: ARGUMENTS.get(found.group().partition(" ")[0], found.group()), text)


def ask(arguments: Sequence[str], timeout: Optional[float] = None) -> str:
    """Runs the program and returns its standard output.

    Raises:
        LoadscopeError: with the error text of the program, if it fails.
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
    except subprocess.TimeoutExpired as error:
        raise LoadscopeError("the program loadscope did not answer within %d s. Try again." % error.timeout) from error
    except OSError as error:
        raise LoadscopeError("the program loadscope cannot be started: %s. Reinstall the package." % reason(error)) from error
    if asked.returncode != 0:
        said = asked.stderr.strip()
        if said.startswith("loadscope: "):
            said = said[len("loadscope: ") :]
        raise LoadscopeError(in_python(said) or "the program loadscope ended with exit code %d" % asked.returncode)
    return asked.stdout


def version() -> str:
    """The version of the program, as in ``"0.1.0"``."""
    return ask(["--version"], timeout=60).split()[-1]


def package_version() -> str:
    """The version of the package. Outside of an installed package, that of the program."""
    from importlib import metadata

    try:
        return metadata.version("loadscope")
    except metadata.PackageNotFoundError:
        return version()
