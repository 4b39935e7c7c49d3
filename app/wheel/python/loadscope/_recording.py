"""Recording inside of a program that runs: the same probe as ``loadscope record`` brings in, heard by the program ``loadscope``."""

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

# Seconds for the listener to say where it listens, and for it to write what it has heard.
BEGINNING = 20.0
ENDING = 60.0
# Where the probe is; a folder that can stand in PYTHONPATH.
PROBE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_probe")
# What the listener is started through: it is to be no child of the program, which may wait for its children, count or end them.
APART = 'exec 3<&0; "$@" <&3 3<&- &'


def warn(text: str) -> None:
    """Says what went wrong. Where warnings are errors the program goes on all the same."""
    text = "loadscope: " + text
    # The line of the program that called us.
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
    """A recording under way, or one that has ended.

    Attributes:
        path: the file, or ``None`` if nothing was recorded.
        loaders: how many loaders were seen; known at the end.
        batches: how many batches the program got; known at the end.
        problem: why it was not recorded, or not completely; ``None`` if it was.
        link: where a browser on this host shows it live while it is under way; ``None`` if that was not asked for.
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
        """True while it is under way, in the process that began it."""
        return self._listener is not None and self._pid == os.getpid()

    def stop(self) -> "Recording":
        """Ends the recording; the program goes on. Ending it twice changes nothing."""
        with LOCK:
            if self.is_recording:
                end(self)
                self._show_the_end()
        return self

    def _show_live(self) -> None:
        """In a notebook the window stands under the cell while it runs; elsewhere its link is printed."""
        if self.link is None:
            return
        from ._page import display_live

        self._display = display_live(self.link)
        if self._display is None:
            print("loadscope: %s" % self.link, file=sys.stderr)

    def _show_the_end(self) -> None:
        """What was live has no server any more: the recording itself is shown in its place."""
        display, self._display = self._display, None
        if display is not None:
            from IPython.display import HTML, Markdown

            page = self._repr_html_()
            display.update(Markdown(self._repr_markdown_()) if page is None else HTML(page))

    def _file(self) -> str:
        if self.is_recording:
            raise LoadscopeError("the recording is under way: end it first, by stop() or by leaving the `with`")
        if self.path is None:
            raise LoadscopeError("nothing was recorded: %s" % (self.problem or "no DataLoader was iterated"))
        return self.path

    def read(self, loader: Optional[str] = None) -> "Any":
        """Its tables; see :func:`loadscope.read`."""
        from ._results import read

        return read(self._file(), loader)

    def report(self, loader: Optional[str] = None) -> Dict[str, Any]:
        """Its report; see :func:`loadscope.report`."""
        from ._results import report

        return report(self._file(), loader)

    @property
    def verdict(self) -> str:
        """Does training wait, and why? In a sentence or two."""
        from ._results import verdict

        return verdict(self._file())

    def show(self, inline: Optional[bool] = None, height: Optional[int] = None) -> None:
        """Shows it; see :func:`loadscope.show`."""
        from ._results import show

        show(self._file(), inline, height)

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *error: Any) -> None:
        self.stop()

    def __repr__(self) -> str:
        if self.is_recording:
            return "<loadscope.Recording under way>"
        if self.path is None:
            return "<loadscope.Recording of nothing: %s>" % (self.problem or "no DataLoader was iterated")
        return "<loadscope.Recording %r: %d loaders, %d batches>" % (self.path, self.loaders, self.batches)

    def _repr_html_(self) -> Optional[str]:
        """In a notebook: the window, where the program has the page."""
        from ._page import frame

        try:
            return frame(self._file())
        except LoadscopeError:
            return None

    def _repr_markdown_(self) -> Optional[str]:
        """In a notebook: the report, where the window is not shown."""
        from ._results import markdown

        try:
            return markdown(self._file())
        except LoadscopeError as error:
            return str(error)


class Listener:
    """The program ``loadscope`` that hears what this process tells."""

    def __init__(self, output: Optional[str], force: bool, previews: int, live: bool) -> None:
        if os.name != "posix":
            raise LoadscopeError("a program that runs can be recorded on Linux and macOS only; use `loadscope record -- python …`")
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
        """The next line that it says."""
        until = time.monotonic() + patience
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.output], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise LoadscopeError("the recorder does not answer")
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
        """It is enough: what was recorded."""
        try:
            # Not by closing it alone: workers that were forked have it open as well.
            self.input.write(b"\n")
            self.input.flush()
        except OSError:
            # It has ended; what it has said is still to be read.
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


# One recording at a time in a process.
LOCK = threading.RLock()
CURRENT: Optional[Recording] = None
# Variables that are set while it is recorded, and what they were.
BEFORE: Dict[str, Optional[str]] = {}


def probe_module() -> Any:
    """The probe, which begins to tell when it is imported, or again."""
    known = sys.modules.get("loadscope_probe")
    if known is not None:
        known.install()
        return known
    spec = importlib.util.spec_from_file_location("loadscope_probe", os.path.join(PROBE, "loadscope_probe.py"))
    if spec is None or spec.loader is None:
        raise LoadscopeError("the package is not complete: install it again")
    module = importlib.util.module_from_spec(spec)
    sys.modules["loadscope_probe"] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop("loadscope_probe", None)
        raise
    return module


def set_variables(address: Dict[str, Any], previews: int) -> None:
    """For the probe here, and in processes that are started meanwhile."""
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
        raise LoadscopeError("this process is being recorded already; end that recording first")
    if CURRENT is not None and CURRENT._listener is not None:
        # A fork of a process that is recorded is recorded with it.
        raise LoadscopeError("this process is recorded together with the one that started it")
    if is_recorded_by_another():
        raise LoadscopeError("this program is being recorded already, from outside")
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
        warn("it is recorded, but not shown live: %s" % listener.address["no_link"])
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
        recording.problem = ". ".join(troubles) or None
        if recording.problem:
            warn(recording.problem)
    except Exception as error:
        # What it has written until then is a recording.
        recording.path = path if path is not None and os.path.exists(path) else None
        recording.problem = "the recording may not be complete: %s" % error
        warn(recording.problem)


def start(
    path: "Union[str, os.PathLike[str], None]" = None, *, force: bool = False, previews: int = 0, live: bool = False
) -> Recording:
    """Begins to record every ``DataLoader`` of this process and of the processes that it starts.

    Loaders are recorded from their next ``iter(loader)`` on. The program goes on if it cannot be recorded: a warning says why.

    Args:
        path: the file, ending in ``.jsonl`` or ``.jsonl.zst``. By default ``run.jsonl.zst``, or the next number that is free.
        force: replace a file that is there.
        previews: keep up to so many small pictures of a batch, about once a second; 64 at most.
        live: show it while it is under way, in a browser on this host: in a notebook the window stands under the cell, elsewhere the
            link is printed.
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
    """Ends the recording that :func:`start` began, and returns it; ``None`` if there is none."""
    current = CURRENT
    if current is None or not current.is_recording:
        return None
    return current.stop()


class record:
    """Records a part of a program: as ``with record() as run:``, or as ``@record()`` over a function.

    With a function, its last recording is in its attribute ``recording``. Arguments as in :func:`start`.
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
