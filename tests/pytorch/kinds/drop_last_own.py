"""A batch sampler of the program's own that leaves the last batch out if it is not full."""

import json
import time

import torch
from torch.utils.data import DataLoader, Sampler, TensorDataset


class FullBatches(Sampler):
    def __init__(self, length, batch_size, drop_last):
        self.length, self.batch_size, self.drop_last = length, batch_size, drop_last

    def __iter__(self):
        order = torch.randperm(self.length).tolist()
        for start in range(0, self.length, self.batch_size):
            batch = order[start : start + self.batch_size]
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self):
        return self.length // self.batch_size


def main():
    torch.manual_seed(10)
    dataset = TensorDataset(torch.arange(126.0))
    loader = DataLoader(dataset, batch_sampler=FullBatches(126, 4, drop_last=True), num_workers=2)  # loader: train
    passes = []
    for epoch in range(2):
        passes.append(sum(1 for (rows,) in loader if time.sleep(0.03) is None and len(rows) == 4))
    print(passes)
    print(json.dumps({"loaders": {"train": passes}}))


if __name__ == "__main__":
    main()
