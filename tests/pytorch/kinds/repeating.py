"""The loader of timm and YOLO that keeps its workers by repeating its batch sampler for ever: no epoch ends with StopIteration."""

import json
import time

import torch
from torch.utils.data import DataLoader, TensorDataset


class Repeat:
    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        while True:
            yield from iter(self.sampler)


class InfiniteDataLoader(DataLoader):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        object.__setattr__(self, "batch_sampler", Repeat(self.batch_sampler))
        self.iterator = super().__iter__()

    def __len__(self):
        return len(self.batch_sampler.sampler)

    def __iter__(self):
        for _ in range(len(self)):
            yield next(self.iterator)


def main():
    torch.manual_seed(38)
    loader = InfiniteDataLoader(TensorDataset(torch.randn(320, 4)), batch_size=8, shuffle=True, num_workers=2)  # loader: train
    count, total = 0, 0.0
    for epoch in range(3):
        for (rows,) in loader:
            total += rows.sum().item()
            time.sleep(0.015)
            count += 1
        time.sleep(0.2)
    print("%.3f" % total)
    print(json.dumps({"loaders": {"train": [count]}, "one": True}))


if __name__ == "__main__":
    main()
