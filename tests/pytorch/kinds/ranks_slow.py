"""Two ranks by torchrun that exchange gradients over gloo. The disk of rank 1 is slow, so rank 0 waits in all_reduce."""

import json
import os
import time

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class Pictures(Dataset):
    def __init__(self, seconds):
        self.seconds = seconds

    def __len__(self):
        return 320

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.tensor([float(index)])


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    dataset = Pictures(0.02 if rank == 1 else 0.001)
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=4, sampler=sampler, num_workers=2)  # loader: train
    sampler.set_epoch(0)
    count = 0
    for batch in loader:
        time.sleep(0.003)
        gradient = batch.mean()
        dist.all_reduce(gradient)
        count += 1
    counts = [None, None]
    dist.all_gather_object(counts, count)
    dist.barrier()
    dist.destroy_process_group()
    if os.environ["RANK"] == "0":
        print("%.3f" % gradient.item())
        print(json.dumps({"loaders": {"train@0": [counts[0]], "train@1": [counts[1]]}}))


if __name__ == "__main__":
    main()
