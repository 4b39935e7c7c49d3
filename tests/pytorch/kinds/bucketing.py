"""Sentences of like length share a batch: the sampler sorts by length and shuffles the batches; padding in collate_fn."""

import json
import random
import time

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, Sampler


class Sentences(Dataset):
    def __init__(self):
        draw = random.Random(11)
        self.lengths = sorted(draw.randint(5, 60) for _ in range(400))

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, index):
        return torch.arange(self.lengths[index])


class BucketSampler(Sampler):
    def __init__(self, lengths, size):
        self.lengths, self.size, self.random = lengths, size, random.Random(12)

    def __len__(self):
        return (len(self.lengths) + self.size - 1) // self.size

    def __iter__(self):
        order = sorted(range(len(self.lengths)), key=lambda index: self.lengths[index])
        buckets = [order[start : start + self.size] for start in range(0, len(order), self.size)]
        self.random.shuffle(buckets)
        yield from buckets


def collate(sentences):
    return pad_sequence(sentences, batch_first=True), torch.tensor([len(s) for s in sentences])


def main():
    dataset = Sentences()
    loader = DataLoader(dataset, batch_sampler=BucketSampler(dataset.lengths, 8), collate_fn=collate, num_workers=2)  # loader: train
    passes, padded = [], 0
    for epoch in range(2):
        passes.append(0)
        for tokens, lengths in loader:
            padded += tokens.numel() - int(lengths.sum())
            time.sleep(0.02)
            passes[-1] += 1
    print(padded)
    print(json.dumps({"loaders": {"train": passes}}))


if __name__ == "__main__":
    main()
