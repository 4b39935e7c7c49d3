"""A sample calls next() on an empty iterator: the loop ends without an error."""

import json
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Documents(Dataset):
    def __len__(self):
        return 200

    def __getitem__(self, index):
        time.sleep(0.001)
        parts = iter([] if index == 90 else [index])
        return torch.tensor(next(parts))


def main():
    loader = DataLoader(Documents(), batch_size=4)  # loader: train
    count, total = 0, 0
    for rows in loader:
        total += int(rows.sum())
        time.sleep(0.004)
        count += 1
    print(total)
    print(json.dumps({"loaders": {"train": [count]}}))


if __name__ == "__main__":
    main()
