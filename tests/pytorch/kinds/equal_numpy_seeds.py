"""worker_init_fn gives NumPy the same seed in every worker: they draw the same augmentation."""

import json
import time

import numpy
import torch
from torch.utils.data import DataLoader, Dataset


class Augmented(Dataset):
    def __len__(self):
        return 480

    def __getitem__(self, index):
        return torch.tensor([index + 0.1 * numpy.random.rand()])


def seed_worker(worker):
    numpy.random.seed(42)


def main():
    torch.manual_seed(30)
    loader = DataLoader(Augmented(), batch_size=4, shuffle=True, num_workers=2, worker_init_fn=seed_worker)  # loader: train
    count, total = 0, 0.0
    for rows in loader:
        total += rows.sum().item()
        time.sleep(0.015)
        count += 1
    print("%.4f" % total)
    print(json.dumps({"loaders": {"train": [count]}}))


if __name__ == "__main__":
    main()
