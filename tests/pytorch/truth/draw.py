"""Draws random workloads: costs of samples, batches and steps. Constants of Loadscope may be fitted on seeds below 1000."""

import math
import random

KINDS = ["waiting", "computing in Python", "computing in C"]


def log_uniform(rng, low, high):
    return low * (high / low) ** rng.random()


def drawn(seed):
    """Draws the properties of a workload. The samples of a run take up to 3 s in one process."""
    rng = random.Random(seed)
    batch_size = rng.choice([1, 4, 8, 16, 32])
    kind = rng.choice(KINDS)
    spread, tail, tail_factor = rng.choice([0.02, 0.2, 0.6]), rng.choice([0, 0, 0.02]), rng.uniform(5, 20)
    epochs = rng.choice([1, 1, 2, 3])
    seconds = rng.uniform(1, 3)
    mean = math.exp(spread**2 / 2) * (1 + tail * (tail_factor - 1))
    # An epoch has at least 8 batches.
    cost = min(log_uniform(rng, 0.0001, 0.02), seconds / (8 * epochs * batch_size * mean))
    size = int(log_uniform(rng, 100, 1_000_000))
    # Batches of more than 32 MB would measure the host's shared memory only.
    size = min(size, 32_000_000 // batch_size)
    per_batch = cost * mean * batch_size
    step = log_uniform(rng, 0.1, 1.5) * per_batch
    collate = rng.choice([0, 0, 0.2 * per_batch, per_batch])
    batches = max(8, min(400, int(seconds / (per_batch + collate) / epochs)))
    return {
        "batch_size": batch_size,
        "kind": kind,
        "cost": cost,
        "spread": spread,
        "tail": tail,
        "tail_factor": tail_factor,
        "bytes": size,
        "made": rng.choice(["copied", "computed", "zeros"]),
        "collate": collate,
        "step": step,
        "step_kind": rng.choice(KINDS),
        "epochs": epochs,
        "batches": batches,
        "context": rng.choice(["fork", "fork", "fork", "spawn", "forkserver"]),
        "recorded": rng.choice([0, 1, 2, 2, 4]),
    }


def settings(seed):
    """Draws the recorded setting, and settings to forecast, as in `settings.py`."""
    own, rng = drawn(seed), random.Random(seed + 0.5)
    options = ["0", "1", "2", "3", "4", "6", "8", "1/1", "2/4", "4/1", "4/4"]
    options += ["2/p", "4/p"] if own["epochs"] > 1 else []
    tried = [one for one in options if one != str(own["recorded"])]
    return str(own["recorded"]), rng.sample(tried, 5)


def title(seed):
    own = drawn(seed)
    collate = ", collate %.1f ms" % (1e3 * own["collate"]) if own["collate"] else ""
    return "%s %.1f ms (spread %.2f, tail %.2f), %d bytes %s, batches of %d%s, step %s %.1f ms, %d epochs of %d batches, %s" % (
        own["kind"][0].upper() + own["kind"][1:], 1e3 * own["cost"], own["spread"], own["tail"], own["bytes"], own["made"], own["batch_size"], collate,
        own["step_kind"], 1e3 * own["step"], own["epochs"], own["batches"], own["context"])
