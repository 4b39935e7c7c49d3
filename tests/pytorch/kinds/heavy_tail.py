"""A few samples take forty times as long as the others."""

import json
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Documents(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        time.sleep(0.16 if index % 23 == 7 else 0.002)
        return torch.tensor([float(index)])


def main():
    torch.manual_seed(24)
    loader = DataLoader(Documents(), batch_size=4, shuffle=True, num_workers=2)  # loader: train
    count, total = 0, 0.0
    waited, asked = 0.0, time.perf_counter()
    for rows in loader:
        waited += time.perf_counter() - asked
        total += rows.sum().item()
        time.sleep(0.01)
        count += 1
        asked = time.perf_counter()
    waited += time.perf_counter() - asked
    print(total)
    print(json.dumps({"loaders": {"train": [count]}, "waited": {"train": waited}}))


if __name__ == "__main__":
    main()
