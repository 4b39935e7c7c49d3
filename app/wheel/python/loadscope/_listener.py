"""The program ``loadscope`` that receives the events of a recording."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import time
from typing import Any, Dict

from ._binary import LoadscopeError, binary, environment, in_python
from ._options import Options

# Timeouts for the listener, seconds: to send its address, and to complete the recording.
BEGINNING = 20.0
ENDING = 60.0
# Shell command that starts the listener. The listener is not a child of the program, which may wait for, count or end its children.
APART = 'exec 3<&0; "$@" <&3 3<&- &'


class Listener:
    """The program ``loadscope`` that receives the events of this process."""

    def __init__(self, options: Options) -> None:
        if os.name != "posix":
            raise LoadscopeError("recording from inside a program needs Linux or macOS. Use `loadscope record -- python …`.")
        command = [binary(), "listen", str(os.getpid()), *options.command()]
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
                raise LoadscopeError("the recorder did not answer within %d s. Use `loadscope record -- python …`." % patience)
            new = os.read(self.output.fileno(), 65536)
            if not new:
                raise LoadscopeError(self.complaint() or "the recorder ended without a message. Use `loadscope record -- python …`.")
            self.rest += new
        line, _, self.rest = self.rest.partition(b"\n")
        return dict(json.loads(line.decode("utf-8")))

    def complaint(self) -> str:
        self.said.seek(0)
        text = self.said.read().decode("utf-8", "replace").strip()
        return in_python(text[len("loadscope: ") :] if text.startswith("loadscope: ") else text)

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
