"""The program uses processes of its own beside its loader; all of them end with code 0."""

import json
import multiprocessing
import os
import time

import torch
from torch.utils.data import DataLoader, TensorDataset


def square(number):
    return number * number


def evaluate(rows):
    # A forked child that uses PyTorch and ends like any other.
    loader = DataLoader(TensorDataset(rows), batch_size=4)
    sum(batch.sum() for (batch,) in loader)


def main():
    torch.manual_seed(31)
    torch.set_num_threads(1)
    rows = torch.randn(400, 4)
    with multiprocessing.Pool(2) as pool:
        squares = pool.map(square, range(20))
    child = multiprocessing.Process(target=evaluate, args=(rows[:16],))
    child.start()
    loader = DataLoader(TensorDataset(rows), batch_size=4, num_workers=2)  # loader: train
    count = 0
    for (batch,) in loader:
        time.sleep(0.02)
        count += 1
        if count == 20 and os.fork() == 0:
            os._exit(0)
    child.join()
    print(sum(squares), child.exitcode)
    print(json.dumps({"loaders": {"train": [count]}, "also": [4]}))


if __name__ == "__main__":
    main()
