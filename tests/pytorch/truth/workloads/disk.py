"""Waiting for a disk: small files behind a slow one, a gamma-distributed wait for each. The step waits as for a GPU."""

import time

import numpy as np
import torch
from torch.utils.data import Dataset

SAMPLES = 256


class Files(Dataset):
    def __init__(self):
        self.waits = np.random.default_rng(1).gamma(16.0, 0.008 / 16.0, SAMPLES)

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        time.sleep(self.waits[index])
        return torch.full((3, 32, 32), float(index)), index % 10


def make(_folder):
    return {
        "dataset": Files(),
        "loader": {"batch_size": 8, "shuffle": True},
        "epochs": 1,
        "step": lambda _batch: time.sleep(0.006),
    }
