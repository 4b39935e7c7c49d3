"""Gradients of 16 batches are added up: 15 short steps, then a long one, as where a program waits for the GPU every 16 steps."""

import json
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, index):
        time.sleep(0.003)
        return torch.full((4,), float(index))


def main():
    loader = DataLoader(Rows(), batch_size=4, num_workers=2)  # loader: train
    waited, count, iterator = 0.0, 0, iter(loader)
    while True:
        asked = time.perf_counter()
        batch = next(iterator, None)
        waited += time.perf_counter() - asked
        if batch is None:
            break
        count += 1
        time.sleep(0.15 if count % 16 == 0 else 0.001)
    print(json.dumps({"loaders": {"train": [count]}, "waited": {"train": waited}}))


if __name__ == "__main__":
    main()
