"""A sample cannot be decoded, and the worker raises."""

import json
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Scans(Dataset):
    def __len__(self):
        return 240

    def __getitem__(self, index):
        time.sleep(0.001)
        if index == 157:
            raise ValueError("cannot identify image file 'scan-157.png'")
        return torch.zeros(16, 16)


def main():
    loader = DataLoader(Scans(), batch_size=4, num_workers=2)  # loader: train
    count = 0
    try:
        for batch in loader:
            time.sleep(0.01)
            count += 1
    finally:
        print(json.dumps({"loaders": {"train": [count]}}))


if __name__ == "__main__":
    main()
