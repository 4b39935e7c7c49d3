"""A training that is faster than its workers: `python few_workers.py [workers]`."""

import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

WORKERS = int(sys.argv[1]) if len(sys.argv) > 1 else 1


class Scans(Dataset):
    def __len__(self):
        return 480

    def __getitem__(self, index):
        time.sleep(0.01 * WORKERS)
        return torch.full((1, 16, 16), float(index))


def main():
    loader = DataLoader(Scans(), batch_size=4, shuffle=True, num_workers=WORKERS, generator=torch.Generator().manual_seed(0))
    for scans in loader:
        time.sleep(0.012)


if __name__ == "__main__":
    main()
