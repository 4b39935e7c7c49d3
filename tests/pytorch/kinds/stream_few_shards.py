"""Three shards for six workers: half of the workers yield nothing."""

import json
import time

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Shards(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        for shard in range(worker.id, 3, worker.num_workers):
            for number in range(60):
                time.sleep(0.008)
                yield torch.tensor(60 * shard + number)


def main():
    loader = DataLoader(Shards(), batch_size=4, num_workers=6)  # loader: train
    count, total = 0, 0
    for rows in loader:
        total += int(rows.sum())
        time.sleep(0.003)
        count += 1
    print(total)
    print(json.dumps({"loaders": {"train": [count]}}))


if __name__ == "__main__":
    main()
