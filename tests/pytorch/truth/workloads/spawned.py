"""Spawned workers: each imports the program and PyTorch anew, in each of two epochs. Samples compute and wait a little."""

import time

import numpy as np
import torch
from torch.utils.data import Dataset

SAMPLES = 240


class Signals(Dataset):
    def __init__(self):
        self.signals = np.random.default_rng(10).normal(0, 1, (SAMPLES, 4096)).astype(np.float32)

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        time.sleep(0.002)
        smooth = np.convolve(self.signals[index], np.ones(200, np.float32) / 200.0, "same")
        return torch.from_numpy(np.sort(smooth)), index


def make(_folder):
    return {
        "dataset": Signals(),
        "loader": {"batch_size": 8, "shuffle": True, "multiprocessing_context": "spawn"},
        "epochs": 2,
        "step": lambda _batch: time.sleep(0.002),
    }
