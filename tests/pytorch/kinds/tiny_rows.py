"""Rows that are in memory already, four a batch: handing them over costs more than making them."""

import json

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(28)
    torch.set_num_threads(1)
    loader = DataLoader(TensorDataset(torch.randn(24000, 8), torch.randn(24000)), batch_size=4, shuffle=True, num_workers=2)  # loader: train
    weights, count = torch.zeros(8), 0
    for features, targets in loader:
        weights += 1e-3 * ((targets - features @ weights) @ features)
        count += 1
    print("%.4f" % weights.sum().item())
    print(json.dumps({"loaders": {"train": [count]}}))


if __name__ == "__main__":
    main()
