"""Persistent workers keep the dataset of the first epoch, which the main process changes."""

import json
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Curriculum(Dataset):
    def __init__(self):
        self.epoch = 0

    def __len__(self):
        return 80

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.tensor([index, self.epoch])


def main():
    data = Curriculum()
    loader = DataLoader(data, batch_size=4, num_workers=2, persistent_workers=True)  # loader: train
    passes, seen = [], set()
    for epoch in range(3):
        data.epoch = epoch
        passes.append(0)
        for rows in loader:
            seen |= set(rows[:, 1].tolist())
            time.sleep(0.01)
            passes[-1] += 1
    print(sorted(seen))
    print(json.dumps({"loaders": {"train": passes}}))


if __name__ == "__main__":
    main()
