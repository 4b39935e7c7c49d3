"""The report and the window in a notebook: pages of ``loadscope`` in a frame."""

from __future__ import annotations

import html
import os
import sys
import tempfile
from typing import Any, Union

from ._binary import ask

# Maximum size of the window in a notebook, bytes. A notebook stores the page.
MOST = 30_000_000
# Height of the frame, in points.
HEIGHT = 680


def in_notebook() -> bool:
    """True in a notebook in a browser."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def page(path: Union[str, "os.PathLike[str]"], contents: bool = True) -> str:
    """The window with a recording as one HTML page.

    Raises:
        LoadscopeError: if the path is not a recording, or the program was built without the browser page.
    """
    with tempfile.TemporaryDirectory(prefix="loadscope-page-") as folder:
        out = os.path.join(folder, "run.html")
        without = [] if contents else ["--no-contents"]
        ask(["share", "--output", out, *without, "--", os.fspath(path)])
        with open(out, encoding="utf-8") as file:
            return file.read()


def report(path: Union[str, "os.PathLike[str]"]) -> str:
    """The report as one HTML page without scripts.

    Raises:
        LoadscopeError: if the path is not a recording.
    """
    with tempfile.TemporaryDirectory(prefix="loadscope-report-") as folder:
        out = os.path.join(folder, "report.html")
        ask(["report", "--html", out, "--", os.fspath(path)])
        with open(out, encoding="utf-8") as file:
            return file.read()


def report_frame(path: Union[str, "os.PathLike[str]"], height: int = HEIGHT) -> str:
    """The report in a sandboxed frame."""
    return framed(report(path), "", height)


def frame(path: Union[str, "os.PathLike[str]"], height: int = HEIGHT) -> str:
    """The window in a sandboxed frame."""
    text = page(path)
    if len(text) > MOST:
        text = page(path, contents=False)
    if len(text) > MOST:
        return "<p>The recording is too large for a notebook. To show it in a browser, run <code>loadscope view %s</code>.</p>" % (
            html.escape(os.fspath(path))
        )
    return framed(text, "allow-scripts allow-downloads", height)


def framed(text: str, allowed: str, height: int) -> str:
    """A page in a frame that is allowed nothing else."""
    return (
        '<div><iframe sandbox="%s" allow="clipboard-write" style="width: 100%%; height: %dpx; border: 1px solid #8884; '
        'border-radius: 4px" srcdoc="%s"></iframe></div>' % (allowed, int(height), html.escape(text, quote=True))
    )


def display_live(link: str, height: int = HEIGHT) -> Any:
    """Shows the live page of a running recording. Returns a display handle, or ``None`` outside a notebook."""
    if not in_notebook():
        return None
    from IPython.display import HTML, display

    text = '<div><iframe src="%s" style="width: 100%%; height: %dpx; border: 1px solid #8884; border-radius: 4px"></iframe></div>'
    return display(HTML(text % (html.escape(link, quote=True), height)), display_id=True)
