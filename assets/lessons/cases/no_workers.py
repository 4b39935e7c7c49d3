"""A training whose loader has no workers: `python no_workers.py [milliseconds a sample]`."""

import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

SAMPLE = float(sys.argv[1]) / 1e3 if len(sys.argv) > 1 else 0.008


class Photographs(Dataset):
    def __len__(self):
        return 240

    def __getitem__(self, index):
        time.sleep(SAMPLE)
        return torch.full((3, 8, 8), index % 255, dtype=torch.uint8), index % 10


def main():
    for pictures, labels in DataLoader(Photographs(), batch_size=4):
        time.sleep(0.012)


if __name__ == "__main__":
    main()
