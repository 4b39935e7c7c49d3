"""A loop over steps that creates an iterator for each batch."""

import json
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 256

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.full((4,), float(index))


def main():
    torch.manual_seed(5)
    loader = DataLoader(Rows(), batch_size=8, shuffle=True, num_workers=2)  # loader: train
    for step in range(12):
        batch = next(iter(loader))
        time.sleep(0.02)
    print(json.dumps({"loaders": {"train": [1] * 12}}))


if __name__ == "__main__":
    main()
