"""A callback for Lightning: records ``fit`` and logs whether it waited for data.

::

    from loadscope.lightning import LoadscopeCallback

    trainer = Trainer(callbacks=[LoadscopeCallback()])
    trainer.fit(model, loader)

Logged at the end, to every logger of the trainer: ``loadscope/wait_share`` (0 to 1), ``loadscope/waited_seconds``,
``loadscope/samples_per_second``, of the loader that was waited for most, and the verdict as a text.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Optional

from ._figures import VERDICT, Path, figures, of_rank, tell_text
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


class LoadscopeCallback(Callback):  # type: ignore[misc]
    """Records ``fit``.

    Args:
        path: the file; by default ``run.jsonl.zst``, or the next number that is free. Ranks beside the first add theirs to the name.
        force: replace a file that is there.
        previews: keep up to so many small pictures of a batch, about once a second.

    Attributes:
        recording: the :class:`loadscope.Recording`, once ``fit`` has begun.
    """

    def __init__(self, path: Path = None, *, force: bool = False, previews: int = 0) -> None:
        super().__init__()
        self.path, self.force, self.previews = path, force, previews
        self.recording: Optional[Recording] = None

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
        path = of_rank(self.path, trainer.global_rank)
        self.recording = start(path, force=self.force, previews=self.previews)

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
                warn("%s cannot be told the verdict: %s" % (type(logger).__name__, error))

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        if self.recording is not None:
            self.recording.stop()

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if self.recording is not None:
            self.recording.stop()


def tell(logger: Any, verdict: str, step: int) -> None:
    """The verdict, in the way of each kind of logger."""
    kind = type(logger).__name__
    if kind == "TensorBoardLogger":
        tell_text(logger.experiment, verdict, step)
    elif kind == "WandbLogger":
        logger.experiment.summary[VERDICT] = verdict
    elif kind == "MLFlowLogger":
        logger.experiment.set_tag(logger.run_id, VERDICT, verdict)
    elif kind == "CometLogger":
        logger.experiment.log_other(VERDICT, verdict)
