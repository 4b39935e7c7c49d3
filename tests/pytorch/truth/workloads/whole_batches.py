"""Whole batches: a dataset with `__getitems__`, as Hugging Face's are, gathers all rows of a batch at once. The step trains a small network on one thread."""

import numpy as np
import torch
from torch.utils.data import Dataset

ROWS, COLUMNS = 60_000, 256


class Table(Dataset):
    def __init__(self):
        draw = np.random.default_rng(14)
        self.values = draw.integers(0, 256, (ROWS, COLUMNS), dtype=np.uint8)
        self.labels = draw.integers(0, 10, ROWS)

    def __len__(self):
        return ROWS

    def __getitem__(self, index):
        return self.__getitems__([index])[0]

    def __getitems__(self, indices):
        values = np.log1p(self.values[indices].astype(np.float32))
        values = (values - values.mean(1, keepdims=True)) / (values.std(1, keepdims=True) + 1e-6)
        return [{"values": row, "label": label} for row, label in zip(values, self.labels[indices].tolist())]


def collate(rows):
    values = torch.from_numpy(np.stack([row["values"] for row in rows]))
    return {"values": values, "labels": torch.tensor([row["label"] for row in rows])}


def make(_folder):
    # As torchrun does: threads of PyTorch bring nothing to so little.
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(COLUMNS, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(batch):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(batch["values"]), batch["labels"]).backward()
        optimizer.step()

    return {
        "dataset": Table(),
        "loader": {"batch_size": 128, "shuffle": True, "collate_fn": collate},
        "epochs": 2,
        "step": step,
    }
