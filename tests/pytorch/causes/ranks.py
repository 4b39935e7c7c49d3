"""Two ranks that exchange gradients; the loader of rank 1 is slow, by its samples or by its collate function.

    python -m torch.distributed.run --nproc_per_node 2 ranks.py samples|collate WORKERS
"""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, default_collate
from torch.utils.data.distributed import DistributedSampler

from ingredients import Samples


def slow_together(samples):
    time.sleep(0.08)
    return default_collate(samples)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    is_slow = dist.get_rank() == 1
    by, workers = sys.argv[1], int(sys.argv[2])
    dataset = Samples(400, 0.02 if is_slow and by == "samples" else 0.001)
    collate = slow_together if is_slow and by == "collate" else default_collate
    loader = DataLoader(dataset, 4, sampler=DistributedSampler(dataset), num_workers=workers, collate_fn=collate)
    began, count = time.perf_counter(), 0
    for batch in loader:
        time.sleep(0.003)
        mean = batch["x"].mean()
        dist.all_reduce(mean)
        count += 1
    dist.barrier()
    dist.destroy_process_group()
    if not is_slow:
        print(json.dumps({"batches": 2 * count, "seconds": time.perf_counter() - began}))


if __name__ == "__main__":
    main()
