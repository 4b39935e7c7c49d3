"""Slow initialisation: each worker reads an index of its own in its worker_init_fn, in two epochs. Samples wait 2 ms, the step is short."""

import json
import time

import torch
from torch.utils.data import Dataset, get_worker_info

SAMPLES = 400


def prepare(folder):
    index = {"sample-%06d" % number: {"offset": number * 4096, "tags": ["a", "b", "c"]} for number in range(120_000)}
    (folder / "index.json").write_text(json.dumps(index), encoding="utf-8")


class Indexed(Dataset):
    def __init__(self, folder):
        self.file = folder / "index.json"
        self.index = None

    def open(self):
        self.index = json.loads(self.file.read_text(encoding="utf-8"))

    def __len__(self):
        return SAMPLES

    def __getitem__(self, number):
        offset = self.index["sample-%06d" % number]["offset"]
        time.sleep(0.002)
        return torch.full((64,), float(offset))


class Alone(Indexed):
    """Without workers PyTorch calls no worker_init_fn, so the dataset opens its index itself."""

    def __getitem__(self, number):
        if self.index is None:
            self.open()
        return super().__getitem__(number)


def begin_worker(_worker):
    get_worker_info().dataset.open()


def make(folder):
    return {
        "dataset": Alone(folder),
        "loader": {"batch_size": 8, "shuffle": True, "worker_init_fn": begin_worker},
        "epochs": 2,
        "step": lambda _batch: time.sleep(0.002),
    }
