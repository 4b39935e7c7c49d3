"""The dataset opens its file before the workers are forked, so that they share the position of the file."""

import json
import tempfile
import time

import torch
from torch.utils.data import DataLoader, Dataset

RECORD = 1 << 14


class Records(Dataset):
    def __init__(self, path, count):
        self.file = open(path, "rb")
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        self.file.seek(index * RECORD)
        record = self.file.read(RECORD)
        time.sleep(0.002)
        return torch.tensor(len(record))


def main():
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(640 * RECORD)
        loader = DataLoader(Records(file.name, 640), batch_size=8, shuffle=True, num_workers=2)  # loader: train
        passes = [0]
        for _ in loader:
            time.sleep(0.01)
            passes[-1] += 1
        print(json.dumps({"loaders": {"train": passes}}))


if __name__ == "__main__":
    main()
