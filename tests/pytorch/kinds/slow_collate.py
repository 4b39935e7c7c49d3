"""collate_fn tokenizes: reading is nothing, putting together is everything."""

import json
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Texts(Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        return "text number %d" % index


def tokenize_and_stack(texts):
    time.sleep(0.05)
    return torch.tensor([[ord(letter) for letter in text.ljust(20)] for text in texts])


def main():
    loader = DataLoader(Texts(), batch_size=8, collate_fn=tokenize_and_stack, num_workers=2)  # loader: train
    passes, total = [], 0
    for epoch in range(2):
        passes.append(0)
        for tokens in loader:
            total += int(tokens.sum())
            time.sleep(0.008)
            passes[-1] += 1
    print(total)
    print(json.dumps({"loaders": {"train": passes}}))


if __name__ == "__main__":
    main()
