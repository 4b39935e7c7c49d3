"""A training in which worker 1 stops itself, or sleeps (`slow`). Arguments: the start method of the workers, and `pin`, `slow` or nothing."""

import os
import signal
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        if index == 17 and "slow" in sys.argv:
            time.sleep(1000)
        if index == 17:
            os.kill(os.getpid(), signal.SIGSTOP)
        return torch.zeros(3)


if __name__ == "__main__":
    method, pin = sys.argv[1:]
    loader = DataLoader(Samples(), batch_size=4, num_workers=3, multiprocessing_context=method, pin_memory=pin == "pin")
    for batch in loader:
        pass
