"""Makes the traces in this folder with torch.profiler, and truth.json: what the program itself measured meanwhile.

python make.py        (PyTorch 2.13 was used)
"""

import gzip
import json
import os
import pathlib
import sys
import tempfile
import time

import torch
import torch.distributed
import torch.multiprocessing
from torch.profiler import ProfilerActivity, profile
from torch.utils.data import DataLoader, Dataset

HERE = pathlib.Path(__file__).parent


class Numbers(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        time.sleep(0.05 if index == 6 else 0.002)
        return torch.full((4,), float(index))


class Loop:
    """A training loop that measures its waits itself."""

    def __init__(self):
        self.model = torch.nn.Linear(4, 4)
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1)
        self.waits = []

    def step(self, batch):
        self.optimizer.zero_grad()
        self.model(batch).sum().backward()
        self.optimizer.step()
        time.sleep(0.003)

    def epoch(self, loader, stop_after=None):
        batches, iterator = [], iter(loader)
        while len(batches) != stop_after:
            start = time.perf_counter_ns()
            batch = next(iterator, None)
            self.waits.append(time.perf_counter_ns() - start)
            if batch is None:
                break
            batches.append(batch)
            self.step(batch)
        return len(batches)


def loader(workers, **options):
    return DataLoader(Numbers(), batch_size=4, num_workers=workers, **options)


def record(name, run):
    torch.manual_seed(0)
    loop = Loop()
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        epochs = run(loop)
    with tempfile.TemporaryDirectory() as folder:
        plain = os.path.join(folder, "trace.json")
        profiler.export_chrome_trace(plain)
        text = pathlib.Path(plain).read_bytes()
    # The same bytes for the same trace: no time and no name in the header.
    (HERE / f"{name}.json.gz").write_bytes(gzip.compress(text, 9, mtime=0))
    return {"epochs": epochs, "waits_ns": loop.waits}


def twice(given):
    return lambda loop: [loop.epoch(given), loop.epoch(given)]


def training_and_validation(loop):
    """Two loaders of different kinds in turn."""
    train, check = loader(2), loader(0)
    epochs = []
    for _ in range(2):
        epochs.append(loop.epoch(train))
        epochs.append(loop.epoch(check))
    return epochs


def rank(rank, name):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29517", RANK=str(rank), WORLD_SIZE="2")
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    if rank == 1:
        record(name, lambda loop: [loop.epoch(loader(0), stop_after=2)])
    torch.distributed.destroy_process_group()


def main():
    torch.set_num_threads(1)
    truth = {
        "single": record("single", twice(loader(0))),
        "workers": record("workers", twice(loader(2, shuffle=True))),
        "persistent": record("persistent", twice(loader(2, persistent_workers=True))),
        "two_loaders": record("two_loaders", training_and_validation),
        "stopped_early": record("stopped_early", lambda l: [l.epoch(loader(2), 3), l.epoch(loader(2))]),
    }
    (HERE / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    torch.multiprocessing.spawn(rank, args=("rank",), nprocs=2)


if __name__ == "__main__":
    sys.exit(main())
