"""One rank of a training job; started by torchrun. Two loaders: for training and for validation."""

import os

import torch
import torch.distributed
import torch.utils.data as data

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])


class Numbers(data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.ones(2) * index


def main():
    torch.distributed.init_process_group("gloo")
    numbers = Numbers()
    sampler = data.DistributedSampler(numbers, num_replicas=WORLD, rank=RANK, shuffle=True, seed=5)
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


if __name__ == "__main__":
    main()
