"""A training whose lines have known shares. Its argument: the number of workers."""

import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end: pass  # line: spin


class Samples(Dataset):
    def __len__(self):
        return 60

    def __getitem__(self, index):
        time.sleep(0.030)  # line: sleep
        spin(0.015)
        if index == 41:
            time.sleep(0.7)  # line: outlier
        return torch.zeros(3)


def step():
    time.sleep(0.02)  # line: step


if __name__ == "__main__":
    loader = DataLoader(Samples(), batch_size=2, num_workers=int(sys.argv[1]))
    for _ in range(2):
        for batch in loader:
            step()
