"""Records a part of an accelerate program and logs whether it waited for data.

::

    from loadscope.accelerate import record

    with record(accelerator):
        train()

At the end, all trackers of the accelerator receive ``loadscope/wait_share`` (0 to 1), ``loadscope/waited_seconds`` and
``loadscope/samples_per_second`` of the loader that training waited for longest, and the verdict as text. The verdict is also
printed, with the name of the loader.
"""

from __future__ import annotations

import contextlib
from typing import Any, Iterator, Optional

from ._figures import Path, figures, of_rank, tell_running, tell_text
from ._options import Epochs, Size, Time
from ._recording import Recording, start, warn

__all__ = ["record"]


@contextlib.contextmanager
def record(
    accelerator: Any,
    path: Path = None,
    *,
    force: bool = False,
    previews: int = 0,
    step: Optional[int] = None,
    last: Optional[Time] = None,
    max_size: Optional[Size] = None,
    skip_first: int = 0,
    epochs: Optional[Epochs] = None,
) -> Iterator[Recording]:
    """Records the ``with`` block, and logs the figures at its end.

    Args:
        accelerator: the ``Accelerator``. It logs if ``init_trackers`` was called.
        path: the output file, by default ``run.jsonl.zst``, then ``run-2.jsonl.zst``. Ranks other than 0 add their number to the name.
        force: replace an existing file.
        previews: number of images and waveforms to keep of a batch, about once per second, at most 64.
        last: keep only this last part in full, such as ``"30m"``. For a job of days.
        max_size: limit the size of the recording, such as ``"2GB"``.
        skip_first: skip so many batches of each loader, while caches fill.
        epochs: record only these epochs of each loader, counted from 0: ``3``, ``[0, 10]`` or ``range(2, 6)``.
        step: the step for the logged figures.
    """
    recording = start(
        of_rank(path, accelerator.process_index), force=force, previews=previews, last=last, max_size=max_size, skip_first=skip_first, epochs=epochs
    )
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
        warn("the verdict cannot be logged: %s" % error)
