"""A callback for the ``Trainer`` of transformers that records ``train`` and logs whether it waited for data.

::

    from loadscope.transformers import LoadscopeCallback

    LoadscopeCallback.add_to(trainer)
    trainer.train()

At the end, all integrations of the trainer receive ``loadscope/wait_share`` (0 to 1), ``loadscope/waited_seconds``,
``loadscope/samples_per_second``, and the verdict as text. The figures are those of the loader that training waited for longest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from ._figures import Path, figures, of_rank, tell_running, tell_text
from ._recording import Recording, start, warn

if TYPE_CHECKING:
    TrainerCallback = Any
else:
    from transformers import TrainerCallback

__all__ = ["LoadscopeCallback"]


class LoadscopeCallback(TrainerCallback):  # type: ignore[misc]
    """Records ``train``. :meth:`add_to` puts it before the reporting callbacks, which close at the end.

    Args:
        trainer: the ``Trainer``.
        path: the output file, by default ``run.jsonl.zst``, then ``run-2.jsonl.zst``. Ranks other than 0 add their number to the name.
        force: replace an existing file.
        previews: number of images and waveforms to keep of a batch, about once per second, at most 64.

    Attributes:
        recording: the :class:`loadscope.Recording`, from the start of ``train`` on.
    """

    def __init__(self, trainer: Any, path: Path = None, *, force: bool = False, previews: int = 0) -> None:
        self.trainer = trainer
        self.path, self.force, self.previews = path, force, previews
        self.recording: Optional[Recording] = None

    @classmethod
    def add_to(cls, trainer: Any, path: Path = None, *, force: bool = False, previews: int = 0) -> "LoadscopeCallback":
        """Creates a callback and puts it before the other callbacks of ``trainer``."""
        callback = cls(trainer, path, force=force, previews=previews)
        trainer.callback_handler.callbacks.insert(0, callback)
        return callback

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        path = of_rank(self.path, args.process_index)
        self.recording = start(path, force=self.force, previews=self.previews)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.recording is None:
            return
        self.recording.stop()
        told = figures(self.recording) if state.is_world_process_zero else None
        if told is None:
            return
        numbers, verdict = told
        try:
            self.trainer.log(numbers)
            for callback in self.trainer.callback_handler.callbacks:
                tell_text(getattr(callback, "tb_writer", None), verdict, state.global_step)
            tell_running(verdict)
        except Exception as error:
            warn("the verdict cannot be logged: %s" % error)
