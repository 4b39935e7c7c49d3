"""Tiny rows: a table in memory, row by row, as with a TensorDataset. The step trains a logistic regression on one thread."""

import torch
from torch.utils.data import TensorDataset

ROWS = 120_000


def make(_folder):
    # As torchrun does: threads of PyTorch bring nothing to so little.
    torch.set_num_threads(1)
    draw = torch.Generator().manual_seed(6)
    features = torch.randn(ROWS, 20, generator=draw)
    labels = (features.sum(1) > 0).float()
    model = torch.nn.Linear(20, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(batch):
        rows, wanted = batch
        optimizer.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(model(rows).squeeze(1), wanted).backward()
        optimizer.step()

    return {
        "dataset": TensorDataset(features, labels),
        "loader": {"batch_size": 256, "shuffle": True},
        "epochs": 1,
        "step": step,
    }
