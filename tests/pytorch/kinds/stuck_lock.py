"""A thread of the main process holds a lock when the workers are forked. The worker that needs it waits for ever."""

import json
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

LOCK = threading.Lock()


class Scans(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        time.sleep(0.005)
        if index == 21:
            with LOCK:
                pass
        return torch.full((8,), float(index))


def warm_up(ready):
    with LOCK:
        ready.set()
        time.sleep(0.5)


def main():
    ready = threading.Event()
    threading.Thread(target=warm_up, args=(ready,), daemon=True).start()
    ready.wait()
    loader = DataLoader(Scans(), batch_size=4, num_workers=2, timeout=3, multiprocessing_context="fork")  # loader: train
    count = 0
    try:
        for batch in loader:
            count += 1
            time.sleep(0.02)
    finally:
        print(json.dumps({"loaders": {"train": [count]}}))


if __name__ == "__main__":
    main()
