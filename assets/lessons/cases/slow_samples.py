"""A training in which a few samples take very long: `python slow_samples.py [one of so many]`."""

import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

EVERY = int(sys.argv[1]) if len(sys.argv) > 1 else 37


class Recordings(Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        is_cached = index % EVERY != EVERY - 1
        return self.read(index) if is_cached else self.download(index)

    def read(self, index):
        time.sleep(0.004)
        return torch.full((64,), float(index))

    def download(self, index):
        time.sleep(0.4)
        return torch.full((64,), float(index))


def main():
    for waves in DataLoader(Recordings(), batch_size=4, num_workers=3):
        time.sleep(0.012)


if __name__ == "__main__":
    main()
