"""For accelerate: records a part of a program and logs whether it waited for data.

::

    from loadscope.accelerate import record

    with record(accelerator):
        train()

Logged at the end, to all trackers of the accelerator: ``loadscope/wait_share`` (0 to 1), ``loadscope/waited_seconds``,
``loadscope/samples_per_second``, of the loader that was waited for most, and the verdict as a text.
"""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Optional

from ._figures import Path, figures, of_rank, tell_running, tell_text
from ._recording import Recording, start, warn

__all__ = ["record"]


@contextlib.contextmanager
def record(
    accelerator: Any, path: Path = None, *, force: bool = False, previews: int = 0, step: Optional[int] = None
) -> Iterator[Recording]:
    """Records what is done inside, and logs it when that is over.

    Args:
        accelerator: the ``Accelerator``; it logs where ``init_trackers`` was called.
        path: the file; by default ``run.jsonl.zst``, or the next number that is free. Ranks beside the first add theirs to the name.
        force: replace a file that is there.
        previews: keep up to so many small pictures of a batch, about once a second.
        step: the step under which it is logged.
    """
    recording = start(of_rank(path, accelerator.process_index), force=force, previews=previews)
    try:
        yield recording
    finally:
        recording.stop()
        if accelerator.is_main_process:
            log(accelerator, recording, step)


def log(accelerator: Any, recording: Recording, step: Optional[int]) -> None:
    told = figures(recording)
    if told is None:
        return
    numbers, verdict = told
    try:
        accelerator.log(numbers, step=step)
        for tracker in accelerator.trackers:
            if tracker.name == "tensorboard":
                tell_text(tracker.tracker, verdict, step or 0)
        tell_running(verdict)
    except Exception as error:
        warn("the trackers cannot be told the verdict: %s" % error)
