"""Ranks of a training job with two loaders each, for training and for validation; one rank, or all of them.

    ranks.py torchrun        one rank, started by torchrun
    ranks.py srun FOLDER     one rank, started by Slurm
    ranks.py spawn FOLDER    two ranks, which this process starts

FOLDER: where ranks without a port meet.
"""

import os
import sys

import torch
import torch.distributed
import torch.multiprocessing
import torch.utils.data as data


class Numbers(data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.ones(2) * index


def main(rank, world_size, folder=None):
    meeting = {"init_method": "file://%s/meeting" % folder, "rank": rank, "world_size": world_size} if folder else {}
    torch.distributed.init_process_group("gloo", **meeting)
    numbers = Numbers()
    sampler = data.DistributedSampler(numbers, num_replicas=world_size, rank=rank, shuffle=True, seed=5)
    training = data.DataLoader(numbers, batch_size=4, sampler=sampler, num_workers=1)
    validation = data.DataLoader(numbers, batch_size=16)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for batch in training:
            # As gradients are summed up after each step.
            torch.distributed.all_reduce(batch)
        for _ in validation:
            pass
    torch.distributed.destroy_process_group()


def told(name):
    return int(os.environ[name])


if __name__ == "__main__":
    if sys.argv[1] == "torchrun":
        main(told("RANK"), told("WORLD_SIZE"))
    elif sys.argv[1] == "srun":
        main(told("SLURM_PROCID"), told("SLURM_NTASKS"), sys.argv[2])
    else:
        torch.multiprocessing.spawn(main, args=(2, sys.argv[2]), nprocs=2)
