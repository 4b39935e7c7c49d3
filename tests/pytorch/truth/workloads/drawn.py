"""A random workload. `draw.py` decides its properties."""

import multiprocessing
import random
import time
import zlib

import numpy as np
import torch
from torch.utils.data import Dataset

import draw

PACKED = zlib.compress(bytes(20_000))


def wait(seconds):
    time.sleep(seconds)


def compute_in_python(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def compute_in_c(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        zlib.decompress(PACKED)


WORK = dict(zip(draw.KINDS, (wait, compute_in_python, compute_in_c)))


class Drawn(Dataset):
    """Samples with random costs, which depend on the index alone."""

    def __init__(self, own):
        self.own = own
        self.base = np.random.default_rng(3).integers(0, 255, own["bytes"], dtype=np.uint8)

    def __len__(self):
        return self.own["batches"] * self.own["batch_size"]

    def __getitem__(self, index):
        own, rng = self.own, random.Random(index)
        scale = rng.lognormvariate(0, own["spread"]) * (own["tail_factor"] if rng.random() < own["tail"] else 1)
        WORK[own["kind"]](own["cost"] * scale)
        return self.content(), index

    def content(self):
        own = self.own
        if own["made"] == "copied":
            return torch.from_numpy(self.base.copy())
        if own["made"] == "computed":
            return torch.from_numpy(self.base * 2 + 1)
        return torch.zeros(own["bytes"], dtype=torch.uint8)


class Collate:
    def __init__(self, cost):
        self.cost = cost

    def __call__(self, samples):
        compute_in_python(self.cost)
        return torch.utils.data.default_collate(samples)


def make(seed):
    own = draw.drawn(seed)
    # For all processes of the program: `multiprocessing_context` is refused without workers.
    multiprocessing.set_start_method(own["context"])
    return {
        "dataset": Drawn(own),
        "loader": {
            "batch_size": own["batch_size"],
            "shuffle": True,
            "collate_fn": Collate(own["collate"]) if own["collate"] else None,
        },
        "epochs": own["epochs"],
        "step": lambda _batch: WORK[own["step_kind"]](own["step"]),
    }
