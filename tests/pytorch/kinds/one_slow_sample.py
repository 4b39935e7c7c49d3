"""One sample takes 400 times as long as the others, in each epoch. The dataset has a list of its files."""

import json
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Recordings(Dataset):
    def __init__(self):
        self.wav_files = ["calls/%03d.wav" % number for number in range(160)]

    def __len__(self):
        return len(self.wav_files)

    def __getitem__(self, index):
        time.sleep(0.6 if index == 73 else 0.0015)
        return torch.tensor([float(index)])


def main():
    loader = DataLoader(Recordings(), batch_size=8, num_workers=0)  # loader: train
    passes, total = [], 0.0
    for epoch in range(2):
        passes.append(0)
        for rows in loader:
            total += rows.sum().item()
            time.sleep(0.002)
            passes[-1] += 1
    print(total)
    print(json.dumps({"loaders": {"train": passes}}))


if __name__ == "__main__":
    main()
