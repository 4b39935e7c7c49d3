"""Training that waits, and a validation that takes len(loader) batches and never hears StopIteration."""

import json
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Slides(Dataset):
    def __init__(self, length, seconds):
        self.length, self.seconds = length, seconds

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.tensor([float(index)])


def main():
    torch.manual_seed(3)
    train_loader = DataLoader(Slides(96, 0.01), 4, shuffle=True, num_workers=1)  # loader: train
    val_loader = DataLoader(Slides(16, 0.002), 4, num_workers=1)  # loader: val
    passes, seen = {"train": [], "val": []}, 0.0
    waited = 0.0
    for epoch in range(3):
        count, iterator = 0, iter(train_loader)
        while True:
            asked = time.perf_counter()
            batch = next(iterator, None)
            waited += time.perf_counter() - asked
            if batch is None:
                break
            time.sleep(0.004)
            seen += batch.sum().item()
            count += 1
        passes["train"].append(count)
        it, count = iter(val_loader), 0
        for _ in range(len(it)):
            seen += next(it).mean().item()
            time.sleep(0.004)
            count += 1
        passes["val"].append(count)
    print(seen)
    print(json.dumps({"loaders": passes, "waited": {"train": waited}}))


if __name__ == "__main__":
    main()
