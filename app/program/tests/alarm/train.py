"""A training. Its argument: a worker hangs (`lock`, `stop`), batches are slow (`slow`), or training steps and validation are long (`long`)."""

import os
import signal
import sys
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

mode = sys.argv[1]
lock = threading.Lock()


class Samples(Dataset):
    def __len__(self):
        return 6 if mode == "long" else 24

    def __getitem__(self, index):
        if index == 9 and mode == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        if index == 9 and mode == "lock":
            with lock:
                pass
        time.sleep(0.15 if mode == "slow" else 0)
        return torch.zeros(3)


if __name__ == "__main__":
    workers = 1 if mode == "slow" else 2
    loader = DataLoader(Samples(), batch_size=2, num_workers=workers, multiprocessing_context="fork")
    print(os.getpid(), flush=True)
    # The workers are forked while a thread holds the lock.
    threading.Thread(target=lambda: (lock.acquire(), time.sleep(1000)), daemon=True).start()
    time.sleep(0.1)
    for batch in loader:
        print("batch", flush=True)
        time.sleep(2.5 if mode == "long" else 0)
    time.sleep(2.5 if mode == "long" else 0)
    print("end", flush=True)
