"""Recording from inside a running program, with the same probe as ``loadscope record``."""

from __future__ import annotations

import atexit
import importlib.util
import os
import sys
import threading
import types
import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Union

from ._binary import LoadscopeError, reason
from ._listener import Listener
from ._options import Epochs, Options, Size, Time

if TYPE_CHECKING:
    from ._results import Tables

# Folder of the probe, for PYTHONPATH.
PROBE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_probe")


def warn(text: str) -> None:
    """Issues a warning. If warnings are errors, prints it instead, and the program continues."""
    text = "loadscope: " + text
    frame: "Optional[types.FrameType]" = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "loadscope":
        frame = frame.f_back
    place = ("sys", 1, "sys") if frame is None else (frame.f_code.co_filename, frame.f_lineno, frame.f_globals.get("__name__") or "")
    try:
        # With a registry of its own the warning is shown each time, also in the cell of a notebook that runs again.
        warnings.warn_explicit(text, RuntimeWarning, *place, registry={})
    except Warning:
        print(text, file=sys.stderr)


class Recording:
    """A running or finished recording.

    Attributes:
        path: the file, or ``None`` if nothing was recorded.
        loaders: number of loaders, set at the end.
        batches: number of batches that the program received, set at the end.
        problem: the reason of a missing or incomplete recording, or ``None``.
        link: URL of the live view on this host, or ``None`` without ``live``.
    """

    def __init__(self) -> None:
        self.path: Optional[str] = None
        self.loaders = 0
        self.batches = 0
        self.problem: Optional[str] = None
        self.link: Optional[str] = None
        self._display: Any = None
        self._listener: Optional[Listener] = None
        self._pid = os.getpid()

    @property
    def is_recording(self) -> bool:
        """True while the recording runs, in the process that started it."""
        return self._listener is not None and self._pid == os.getpid()

    def stop(self) -> "Recording":
        """Ends the recording. The program continues. A second call has no effect."""
        with LOCK:
            if self.is_recording:
                end(self)
                self._show_the_end()
        return self

    def _show_live(self) -> None:
        """Shows the window under the cell of a notebook. Prints its link outside a notebook."""
        if self.link is None:
            return
        from ._page import display_live

        self._display = display_live(self.link)
        if self._display is None:
            print("loadscope: %s" % self.link, file=sys.stderr)

    def _show_the_end(self) -> None:
        """Replaces the live page by the finished recording."""
        display, self._display = self._display, None
        if display is not None:
            from IPython.display import HTML, Markdown

            from ._page import frame

            try:
                display.update(HTML(frame(self._file())))
            except LoadscopeError:
                display.update(Markdown(self._repr_markdown_()))

    def _file(self) -> str:
        if self.is_recording:
            raise LoadscopeError("the recording is still running. End it first: call stop(), or leave the `with` block.")
        if self.path is None:
            raise LoadscopeError("nothing was recorded: %s" % (self.problem or "no DataLoader was iterated"))
        return self.path

    def read(self, loader: Optional[str] = None) -> "Tables":
        """The tables of the recording, see :func:`loadscope.read`."""
        from ._results import read

        return read(self._file(), loader)

    def report(self, loader: Optional[str] = None) -> Dict[str, Any]:
        """The report, see :func:`loadscope.report`."""
        from ._results import report

        return report(self._file(), loader)

    @property
    def verdict(self) -> str:
        """Whether and why training waits, in one or two sentences."""
        from ._results import verdict

        return verdict(self._file())

    def show(self, inline: Optional[bool] = None, height: Optional[int] = None) -> None:
        """Shows the recording, see :func:`loadscope.show`."""
        from ._results import show

        show(self._file(), inline, height)

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *error: Any) -> None:
        self.stop()

    def __repr__(self) -> str:
        if self.is_recording:
            return "<loadscope.Recording: running>"
        if self.path is None:
            return "<loadscope.Recording: empty, %s>" % (self.problem or "no DataLoader was iterated")
        from ._results import counted

        return "<loadscope.Recording %r: %s, %s>" % (self.path, counted(self.loaders, "loader"), counted(self.batches, "batch"))

    def _repr_html_(self) -> Optional[str]:
        """The report in a notebook. :meth:`show` shows the window."""
        from ._page import report_frame

        try:
            return report_frame(self._file())
        except LoadscopeError:
            return None

    def _repr_markdown_(self) -> Optional[str]:
        """The report where a notebook shows no HTML, or why there is none."""
        from ._results import markdown

        try:
            return markdown(self._file())
        except LoadscopeError as error:
            return str(error)


# A process has one recording at a time.
LOCK = threading.RLock()
CURRENT: Optional[Recording] = None
# Environment variables that a recording sets, with their previous values.
BEFORE: Dict[str, Optional[str]] = {}


def probe_module() -> Any:
    """The probe. It sends events from its import on, or from a repeated call on."""
    known = sys.modules.get("loadscope_probe")
    if known is not None:
        known.install()
        return known
    spec = importlib.util.spec_from_file_location("loadscope_probe", os.path.join(PROBE, "loadscope_probe.py"))
    if spec is None or spec.loader is None:
        raise LoadscopeError("the package loadscope is incomplete: its probe is missing. Reinstall the package.")
    module = importlib.util.module_from_spec(spec)
    sys.modules["loadscope_probe"] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop("loadscope_probe", None)
        raise
    return module


def set_variables(address: Dict[str, Any], previews: int) -> None:
    """Sets the environment for the probe in this process and in its child processes."""
    paths = [PROBE] + [path for path in [os.environ.get("PYTHONPATH")] if path]
    values = {
        "LOADSCOPE_PROBE_TO": address["to"],
        "LOADSCOPE_PROBE_TOKEN": address["token"],
        "LOADSCOPE_PROBE_PREVIEWS": str(previews),
        "PYTHONPATH": os.pathsep.join(paths),
    }
    for name, value in values.items():
        BEFORE[name] = os.environ.get(name)
        os.environ[name] = value


def restore_variables() -> None:
    for name, value in BEFORE.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    BEFORE.clear()


def is_recorded_by_another() -> bool:
    probe = sys.modules.get("loadscope_probe")
    return bool(os.environ.get("LOADSCOPE_PROBE_TO")) or bool(getattr(probe, "PLACED", None))


def begin(recording: Recording, options: Options) -> None:
    global CURRENT
    if CURRENT is not None and CURRENT.is_recording:
        raise LoadscopeError("this process is already being recorded. End that recording first: call loadscope.stop().")
    if CURRENT is not None and CURRENT._listener is not None:
        # A fork of a recorded process is part of its recording.
        raise LoadscopeError("this process is already recorded with its parent process. Start the recording in one of them only.")
    if is_recorded_by_another():
        raise LoadscopeError("this program is already being recorded by a `loadscope` command. Start the program without the command, or remove this call.")
    listener = Listener(options)
    waiting = getattr(sys.modules.get("loadscope._dormant"), "DORMANT", None)
    try:
        if waiting is not None:
            waiting.disarm()
        set_variables(listener.address, options.previews)
        probe_module()
    except BaseException:
        restore_variables()
        listener.close()
        raise
    recording._listener = listener
    recording.path = listener.address["recording"]
    recording.link = listener.address["link"]
    if listener.address["no_link"]:
        warn("recording without the live view: %s" % listener.address["no_link"])
    CURRENT = recording
    atexit.register(recording.stop)


def end(recording: Recording) -> None:
    global CURRENT
    listener, recording._listener = recording._listener, None
    CURRENT = None
    path, recording.path = recording.path, None
    recording.link = None
    assert listener is not None
    try:
        atexit.unregister(recording.stop)
        try:
            sys.modules["loadscope_probe"].leave()
        finally:
            restore_variables()
            waiting = getattr(sys.modules.get("loadscope._dormant"), "DORMANT", None)
            if waiting is not None:
                waiting.arm()
            seen = listener.end()
        recording.path = seen["recording"]
        recording.loaders, recording.batches = seen["loaders"], seen["batches"]
        troubles: List[str] = [text for text in [seen["nothing"], *seen["troubles"]] if text]
        if len(troubles) > 1:
            troubles = [text.rstrip(".") + "." for text in troubles]
        recording.problem = " ".join(troubles) or None
        if recording.problem:
            warn(recording.problem)
    except Exception as error:
        # The file is readable up to this point.
        recording.path = path if path is not None and os.path.exists(path) else None
        recording.problem = "the recording may be incomplete: %s" % reason(error)
        warn(recording.problem)


def start(
    path: "Union[str, os.PathLike[str], None]" = None,
    *,
    force: bool = False,
    previews: int = 0,
    live: bool = False,
    last: Optional[Time] = None,
    max_size: Optional[Size] = None,
    skip_first: int = 0,
    epochs: Optional[Epochs] = None,
) -> Recording:
    """Starts to record every ``DataLoader`` of this process and of its child processes.

    Each loader is recorded from its next ``iter(loader)`` on. If the recording fails, a warning gives the reason and the program continues.

    Args:
        path: the output file, ``.jsonl`` or ``.jsonl.zst``. By default ``run.jsonl.zst``, then ``run-2.jsonl.zst`` and so on.
        force: replace an existing file.
        previews: number of images and waveforms to keep of a batch, about once per second, at most 64.
        live: show the run live in a browser on this host. A notebook shows the window under the cell, other programs print the link.
        last: keep only this last part in full: seconds, a ``timedelta``, ``"30m"`` or ``"12h"``. Older data is reduced to sums per minute.
        max_size: limit the size of the recording: bytes, ``"200MB"`` or ``"2GB"``, at least 1 MB.
        skip_first: skip so many batches of each loader, while caches fill.
        epochs: record only these epochs of each loader, counted from 0: ``3``, ``[0, 10]`` or ``range(2, 6)``.
    """
    recording = Recording()
    try:
        options = Options(
            path, force=force, previews=previews, live=live, last=last, max_size=max_size, skip_first=skip_first, epochs=epochs
        )
        with LOCK:
            begin(recording, options)
            recording._show_live()
    except Exception as error:
        recording.problem = reason(error)
        warn("this is not recorded: %s" % recording.problem)
    return recording


def stop() -> Optional[Recording]:
    """Ends the recording of :func:`start` and returns it, or ``None`` without a recording."""
    current = CURRENT
    if current is None or not current.is_recording:
        return None
    return current.stop()
