"""Waiting for a network: objects of a store whose latencies are log-normal, then a little decompressing. A short step."""

import time
import zlib

import numpy as np
import torch
from torch.utils.data import Dataset

SAMPLES = 192


class Store(Dataset):
    def __init__(self):
        draw = np.random.default_rng(2)
        self.latencies = draw.lognormal(np.log(0.012), 0.5, SAMPLES)
        self.body = zlib.compress(draw.integers(0, 40, 3 * 64 * 64, dtype=np.uint8).tobytes())

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        time.sleep(self.latencies[index])
        pixels = np.frombuffer(zlib.decompress(self.body), np.uint8).reshape(3, 64, 64)
        return torch.from_numpy(pixels.astype(np.float32) / 255.0), index


def make(_folder):
    return {
        "dataset": Store(),
        "loader": {"batch_size": 8, "shuffle": True},
        "epochs": 1,
        "step": lambda _batch: time.sleep(0.002),
    }
