"""A heavy tail: most samples are there in 2 ms, one in 25 takes 60 ms and more. Small batches, a short step."""

import time

import numpy as np
import torch
from torch.utils.data import Dataset

SAMPLES = 320


class Uneven(Dataset):
    def __init__(self):
        draw = np.random.default_rng(4)
        slow = draw.random(SAMPLES) < 0.04
        self.waits = np.where(slow, 0.06 * (1.0 + draw.pareto(3.0, SAMPLES)), draw.uniform(0.001, 0.003, SAMPLES))

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        time.sleep(self.waits[index])
        return torch.full((256,), float(index))


def make(_folder):
    return {
        "dataset": Uneven(),
        "loader": {"batch_size": 4, "shuffle": True},
        "epochs": 1,
        "step": lambda _batch: time.sleep(0.003),
    }
