"""Recording from inside a running program, with the same probe as ``loadscope record``."""

from __future__ import annotations

import atexit
import functools
import importlib.util
import inspect
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
import types
import warnings
from typing import Any, Callable, Dict, List, Optional, TypeVar, Union

from ._binary import LoadscopeError, binary, environment

Anything = TypeVar("Anything", bound=Callable[..., Any])

# Timeouts for the listener, seconds: to send its address, and to complete the recording.
BEGINNING = 20.0
ENDING = 60.0
# Folder of the probe, for PYTHONPATH.
PROBE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_probe")
# Shell command that starts the listener. The listener is not a child of the program, which may wait for, count or end its children.
APART = 'exec 3<&0; "$@" <&3 3<&- &'


def warn(text: str) -> None:
    """Issues a warning. If warnings are errors, prints it instead, and the program continues."""
    text = "loadscope: " + text
    # Depth of the caller in the program.
    depth = 2
    frame: "Optional[types.FrameType]" = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "loadscope":
        frame = frame.f_back
        depth += 1
    try:
        warnings.warn(text, RuntimeWarning, stacklevel=depth)
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

            page = self._repr_html_()
            display.update(Markdown(self._repr_markdown_()) if page is None else HTML(page))

    def _file(self) -> str:
        if self.is_recording:
            raise LoadscopeError("the recording is still running. End it first: call stop(), or leave the `with` block.")
        if self.path is None:
            raise LoadscopeError("nothing was recorded: %s" % (self.problem or "no DataLoader was iterated"))
        return self.path

    def read(self, loader: Optional[str] = None) -> "Any":
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
        return "<loadscope.Recording %r: %d loaders, %d batches>" % (self.path, self.loaders, self.batches)

    def _repr_html_(self) -> Optional[str]:
        """The window in a notebook, if the program has the browser page."""
        from ._page import frame

        try:
            return frame(self._file())
        except LoadscopeError:
            return None

    def _repr_markdown_(self) -> Optional[str]:
        """The report in a notebook, if the window is not shown."""
        from ._results import markdown

        try:
            return markdown(self._file())
        except LoadscopeError as error:
            return str(error)


class Listener:
    """The program ``loadscope`` that receives the events of this process."""

    def __init__(self, output: Optional[str], force: bool, previews: int, live: bool) -> None:
        if os.name != "posix":
            raise LoadscopeError("recording from inside a program needs Linux or macOS. Use `loadscope record -- python …`.")
        command = [binary(), "listen", str(os.getpid()), "--previews", str(previews)]
        if output is not None:
            command += ["--output", output]
        if force:
            command.append("--force")
        if live:
            command.append("--web")
        self.said = tempfile.TemporaryFile()
        started = subprocess.Popen(
            ["/bin/sh", "-c", APART, "sh", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
            env=environment(),
            # Ctrl-C is for the program.
            start_new_session=True,
        )
        assert started.stdin is not None and started.stdout is not None
        self.input, self.output = started.stdin, started.stdout
        self.rest = b""
        started.wait()
        try:
            self.address = self.line(BEGINNING)
        except BaseException:
            self.close()
            raise

    def line(self, patience: float) -> Dict[str, Any]:
        """The next line of its output."""
        until = time.monotonic() + patience
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.output], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise LoadscopeError("the recorder does not respond")
            new = os.read(self.output.fileno(), 65536)
            if not new:
                raise LoadscopeError(self.complaint() or "the recorder has ended")
            self.rest += new
        line, _, self.rest = self.rest.partition(b"\n")
        return dict(json.loads(line.decode("utf-8")))

    def complaint(self) -> str:
        self.said.seek(0)
        text = self.said.read().decode("utf-8", "replace").strip()
        return text[len("loadscope: ") :] if text.startswith("loadscope: ") else text

    def end(self) -> Dict[str, Any]:
        """Ends the listener and returns the summary of the recording."""
        try:
            # Closing the pipe is not enough, because forked workers have it open too.
            self.input.write(b"\n")
            self.input.flush()
        except OSError:
            # The listener has ended. Its output can still be read.
            pass
        try:
            return self.line(ENDING)
        finally:
            self.close()

    def close(self) -> None:
        for stream in (self.input, self.output, self.said):
            try:
                stream.close()
            except OSError:
                pass


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
        raise LoadscopeError("the package is incomplete. Install it again.")
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


def begin(recording: Recording, path: Optional[str], force: bool, previews: int, live: bool) -> None:
    global CURRENT
    if CURRENT is not None and CURRENT.is_recording:
        raise LoadscopeError("this process is already being recorded. End that recording first.")
    if CURRENT is not None and CURRENT._listener is not None:
        # A fork of a recorded process is part of its recording.
        raise LoadscopeError("this process is already recorded with its parent process")
    if is_recorded_by_another():
        raise LoadscopeError("this program is already being recorded by a `loadscope` command")
    listener = Listener(path, force, previews, live)
    waiting = getattr(sys.modules.get("loadscope._dormant"), "DORMANT", None)
    try:
        if waiting is not None:
            waiting.disarm()
        set_variables(listener.address, previews)
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
        recording.problem = "the recording may be incomplete: %s" % error
        warn(recording.problem)


def start(
    path: "Union[str, os.PathLike[str], None]" = None, *, force: bool = False, previews: int = 0, live: bool = False
) -> Recording:
    """Starts to record every ``DataLoader`` of this process and of its child processes.

    Each loader is recorded from its next ``iter(loader)`` on. If the recording fails, a warning gives the reason and the program continues.

    Args:
        path: the output file, ``.jsonl`` or ``.jsonl.zst``. By default ``run.jsonl.zst``, then ``run-2.jsonl.zst`` and so on.
        force: replace an existing file.
        previews: number of images and waveforms to keep of a batch, about once per second, at most 64.
        live: show the run live in a browser on this host. A notebook shows the window under the cell, other programs print the link.
    """
    recording = Recording()
    try:
        with LOCK:
            begin(recording, None if path is None else os.fspath(path), force, min(max(int(previews), 0), 64), live)
            recording._show_live()
    except Exception as error:
        recording.problem = str(error)
        warn("this is not recorded: %s" % error)
    return recording


def stop() -> Optional[Recording]:
    """Ends the recording of :func:`start` and returns it, or ``None`` without a recording."""
    current = CURRENT
    if current is None or not current.is_recording:
        return None
    return current.stop()


class record:
    """Records a part of a program, as ``with record() as run:`` or as the decorator ``@record()``.

    A decorated function has its last recording in the attribute ``recording``. The arguments are those of :func:`start`.
    """

    def __init__(
        self, path: "Union[str, os.PathLike[str], None]" = None, *, force: bool = False, previews: int = 0, live: bool = False
    ) -> None:
        self.arguments: Dict[str, Any] = {"path": path, "force": force, "previews": previews, "live": live}
        self.recordings: List[Recording] = []

    def __enter__(self) -> Recording:
        self.recordings.append(start(**self.arguments))
        return self.recordings[-1]

    def __exit__(self, *error: Any) -> None:
        self.recordings.pop().stop()

    def __call__(self, function: Anything) -> Anything:
        wrapper: Any
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def wrapper(*args: Any, **kwargs: Any) -> Any:
                with start(**self.arguments) as wrapper.recording:
                    return await function(*args, **kwargs)

        else:

            @functools.wraps(function)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                with start(**self.arguments) as wrapper.recording:
                    return function(*args, **kwargs)

        wrapper.recording = None
        return wrapper
