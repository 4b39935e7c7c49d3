"""Augmentation with NumPy: pictures in memory are cropped, mirrored, changed in color, given noise and normalised. A short step."""

import time

import numpy as np
import torch
from torch.utils.data import Dataset

SAMPLES = 320
MEAN = np.array([0.485, 0.456, 0.406], np.float32)
DEVIATION = np.array([0.229, 0.224, 0.225], np.float32)


class Augmented(Dataset):
    def __init__(self):
        self.pictures = np.random.default_rng(11).integers(0, 256, (64, 256, 256, 3), dtype=np.uint8)

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        draw = np.random.default_rng(index)
        top, left = draw.integers(0, 33, 2)
        picture = self.pictures[index % 64, top : top + 224, left : left + 224].astype(np.float32) / 255.0
        if draw.random() < 0.5:
            picture = picture[:, ::-1]
        picture = picture * draw.uniform(0.8, 1.2) + draw.uniform(-0.1, 0.1)
        picture = picture + draw.normal(0.0, 0.02, picture.shape).astype(np.float32)
        picture = (np.clip(picture, 0.0, 1.0) - MEAN) / DEVIATION
        return torch.from_numpy(np.ascontiguousarray(picture.transpose(2, 0, 1))), index % 10


def make(_folder):
    return {
        "dataset": Augmented(),
        "loader": {"batch_size": 16, "shuffle": True},
        "epochs": 1,
        "step": lambda _batch: time.sleep(0.005),
    }
