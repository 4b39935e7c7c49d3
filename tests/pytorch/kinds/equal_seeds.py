"""The loader's generator is seeded anew for each epoch, so that the workers draw the same augmentation again and again."""

import json
import time

import numpy
import torch
from torch.utils.data import DataLoader, Dataset


class Augmented(Dataset):
    def __len__(self):
        return 240

    def __getitem__(self, index):
        return index + 0.1 * numpy.random.rand()


def main():
    generator = torch.Generator()
    loader = DataLoader(Augmented(), batch_size=4, shuffle=True, num_workers=2, generator=generator)  # loader: train
    passes, total = [], 0.0
    for epoch in range(3):
        generator.manual_seed(42)
        passes.append(0)
        for rows in loader:
            total += rows.sum().item()
            time.sleep(0.012)
            passes[-1] += 1
    print("%.6f" % total)
    print(json.dumps({"loaders": {"train": passes}}))


if __name__ == "__main__":
    main()
