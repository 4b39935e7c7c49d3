"""persistent_workers over several epochs."""

import json
import time

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(8)
    dataset = TensorDataset(torch.randn(320, 4))
    loader = DataLoader(dataset, batch_size=8, shuffle=True, num_workers=2, persistent_workers=True, prefetch_factor=4)  # loader: train
    passes, total = [], 0.0
    for epoch in range(5):
        passes.append(0)
        for (rows,) in loader:
            total += rows.sum().item()
            time.sleep(0.015)
            passes[-1] += 1
    print("%.3f" % total)
    print(json.dumps({"loaders": {"train": passes}}))


if __name__ == "__main__":
    main()
