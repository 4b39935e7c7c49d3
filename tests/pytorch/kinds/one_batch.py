"""As in a notebook: one batch, to look at it."""

import json
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __len__(self):
        return 1000

    def __getitem__(self, index):
        time.sleep(0.002)
        return torch.zeros(3, 16, 16), index % 10


def main():
    torch.manual_seed(35)
    loader = DataLoader(Pictures(), batch_size=16, shuffle=True, num_workers=2)  # loader: train
    pictures, labels = next(iter(loader))
    print(pictures.shape, sorted(set(labels.tolist()))[:1])
    print(json.dumps({"loaders": {"train": [1]}}))


if __name__ == "__main__":
    main()
