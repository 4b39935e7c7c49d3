"""Figures and verdict for the loggers of frameworks."""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, Optional, Tuple, Union

from ._binary import LoadscopeError
from ._recording import Recording, warn

Path = Union[str, "os.PathLike[str]", None]
VERDICT = "loadscope/verdict"


def figures(recording: Recording) -> Optional[Tuple[Dict[str, float], str]]:
    """Figures and verdict of the loader that training waited for longest. ``None`` if nothing was recorded."""
    if recording.path is None:
        return None
    try:
        report = recording.report()
    except LoadscopeError as error:
        warn("no figures are logged: %s" % error)
        return None
    seconds, waited = report["run_seconds"], report["waited_seconds"] or 0.0
    numbers = {
        "loadscope/wait_share": waited / seconds if seconds else 0.0,
        "loadscope/waited_seconds": waited,
        "loadscope/samples_per_second": report["summary"]["samples_per_second"],
    }
    return numbers, str(report["verdict"]["text"])


def of_rank(path: Path, rank: int) -> Optional[str]:
    """The output file of a rank. Each rank has its own."""
    if path is None:
        return None
    text = os.fspath(path)
    if rank == 0:
        return text
    for ending in (".jsonl.zst", ".jsonl"):
        if text.endswith(ending):
            return "%s.rank%d%s" % (text[: -len(ending)], rank, ending)
    return "%s.rank%d" % (text, rank)


def tell_running(verdict: str) -> None:
    """Sends the verdict to the active runs of Weights & Biases and MLflow."""
    wandb, mlflow = sys.modules.get("wandb"), sys.modules.get("mlflow")
    run = getattr(wandb, "run", None)
    if run is not None:
        run.summary[VERDICT] = verdict
    if mlflow is not None and mlflow.active_run() is not None:
        mlflow.set_tag(VERDICT, verdict)


def tell_text(writer: Any, verdict: str, step: int) -> None:
    """Sends the verdict to a writer of TensorBoard."""
    if hasattr(writer, "add_text"):
        writer.add_text(VERDICT, verdict, step)
