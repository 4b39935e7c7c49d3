"""``%%loadscope``: records a cell of a notebook and explains why it waited."""

from __future__ import annotations

import contextlib
import glob
import os
import shlex
import shutil
import sys
import tempfile
import types
import warnings
from typing import Any, Iterator, List, Optional, Tuple

from ._recording import Recording, start


def arguments_of(line: str) -> Tuple[Optional[str], int, bool, Optional[str]]:
    """Parses ``-o FILE``, ``--previews N``, ``--live`` and the name of the variable for the recording."""
    words: List[str] = shlex.split(line)
    path: Optional[str] = None
    previews = 0
    live = False
    name: Optional[str] = None
    while words:
        word = words.pop(0)
        if word in ("-o", "--output") and words:
            path = words.pop(0)
        elif word == "--previews" and words and words[0].isdigit():
            previews = int(words.pop(0))
        elif word == "--live":
            live = True
        elif word.isidentifier() and name is None:
            name = word
        else:
            raise ValueError("%%%%loadscope: unexpected %r. Usage: %%%%loadscope [-o FILE] [--previews N] [--live] [NAME]" % word)
    return path, previews, live, name


@contextlib.contextmanager
def printed() -> Iterator[None]:
    """Prints the warnings of Loadscope: their place is not in the cell."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if str(warning.message).startswith("loadscope: "):
            print(warning.message, file=sys.stderr)
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno, registry={})


def error_of(shell: Any, cell: str) -> Optional[BaseException]:
    """Runs a cell. Its error is not shown yet, but returned with its traceback."""
    tracebacks: List[List[str]] = []
    show, shell._showtraceback = shell._showtraceback, lambda kind, error, traceback: tracebacks.append(traceback)
    # Newer versions of IPython already count the next cell.
    count, shell.execution_count = shell.execution_count, number_of_cell(shell)
    try:
        outcome = shell.run_cell(cell)
    finally:
        shell._showtraceback, shell.execution_count = show, count
    error: Optional[BaseException] = outcome.error_before_exec or outcome.error_in_exec
    if error is not None and tracebacks:
        try:
            error._render_traceback_ = lambda: tracebacks[-1]  # type: ignore[attr-defined]
        except Exception:
            # An error with slots is shown with our frame.
            pass
    return error


def number_of_cell(shell: Any) -> int:
    """The number of the cell that is running."""
    numbers = getattr(shell.compile, "_filename_map", {})
    frame: Optional[types.FrameType] = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename in numbers:
            return int(numbers[frame.f_code.co_filename])
        frame = frame.f_back
    return int(shell.execution_count)


class Folder:
    """Temporary recordings of a notebook. The next notebook removes those of a kernel that was killed."""

    PREFIX = "loadscope-notebook-"

    def __init__(self) -> None:
        for old in glob.glob(os.path.join(glob.escape(tempfile.gettempdir()), self.PREFIX + "*", "lock")):
            remove_unlocked(old)
        self.folder = tempfile.TemporaryDirectory(prefix=self.PREFIX)
        self.name = self.folder.name
        # It gets its name once it is locked: another notebook that finds it unlocked knows that its kernel is gone.
        new = os.path.join(self.name, "lock.new")
        self.lock = open(new, "w")
        lock(self.lock)
        os.rename(new, os.path.join(self.name, "lock"))

    def cleanup(self) -> None:
        self.lock.close()
        self.folder.cleanup()


def lock(file: Any) -> None:
    """Locks a file while this process lives.

    Raises:
        OSError: if another process has locked it, or this system has no such locks.
    """
    try:
        import fcntl
    except ImportError:
        raise OSError("no locks") from None
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def remove_unlocked(path: str) -> None:
    """Removes a folder of this user, if no process holds its lock."""
    folder = os.path.dirname(path)
    try:
        if os.lstat(folder).st_uid != os.getuid():
            return
        with open(path) as file:
            lock(file)
            shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        # It is in use, or gone.
        pass


def load(shell: Any) -> None:
    folder = Folder()
    count = [0]

    def loadscope(line: str, cell: str) -> None:
        """Records the cell and explains why it waited: ``%%loadscope [-o FILE] [--previews N] [--live] [NAME]``.

        The recording is in the variable ``NAME``, by default ``run``. Without ``-o`` its file is deleted when the kernel ends.
        With ``--live`` the window is shown under the cell while the cell runs.
        """
        path, previews, live, name = arguments_of(line)
        if path is None:
            count[0] += 1
            path = os.path.join(folder.name, "run-%d.jsonl.zst" % count[0])
        with printed():
            recording: Recording = start(path, force=True, previews=previews, live=live)
        try:
            error = error_of(shell, cell)
        finally:
            with printed():
                recording.stop()
            shell.user_ns[name or "run"] = recording
        if recording.path is not None:
            from IPython.display import Markdown, display

            display(Markdown(recording._repr_markdown_() or ""))
        if error is not None:
            # IPython shows it here, with the traceback of the cell.
            raise error

    loadscope.folder = folder  # type: ignore[attr-defined]
    shell.register_magic_function(loadscope, "cell", "loadscope")


def unload(shell: Any) -> None:
    magic = shell.magics_manager.magics["cell"].pop("loadscope", None)
    if magic is not None:
        magic.folder.cleanup()
