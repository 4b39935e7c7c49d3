"""Training by steps: an endless generator over the loader, a validation in the middle of an epoch, an epoch that is left early."""

import itertools
import json
import time

import torch
from torch.utils.data import DataLoader, TensorDataset


def endless(loader, passes):
    while True:
        passes.append(0)
        for batch in loader:
            passes[-1] += 1
            yield batch


def main():
    torch.manual_seed(37)
    rows = torch.randn(480, 4)
    train = DataLoader(TensorDataset(rows), batch_size=8, shuffle=True, num_workers=2, drop_last=True)  # loader: train
    val = DataLoader(TensorDataset(rows[:80]), batch_size=16)  # loader: val
    passes, total = {"train": [], "val": []}, 0.0
    for step, (batch,) in enumerate(itertools.islice(endless(train, passes["train"]), 150)):
        time.sleep(0.012)
        if step % 40 == 39:
            passes["val"].append(0)
            for (some,) in val:
                total += some.sum().item()
                time.sleep(0.03)
                passes["val"][-1] += 1
    print("%.3f" % total)
    print(json.dumps({"loaders": passes}))


if __name__ == "__main__":
    main()
