"""A map-style dataset of Hugging Face's datasets, with_format("torch"): a whole batch is asked for at once (__getitems__)."""

import json
import time

import datasets
import torch
from torch.utils.data import DataLoader


def main():
    torch.manual_seed(17)
    datasets.disable_progress_bars()
    texts = ["word " * (1 + number % 9) for number in range(480)]
    dataset = datasets.Dataset.from_dict({"text": texts, "label": [number % 2 for number in range(480)]})
    dataset = dataset.map(lambda row: {"length": len(row["text"])}, keep_in_memory=True).with_format("torch", columns=["label", "length"])
    loader = DataLoader(dataset, batch_size=8, shuffle=True, num_workers=2)  # loader: train
    total, count = 0, 0
    for batch in loader:
        total += int(batch["length"].sum())
        time.sleep(0.03)
        count += 1
    print(total)
    print(json.dumps({"loaders": {"train": [count]}}))


if __name__ == "__main__":
    main()
