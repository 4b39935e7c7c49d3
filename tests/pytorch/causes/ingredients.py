"""What is wrong: datasets, collate functions and steps, by cause."""

import dataclasses
import logging
import os
import signal
import tempfile
import time

import numpy
import torch
from torch.utils.data import Dataset, default_collate, get_worker_info


@dataclasses.dataclass
class Training:
    """What a loop trains on. `step`: called after each batch. `validation`: a second dataset, gone through after each epoch."""

    dataset: Dataset
    step: object
    collate_fn: object = default_collate
    worker_init_fn: object = None
    validation: object = None


class Samples(Dataset):
    """Samples of which each takes as long to read as `cost` says, in seconds."""

    def __init__(self, length, cost):
        self.length, self.cost = length, cost

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        time.sleep(self.cost(index) if callable(self.cost) else self.cost)
        return {"x": torch.full((4,), index / self.length)}


class Validation(Samples):
    pass


class Computing(Samples):
    """Samples that take a processor's time."""

    def __getitem__(self, index):
        until = time.thread_time() + self.cost
        total = numpy.zeros(20_000)
        while time.thread_time() < until:
            total = numpy.sqrt(total * total + 1.0)
        return {"x": torch.full((4,), float(total[0]) / 100)}


class Rows(Samples):
    """In memory already."""

    def __getitem__(self, index):
        return {"x": torch.full((4,), index / self.length)}


class Volumes(Samples):
    """16 MB each, in memory already."""

    volume = torch.ones(4 << 20)

    def __getitem__(self, index):
        return {"x": self.volume}


class Table(Samples):
    """Each worker opens a table before its first sample."""

    def __getitem__(self, index):
        if not hasattr(self, "table"):
            time.sleep(1.5)
            self.table = True
        return super().__getitem__(index)


class Names(Samples):
    """A list of Python's objects: reading one writes its count of references, and so copies the page."""

    def __init__(self, length):
        super().__init__(length, 0.0)
        self.names = [("name %d" % number, [number]) for number in range(700_000)]

    def __getitem__(self, index):
        part = self.names[index * 1000 : index * 1000 + 1000]
        return {"x": torch.tensor([float(sum(numbers[0] for _, numbers in part) % 7)] * 4)}


class Killed(Samples):
    def __getitem__(self, index):
        if index == 200 and get_worker_info() is not None:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(index)


class Memoryless(Samples):
    def __getitem__(self, index):
        if index == 200:
            raise MemoryError("Unable to allocate 12.5 GiB for an array")
        return super().__getitem__(index)


def sleeping(seconds):
    return lambda: time.sleep(seconds)


def slow_init(worker):
    time.sleep(1.5)


def tokenizing(samples):
    time.sleep(0.06)
    return default_collate(samples)


def logging_step():
    """Writes a line to a slow disk after each step."""
    file = tempfile.TemporaryFile("w")
    handler = logging.StreamHandler(file)
    logger = logging.Logger("training")
    logger.addHandler(handler)

    def step():
        time.sleep(0.003)
        logger.info("another step")
        os.fsync(file.fileno())
        time.sleep(0.025)

    return step


CAUSES = {
    "slow_sample": lambda: Training(Samples(480, lambda index: 0.2 if index % 37 == 5 else 0.002), sleeping(0.01)),
    "slow_collate": lambda: Training(Samples(320, 0.0005), sleeping(0.01), collate_fn=tokenizing),
    "slow_init": lambda: Training(Samples(320, 0.001), sleeping(0.012), worker_init_fn=slow_init),
    "slow_open": lambda: Training(Table(320, 0.001), sleeping(0.012)),
    "too_few": lambda: Training(Samples(320, 0.01), sleeping(0.02)),
    "computing": lambda: Training(Computing(200, 0.008), sleeping(0.002)),
    "few_batches": lambda: Training(Samples(64, 0.002), sleeping(0.005)),
    "tiny": lambda: Training(Rows(8_000, 0.0), lambda: None),
    "huge": lambda: Training(Volumes(120, 0.0), sleeping(0.005)),
    "slow_step": lambda: Training(Samples(320, 0.001), sleeping(0.06)),
    "logging": lambda: Training(Samples(480, 0.001), logging_step()),
    "killed": lambda: Training(Killed(400, 0.002), sleeping(0.02)),
    "memory_error": lambda: Training(Memoryless(400, 0.002), sleeping(0.02)),
    "copied_pages": lambda: Training(Names(700), sleeping(0.03)),
    "validation": lambda: Training(Rows(320, 0.0), sleeping(0.008), validation=Validation(96, 0.02)),
}
