"""Large tensors: crops of volumes in memory, 3 MB a sample, normalised; 25 MB a batch go through shared memory. The step looks at all of it."""

import numpy as np
import torch
from torch.utils.data import Dataset

SAMPLES = 320


class Volumes(Dataset):
    def __init__(self):
        self.volume = np.random.default_rng(5).integers(0, 4096, (64, 560, 560), dtype=np.int16)

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        at = index % 48
        crop = self.volume[index % 61 : index % 61 + 3, at : at + 512, at : at + 512].astype(np.float32)
        crop -= 2048.0
        crop /= 1024.0
        return torch.from_numpy(crop)


def make(_folder):
    return {
        "dataset": Volumes(),
        "loader": {"batch_size": 8, "shuffle": True},
        "epochs": 1,
        "step": lambda batch: batch.mean().item(),
    }
