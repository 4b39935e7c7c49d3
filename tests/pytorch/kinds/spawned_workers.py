"""Workers are spawned, as on macOS and Windows: each imports PyTorch first, and that is most of this short run."""

import json
import time

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(40)
    dataset = TensorDataset(torch.randn(160, 4))
    loader = DataLoader(dataset, batch_size=8, shuffle=True, num_workers=1, multiprocessing_context="spawn")  # loader: train
    count, total = 0, 0.0
    for (rows,) in loader:
        total += rows.sum().item()
        time.sleep(0.01)
        count += 1
    print("%.3f" % total)
    print(json.dumps({"loaders": {"train": [count]}}))


if __name__ == "__main__":
    main()
