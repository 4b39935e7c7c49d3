"""``%%loadscope``: records a cell of a notebook and explains why it waited."""

from __future__ import annotations

import os
import shlex
import tempfile
from typing import Any, List, Optional, Tuple

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


def load(shell: Any) -> None:
    folder = tempfile.TemporaryDirectory(prefix="loadscope-notebook-")
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
        recording: Recording = start(path, force=True, previews=previews, live=live)
        try:
            outcome = shell.run_cell(cell)
        finally:
            recording.stop()
            shell.user_ns[name or "run"] = recording
        if recording.path is not None:
            from IPython.display import Markdown, display

            display(Markdown(recording._repr_markdown_() or ""))
        # The error of the cell is raised here too.
        outcome.raise_error()

    loadscope.folder = folder  # type: ignore[attr-defined]
    shell.register_magic_function(loadscope, "cell", "loadscope")


def unload(shell: Any) -> None:
    magic = shell.magics_manager.magics["cell"].pop("loadscope", None)
    if magic is not None:
        magic.folder.cleanup()
