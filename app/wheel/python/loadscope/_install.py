"""``python -m loadscope install``: prepares this Python for ``loadscope attach``, and for wrappers that clear the environment."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from typing import Iterator, List

NAME = "loadscope.pth"
# Read by Python at every start. It waits for `import torch`, and does nothing where the package is gone. One line that begins with `import` is
# what Python takes for a program there; a file of its own to import would cost ten times as much. What is in quotes is compiled once it is needed.
WAKE = "try:\n from loadscope._dormant import wake; wake()\nexcept Exception: pass"
LINE = (
    "import sys; sys.meta_path.insert(0, type(sys.implementation)(find_spec=lambda name, *_, **__: exec(%r, {}) if name == 'torch' else None))\n"
    % WAKE
)


def folders() -> Iterator[str]:
    """Folders with .pth files of this Python: its own packages, then those of the user."""
    yield sysconfig.get_path("purelib")
    if sys.prefix == sys.base_prefix and site.ENABLE_USER_SITE:
        yield site.getusersitepackages()


def install() -> str:
    """Writes the .pth file and returns its path."""
    why: List[str] = []
    for folder in folders():
        path = os.path.join(folder, NAME)
        beside = "%s.%d.part" % (path, os.getpid())
        try:
            os.makedirs(folder, exist_ok=True)
            with open(beside, "x", encoding="utf-8") as file:
                file.write(LINE)
            os.replace(beside, path)
            list_in_package(path)
            return path
        except OSError as error:
            why.append("%s: %s" % (path, error.strerror or error))
    raise OSError(", ".join(why))


def list_in_package(path: str) -> None:
    """Adds the .pth file to the list of the package's files, so that `pip uninstall` removes it."""
    from importlib import metadata

    try:
        distribution = metadata.distribution("loadscope")
        record = os.path.join(str(getattr(distribution, "_path", "")), "RECORD")
        with open(record, newline="", encoding="utf-8") as file:
            lines = file.read()
        base = os.path.dirname(os.path.dirname(record))
        name = NAME if os.path.samefile(base, os.path.dirname(path)) else path
        if any(line.partition(",")[0] == name for line in lines.splitlines()):
            return
        beside = "%s.%d.part" % (record, os.getpid())
        with open(beside, "x", newline="", encoding="utf-8") as file:
            file.write("%s%s,,\n" % (lines if lines.endswith("\n") else lines + "\n", quoted(name)))
        os.replace(beside, record)
    except (OSError, metadata.PackageNotFoundError):
        # Without the list `python -m loadscope uninstall` removes the file.
        pass


def quoted(text: str) -> str:
    """A field of a CSV file."""
    return '"%s"' % text.replace('"', '""') if set(text) & set(',"\r\n') else text


def uninstall() -> List[str]:
    """Removes the .pth files and returns their paths."""
    removed = []
    for folder in folders():
        path = os.path.join(folder, NAME)
        if os.path.isfile(path):
            try:
                os.remove(path)
            except OSError as error:
                raise OSError("%s: %s" % (path, error.strerror or error)) from error
            removed.append(path)
    return removed


def main(arguments: List[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m loadscope install | uninstall", file=sys.stderr)
        return 2
    try:
        if arguments == ["install"]:
            print(install())
            print(
                "PyTorch programs that this Python starts from now on can be recorded while they run (loadscope attach PID), and also if a wrapper "
                "clears their environment."
            )
        else:
            removed = uninstall()
            print("\n".join(removed) if removed else "nothing to remove: %s has no %s" % (sys.executable, NAME))
    except OSError as error:
        remedy = "Run this as the owner of the folder, or with the Python of a virtual environment."
        print("loadscope: cannot %s %s. %s" % (arguments[0], error, remedy), file=sys.stderr)
        return 1
    return 0
