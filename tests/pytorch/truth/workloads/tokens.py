"""Memory-mapped tokens: windows of 512 from a file of 64 MB, as language models are trained. The step looks at all tokens."""

import numpy as np
import torch
from torch.utils.data import Dataset

TOKENS, WINDOW, SAMPLES = 32 << 20, 512, 40_000


def prepare(folder):
    np.random.default_rng(13).integers(0, 50_257, TOKENS, dtype=np.uint16).tofile(folder / "tokens.bin")


class Windows(Dataset):
    def __init__(self, folder):
        self.tokens = np.memmap(folder / "tokens.bin", np.uint16, "r")

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        start = index * (TOKENS - WINDOW - 1) // SAMPLES
        window = torch.from_numpy(self.tokens[start : start + WINDOW + 1].astype(np.int64))
        return window[:-1], window[1:]


def make(folder):
    return {
        "dataset": Windows(folder),
        "loader": {"batch_size": 32, "shuffle": True},
        "epochs": 1,
        "step": lambda batch: int(batch[0].max()),
    }
