"""Text: lines of a file are split into words and looked up; a collate_fn pads them to the longest. The step waits as for a GPU."""

import re
import time

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

LINES = 8_000
WORD = re.compile(r"[a-z0-9]+")


def prepare(folder):
    draw = np.random.default_rng(7)
    words = np.array(["w%x" % number for number in range(20_000)])
    lengths = np.clip(draw.lognormal(4.2, 0.6, LINES), 5, 400).astype(int)
    with open(folder / "lines.txt", "w", encoding="utf-8") as file:
        for length in lengths:
            # Frequent words are much more frequent than rare ones.
            chosen = np.minimum(draw.zipf(1.3, length), len(words)) - 1
            file.write(" ".join(words[chosen]).capitalize() + ".\n")


class Lines(Dataset):
    def __init__(self, folder):
        self.lines = (folder / "lines.txt").read_text(encoding="utf-8").splitlines()
        self.numbers = {"w%x" % number: number + 1 for number in range(20_000)}

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        found = WORD.findall(self.lines[index].lower())
        return torch.tensor([self.numbers.get(word, 0) for word in found])


def collate(samples):
    lengths = torch.tensor([len(sample) for sample in samples])
    return pad_sequence(samples, batch_first=True), lengths


def make(folder):
    return {
        "dataset": Lines(folder),
        "loader": {"batch_size": 32, "shuffle": True, "collate_fn": collate},
        "epochs": 3,
        "step": lambda _batch: time.sleep(0.0005),
    }
