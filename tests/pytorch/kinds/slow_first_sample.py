"""One sample of batch 0 takes very long (a huge picture); nothing is wrong with how the workers start."""

import json
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        time.sleep(1.2 if index == 3 else 0.002)
        return torch.tensor([float(index)])


def main():
    loader = DataLoader(Pictures(), batch_size=8, num_workers=2)  # loader: train
    count, total = 0, 0.0
    for rows in loader:
        total += rows.sum().item()
        time.sleep(0.02)
        count += 1
    print(total)
    print(json.dumps({"loaders": {"train": [count]}}))


if __name__ == "__main__":
    main()
