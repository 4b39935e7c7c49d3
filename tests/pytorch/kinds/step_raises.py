"""The training step raises, not the loader."""

import json
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 240

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.full((4,), float(index))


class LossIsNaN(Exception):
    pass


def train(batch, count):
    time.sleep(0.01)
    if count == 17:
        raise LossIsNaN("the loss of step 17 is not finite")


def main():
    loader = DataLoader(Rows(), batch_size=4, num_workers=2)  # loader: train
    count = 0
    try:
        for batch in loader:
            count += 1
            train(batch, count)
    finally:
        print(json.dumps({"loaders": {"train": [count]}}))


if __name__ == "__main__":
    main()
