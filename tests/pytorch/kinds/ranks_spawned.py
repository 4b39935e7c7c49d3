"""Two ranks that the program starts by torch.multiprocessing.spawn, each with its own part of the data."""

import json
import os
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def train(rank, world, place, counts):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + place, rank=rank, world_size=world)
    dataset = TensorDataset(torch.arange(240.0).view(120, 2))
    sampler = DistributedSampler(dataset, num_replicas=world, rank=rank)
    loader = DataLoader(dataset, batch_size=2, sampler=sampler)  # loader: train
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for (rows,) in loader:
            total = rows.sum()
            dist.all_reduce(total)
            time.sleep(0.005)
            counts[rank * 2 + epoch] += 1
    dist.destroy_process_group()


def main():
    counts = mp.get_context("spawn").Array("i", 4)
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, args=(2, os.path.join(folder, "store"), counts), nprocs=2)
    passes = list(counts)
    print(sum(passes))
    print(json.dumps({"loaders": {"train@0": passes[:2], "train@1": passes[2:]}}))


if __name__ == "__main__":
    main()
