"""A stream: an IterableDataset that reads lines of JSON from 24 shards, which workers divide among themselves. A short step."""

import json
import time

import numpy as np
import torch
from torch.utils.data import IterableDataset, get_worker_info

SHARDS, LINES = 24, 800


def prepare(folder):
    draw = np.random.default_rng(9)
    for shard in range(SHARDS):
        with open(folder / ("%02d.jsonl" % shard), "w", encoding="utf-8") as file:
            for line in range(LINES):
                values = draw.normal(0, 1, 64).round(4).tolist()
                file.write(json.dumps({"id": shard * LINES + line, "values": values, "label": int(draw.integers(10))}) + "\n")


class Shards(IterableDataset):
    def __init__(self, folder):
        self.files = sorted(folder.glob("*.jsonl"))

    def __iter__(self):
        info = get_worker_info()
        first, each = (info.id, info.num_workers) if info is not None else (0, 1)
        for name in self.files[first::each]:
            with open(name, encoding="utf-8") as file:
                for line in file:
                    record = json.loads(line)
                    yield torch.tensor(record["values"]), record["label"]


def make(folder):
    return {
        "dataset": Shards(folder),
        "loader": {"batch_size": 32},
        "epochs": 1,
        "step": lambda _batch: time.sleep(0.001),
    }
