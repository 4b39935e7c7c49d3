"""A batch sampler with nothing but __iter__, written as a generator; batches of tokens, not of a number of samples."""

import json
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Texts(Dataset):
    def __len__(self):
        return 300

    def __getitem__(self, index):
        return torch.ones(10 + index % 40)


class ByTokens:
    """As many texts as fit into a number of tokens."""

    def __init__(self, dataset, tokens):
        self.dataset, self.tokens = dataset, tokens

    def __iter__(self):
        batch, tokens = [], 0
        for index in torch.randperm(len(self.dataset)).tolist():
            length = 10 + index % 40
            if batch and tokens + length > self.tokens:
                yield batch
                batch, tokens = [], 0
            batch.append(index)
            tokens += length
        yield batch


def main():
    torch.manual_seed(13)
    dataset = Texts()
    loader = DataLoader(  # loader: train
        dataset,
        batch_sampler=ByTokens(dataset, 120),
        collate_fn=torch.cat,
        num_workers=2,
        persistent_workers=True,
    )
    passes, tokens = [], 0
    for epoch in range(2):
        passes.append(0)
        for batch in loader:
            tokens += batch.numel()
            time.sleep(0.012)
            passes[-1] += 1
    print(tokens)
    print(json.dumps({"loaders": {"train": passes}}))


if __name__ == "__main__":
    main()
