"""Every step writes to a log on a slow disk: the loader has nothing to do with it."""

import json
import logging
import os
import tempfile
import time

import torch
from torch.utils.data import DataLoader, TensorDataset


class Slow(logging.FileHandler):
    def emit(self, record):
        super().emit(record)
        os.fsync(self.stream.fileno())
        time.sleep(0.02)


def main():
    torch.manual_seed(34)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        log = logging.getLogger("training")
        log.setLevel(logging.INFO)
        log.propagate = False
        log.addHandler(Slow(folder + "/train.log"))
        loader = DataLoader(TensorDataset(torch.randn(800, 4)), batch_size=8, shuffle=True, num_workers=2)  # loader: train
        count, total = 0, 0.0
        for (rows,) in loader:
            total += rows.sum().item()
            time.sleep(0.002)
            log.info("step %d, loss %.4f", count, total)
            count += 1
    print("%.4f" % total)
    print(json.dumps({"loaders": {"train": [count]}}))


if __name__ == "__main__":
    main()
