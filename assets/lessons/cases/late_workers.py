"""A training whose workers take long to start, in each epoch: `python late_workers.py [seconds to start]`."""

import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

START = float(sys.argv[1]) if len(sys.argv) > 1 else 0.8


class Texts(Dataset):
    def __len__(self):
        return 96

    def __getitem__(self, index):
        time.sleep(0.004)
        return torch.full((32,), index)


def load_tokenizer(worker):
    time.sleep(START)


def main():
    loader = DataLoader(Texts(), batch_size=4, num_workers=2, worker_init_fn=load_tokenizer)
    for epoch in range(4):
        for tokens in loader:
            time.sleep(0.015)


if __name__ == "__main__":
    main()
