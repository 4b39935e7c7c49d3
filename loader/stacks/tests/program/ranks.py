"""A training with two ranks, in which rank 1 has one batch less."""

import os
import subprocess
import sys
import tempfile
import time

import torch
import torch.distributed as dist


def train(rank):
    dist.init_process_group("gloo", init_method="file://" + os.environ["STORE"], rank=rank, world_size=2)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
    for batch in range(5 - rank):
        model(torch.ones(4, 8)).sum().backward()
    time.sleep(1000)


if "RANK" in os.environ:
    train(int(os.environ["RANK"]))
else:
    shared = {**os.environ, "STORE": tempfile.mkdtemp() + "/store", "WORLD_SIZE": "2", "GLOO_SOCKET_IFNAME": "lo"}
    ranks = [subprocess.Popen([sys.executable, *sys.argv], env={**shared, "RANK": str(rank)}) for rank in range(2)]
    for rank in ranks:
        rank.wait()
