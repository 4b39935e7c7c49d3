"""Figures and verdict for the loggers of frameworks."""

from __future__ import annotations

import os
import sys
from typing import Any, Callable, Dict, Optional, Tuple, Union

from ._binary import LoadscopeError
from ._recording import Recording, warn

Path = Union[str, "os.PathLike[str]", None]
VERDICT = "loadscope/verdict"


def figures(recording: Recording) -> Optional[Tuple[Dict[str, float], str]]:
    """Figures of the loaders, and the verdict. ``None`` if nothing was recorded.

    ``loadscope/wait_share`` and the like are those of the loader that training waited for longest, ``loadscope/train/wait_share`` those of a role.
    """
    if recording.path is None:
        return None
    try:
        report = recording.report()
    except LoadscopeError as error:
        warn("no figures are logged: %s" % error)
        return None
    numbers = shares("loadscope", report["run_seconds"], report["waited_seconds"] or 0.0)
    numbers["loadscope/samples_per_second"] = report["summary"]["samples_per_second"]
    loaders = [report["loader"], *report["other_loaders"]]
    for role in sorted({loader["role"] for loader in loaders if loader.get("role")}):
        alike = [loader for loader in loaders if loader.get("role") == role]
        seconds, waited = (sum(loader[key] for loader in alike) for key in ("seconds", "waited_seconds"))
        numbers.update(shares("loadscope/%s" % role, seconds, waited))
    verdict = str(report["verdict"]["text"])
    if len(loaders) > 1:
        verdict = "%s: %s" % (report["loader"]["name"], verdict)
    print("loadscope: %s (%s)" % (verdict, recording.path), file=sys.stderr)
    return numbers, verdict


def shares(name: str, seconds: float, waited: float) -> Dict[str, float]:
    return {"%s/wait_share" % name: waited / seconds if seconds else 0.0, "%s/waited_seconds" % name: waited}


def tell_roles(recording: Recording, role_of: Callable[[Any], Optional[str]]) -> None:
    """Names the role of each loader in the recording, as the framework knows it: ``train`` or ``val``."""
    probe = sys.modules.get("loadscope_probe")
    if recording.is_recording and probe is not None:
        probe.PROBE.role_of = role_of


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
