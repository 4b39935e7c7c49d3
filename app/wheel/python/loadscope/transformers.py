"""A callback for the ``Trainer`` of transformers that records ``train`` and logs whether it waited for data.

::

    from loadscope.transformers import LoadscopeCallback

    LoadscopeCallback.add_to(trainer)
    trainer.train()

At the end, all integrations of the trainer receive ``loadscope/wait_share`` (0 to 1), ``loadscope/waited_seconds`` and
``loadscope/samples_per_second`` of the loader that training waited for longest, and the verdict as text. Training
and evaluation have their own: ``loadscope/train/wait_share``, ``loadscope/val/wait_share``. The verdict is also
printed, with the name of the loader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional

from ._figures import Path, figures, of_rank, tell_roles, tell_running, tell_text
from ._options import Epochs, Size, Time
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
        last: keep only this last part in full, such as ``"30m"``. For a job of days.
        max_size: limit the size of the recording, such as ``"2GB"``.
        skip_first: skip so many batches of each loader, while caches fill.
        epochs: record only these epochs of each loader, counted from 0: ``3``, ``[0, 10]`` or ``range(2, 6)``.

    Attributes:
        recording: the :class:`loadscope.Recording`, from the start of ``train`` on.
    """

    def __init__(
        self,
        trainer: Any,
        path: Path = None,
        *,
        force: bool = False,
        previews: int = 0,
        last: Optional[Time] = None,
        max_size: Optional[Size] = None,
        skip_first: int = 0,
        epochs: Optional[Epochs] = None,
    ) -> None:
        self.trainer = trainer
        self.path = path
        self.arguments: Dict[str, Any] = {
            "force": force, "previews": previews, "last": last, "max_size": max_size, "skip_first": skip_first, "epochs": epochs,
        }  # fmt: skip
        self.recording: Optional[Recording] = None

    @classmethod
    def add_to(cls, trainer: Any, path: Path = None, **arguments: Any) -> "LoadscopeCallback":
        """Creates a callback and puts it before the other callbacks of ``trainer``. The arguments are those of the class."""
        callback = cls(trainer, path, **arguments)
        trainer.callback_handler.callbacks.insert(0, callback)
        return callback

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        path = of_rank(self.path, args.process_index)
        self.recording = start(path, **self.arguments)
        tell_roles(self.recording, lambda loader: role_of(self.trainer, loader))

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


def role_of(trainer: Any, loader: Any) -> Optional[str]:
    """The role of a loader: ``val`` during an evaluation, ``train`` for the training set."""
    if getattr(trainer.control, "should_evaluate", False):
        return "val"
    train, other = trainer.train_dataset, trainer.eval_dataset
    others = list(other.values()) if isinstance(other, dict) else [other]
    if is_like(loader.dataset, train):
        # Before the first step an evaluation of the same data cannot be distinguished.
        return "train"
    return "val" if any(is_like(loader.dataset, one) for one in others) else None


def is_like(dataset: Any, other: Any) -> bool:
    """True for a dataset, also if the trainer has dropped unused columns."""
    if dataset is other:
        return True
    sized = hasattr(dataset, "column_names") and hasattr(other, "column_names")
    return sized and type(dataset) is type(other) and hasattr(dataset, "__len__") and len(dataset) == len(other)
