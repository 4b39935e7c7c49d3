"""Two ranks with different numbers of batches: the longer one waits in its last all_reduce for a rank that has ended its loop."""

import datetime
import json
import time

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, IterableDataset


class Shard(IterableDataset):
    def __init__(self, length):
        self.length = length

    def __iter__(self):
        for number in range(self.length):
            time.sleep(0.003)
            yield float(number)


def main():
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=4))
    rank = dist.get_rank()
    loader = DataLoader(Shard((60, 40)[rank]), batch_size=4, num_workers=1)  # loader: train
    count = 0
    try:
        for batch in loader:
            count += 1
            dist.all_reduce(batch.sum())
            time.sleep(0.01)
        time.sleep(6)
    except RuntimeError:
        # gloo's timeout, in the all_reduce of a batch that the other rank does not have.
        print(json.dumps({"loaders": {"train@0": [count], "train@1": [10]}}), flush=True)
        raise


if __name__ == "__main__":
    main()
