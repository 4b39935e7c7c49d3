"""A training loop that comes to an end of one of several kinds.

    python trouble.py END START_METHOD

END: fails (a sample raises), raises (the loop does), exits (sys.exit(7)), interrupted (Ctrl-C), killed (a worker, by signal 9), endless.
"""

import os
import signal
import sys
import time

import torch
import torch.utils.data as data

END, CONTEXT = sys.argv[1], sys.argv[2]


class Numbers(data.Dataset):
    def __len__(self):
        return 40_000_000 if END == "endless" else 4000

    def __getitem__(self, index):
        time.sleep(0.0005)
        if END == "fails" and index == 133:
            raise ValueError("sample 133 is broken")
        return torch.full((4,), float(index))


def main():
    workers = 0 if CONTEXT == "none" else 2
    more = {"multiprocessing_context": CONTEXT} if workers else {}
    loader = data.DataLoader(Numbers(), batch_size=8, num_workers=workers, **more)
    total = 0.0
    for number, batch in enumerate(loader):
        total += float(batch.sum())
        if END == "endless":
            if number % 10 == 0:
                print(number, time.monotonic_ns(), flush=True)
        elif number == 20:
            print("twenty", total, flush=True)
            if END == "raises":
                raise RuntimeError("the loop is broken")
            if END == "exits":
                sys.exit(7)
            if END == "interrupted":
                os.kill(os.getpid(), signal.SIGINT)
            if END == "killed":
                os.kill(iterator_of(loader), signal.SIGKILL)
                time.sleep(0.5)


def iterator_of(loader):
    """The process id of a worker."""
    import multiprocessing

    return sorted(child.pid for child in multiprocessing.active_children())[0]


if __name__ == "__main__":
    main()
