"""torchdata.nodes: a pipeline that is no DataLoader."""

import json
import time

import torch
from torch.utils.data import RandomSampler
from torchdata.nodes import Batcher, Loader, ParallelMapper, Prefetcher, SamplerWrapper


def load(index):
    time.sleep(0.001)
    return torch.tensor(float(index))


def main():
    torch.manual_seed(36)
    node = SamplerWrapper(RandomSampler(range(320)))
    node = ParallelMapper(node, load, num_workers=2, method="thread")
    loader = Loader(Prefetcher(Batcher(node, batch_size=8), prefetch_factor=2))
    total, count = 0.0, 0
    for batch in loader:
        total += torch.stack(batch).sum().item()
        time.sleep(0.02)
        count += 1
    print(total, count)
    print(json.dumps({"loaders": {}, "elsewhere": count}))


if __name__ == "__main__":
    main()
