"""drop_last given to a BatchSampler, which the loader gets as batch_sampler: 46 samples by 4 are 11 batches."""

import json
import time

import torch
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, SequentialSampler, TensorDataset


def main():
    torch.manual_seed(9)
    dataset = TensorDataset(torch.arange(46.0))
    batches = BatchSampler(RandomSampler(dataset), batch_size=4, drop_last=True)
    train = DataLoader(dataset, batch_sampler=batches, num_workers=1)  # loader: train
    plain = BatchSampler(SequentialSampler(dataset), batch_size=4, drop_last=True)
    check = DataLoader(dataset, sampler=plain, batch_size=None)  # loader: check
    passes, total = {"train": [], "check": []}, 0.0
    for epoch in range(3):
        for name, loader in (("train", train), ("check", check)):
            passes[name].append(0)
            for (rows,) in loader:
                total += rows.sum().item()
                time.sleep(0.03)
                passes[name][-1] += 1
    print(total > 0)
    print(json.dumps({"loaders": passes}))


if __name__ == "__main__":
    main()
