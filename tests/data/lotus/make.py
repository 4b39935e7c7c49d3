"""Makes the folders beside it: logs of a real DataLoader in the format of LotusTrace, and truth.json.

The lines are those of the forks of PyTorch and torchvision at github.com/rajveerb (`dataloader.py`, `worker.py`, `transforms.py`);
what the forks log inside of PyTorch is logged from outside of it here. The newer branch also logs SBatchQueued, and writes no blank
after the first comma in `Compose`.

python make.py        (PyTorch 2.13 was used)
"""

import json
import os
import pathlib
import shutil
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset, dataloader
from torch.utils.data._utils import fetch

HERE = pathlib.Path(__file__).parent


class Log:
    """Of one process."""

    def __init__(self, folder, kind):
        self.file = open(folder / f"lotustrace_{kind}_pid_{os.getpid()}", "a", buffering=1)

    def line(self, name, start, duration, blank=""):
        self.file.write(f"{name},{blank}{start},{duration}\n")


LOG = None


class Loader:
    def __call__(self, index):
        time.sleep(0.03 if index == 4 else 0.001)
        return torch.full((8,), float(index))


class Flip:
    def __call__(self, value):
        return value.flip(0)


class Pictures(Dataset):
    def __init__(self, blank):
        self.blank = blank

    def __len__(self):
        return 20

    def __getitem__(self, value):
        for transform in (Loader(), Flip()):
            start = time.time_ns()
            value = transform(value)
            took = time.time_ns() - start
            LOG.line(f"S{type(transform).__name__}", start, took, self.blank)
        return value


def collate(samples):
    start = time.time_ns()
    batch = torch.stack(samples)
    LOG.line("SCollation", start, time.time_ns() - start)
    return batch


class Init:
    """Runs in a worker: logs what the forked `_worker_loop` logs."""

    def __init__(self, folder, workers):
        self.folder, self.workers = folder, workers

    def __call__(self, worker):
        global LOG
        LOG = Log(self.folder, "worker")
        plain, count = fetch._MapDatasetFetcher.fetch, [0]

        def logged(fetcher, indices):
            start = time.time_ns()
            batch = plain(fetcher, indices)
            # Tasks go round the workers in turn.
            task = worker + self.workers * count[0]
            count[0] += 1
            LOG.line(f"SBatchPreprocessed_{task}", start, time.time_ns() - start)
            return batch

        fetch._MapDatasetFetcher.fetch = logged


def patched(log, newer, truth):
    """Logs what the forked `_MultiProcessingDataLoaderIter` logs."""
    cls = dataloader._MultiProcessingDataLoaderIter
    plain = cls._next_data, cls._get_data, cls._try_put_index

    def next_data(self):
        self.asked = time.time_ns()
        batch = plain[0](self)
        idx, now = self._rcvd_idx - 1, time.time_ns()
        log.line(f"SBatchConsumed_{idx}", now, 1000)
        truth["consumed"].append(idx)
        return batch

    def get_data(self):
        idx, batch = plain[1](self)
        now = time.time_ns()
        if idx == self._rcvd_idx:
            log.line(f"SBatchWait_{idx}", self.asked, now - self.asked)
            truth["waited_ns"] += now - self.asked
        else:
            log.line(f"SBatchWait_{idx}", now, 1000)
            truth["out_of_order"] += 1
        return idx, batch

    def try_put_index(self):
        before = self._send_idx
        plain[2](self)
        if newer and self._send_idx > before:
            log.line(f"SBatchQueued_{before}", time.time_ns(), 1000)

    cls._next_data, cls._get_data, cls._try_put_index = next_data, get_data, try_put_index

    def undo():
        cls._next_data, cls._get_data, cls._try_put_index = plain

    return undo


def record(name, newer):
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    truth = {"consumed": [], "waited_ns": 0, "out_of_order": 0, "samples": 20}
    undo = patched(Log(folder, "main"), newer, truth)
    data = Pictures("" if newer else " ")
    loader = DataLoader(data, 2, num_workers=2, collate_fn=collate, worker_init_fn=Init(folder, 2))
    for _ in range(2):
        for _ in loader:
            time.sleep(0.002)
    undo()
    return truth


def main():
    truth = {"older": record("older", False), "newer": record("newer", True)}
    (HERE / "truth.json").write_text(json.dumps(truth) + "\n")


if __name__ == "__main__":
    sys.exit(main())
