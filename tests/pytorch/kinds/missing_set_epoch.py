"""A DistributedSampler without set_epoch: each epoch has the same order."""

import json
import time

import torch
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def main():
    dataset = TensorDataset(torch.arange(400.0))
    sampler = DistributedSampler(dataset, num_replicas=2, rank=0, shuffle=True)
    loader = DataLoader(dataset, batch_size=4, sampler=sampler, num_workers=1, persistent_workers=True)  # loader: train
    passes, total = [], 0.0
    for epoch in range(3):
        passes.append(0)
        for (rows,) in loader:
            total += rows[0].item() * epoch
            time.sleep(0.015)
            passes[-1] += 1
    print(total)
    print(json.dumps({"loaders": {"train": passes}}))


if __name__ == "__main__":
    main()
