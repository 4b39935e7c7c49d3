"""A callback for Lightning that records ``fit`` and logs whether it waited for data.

::

    from loadscope.lightning import LoadscopeCallback

    trainer = Trainer(callbacks=[LoadscopeCallback()])
    trainer.fit(model, loader)

At the end, every logger of the trainer receives ``loadscope/wait_share`` (0 to 1), ``loadscope/waited_seconds`` and
``loadscope/samples_per_second`` of the loader that training waited for longest, and the verdict as text. Training
and validation have their own: ``loadscope/train/wait_share``, ``loadscope/val/wait_share``. The verdict is also
printed, with the name of the loader.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Dict, Optional

from ._figures import VERDICT, Path, figures, of_rank, tell_roles, tell_text
from ._options import Epochs, Size, Time
from ._recording import Recording, start, warn

if TYPE_CHECKING:
    Callback = Any
elif "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules:
    from pytorch_lightning import Callback
else:
    try:
        from lightning.pytorch import Callback
    except ImportError:
        from pytorch_lightning import Callback

__all__ = ["LoadscopeCallback"]

# Roles of loaders by the stage of the trainer.
ROLES = {"train": "train", "sanity_check": "val", "validate": "val", "test": "test", "predict": "predict"}


class LoadscopeCallback(Callback):  # type: ignore[misc]
    """Records ``fit``.

    Args:
        path: the output file, by default ``run.jsonl.zst``, then ``run-2.jsonl.zst``. Ranks other than 0 add their number to the name.
        force: replace an existing file.
        previews: number of images and waveforms to keep of a batch, about once per second, at most 64.
        last: keep only this last part in full, such as ``"30m"``. For a job of days.
        max_size: limit the size of the recording, such as ``"2GB"``.
        skip_first: skip so many batches of each loader, while caches fill.
        epochs: record only these epochs of each loader, counted from 0: ``3``, ``[0, 10]`` or ``range(2, 6)``.

    Attributes:
        recording: the :class:`loadscope.Recording`, from the start of ``fit`` on.
    """

    def __init__(
        self,
        path: Path = None,
        *,
        force: bool = False,
        previews: int = 0,
        last: Optional[Time] = None,
        max_size: Optional[Size] = None,
        skip_first: int = 0,
        epochs: Optional[Epochs] = None,
    ) -> None:
        super().__init__()
        self.path = path
        self.arguments: Dict[str, Any] = {
            "force": force, "previews": previews, "last": last, "max_size": max_size, "skip_first": skip_first, "epochs": epochs,
        }  # fmt: skip
        self.recording: Optional[Recording] = None

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        path = of_rank(self.path, trainer.global_rank)
        self.recording = start(path, **self.arguments)
        tell_roles(self.recording, lambda loader: ROLES.get(str(getattr(trainer.state.stage, "value", ""))))

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        if self.recording is None:
            return
        told = figures(self.recording.stop()) if trainer.is_global_zero else None
        if told is None:
            return
        numbers, verdict = told
        for logger in trainer.loggers:
            try:
                logger.log_metrics(numbers, step=trainer.global_step)
                tell(logger, verdict, trainer.global_step)
            except Exception as error:
                warn("the verdict cannot be logged to %s: %s" % (type(logger).__name__, error))

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        if self.recording is not None:
            self.recording.stop()

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if self.recording is not None:
            self.recording.stop()


def tell(logger: Any, verdict: str, step: int) -> None:
    """Sends the verdict to a logger by its own API."""
    kind = type(logger).__name__
    if kind == "TensorBoardLogger":
        tell_text(logger.experiment, verdict, step)
    elif kind == "WandbLogger":
        logger.experiment.summary[VERDICT] = verdict
    elif kind == "MLFlowLogger":
        logger.experiment.set_tag(logger.run_id, VERDICT, verdict)
    elif kind == "CometLogger":
        logger.experiment.log_other(VERDICT, verdict)
