"""Every 20 steps the model is evaluated without a loader, every 30 steps it is saved. Neither is a training step."""

import io
import json
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Slow(io.BytesIO):
    """A disk."""

    def write(self, data):
        time.sleep(0.02)
        return super().write(data)


class Rows(Dataset):
    def __len__(self):
        return 480

    def __getitem__(self, index):
        time.sleep(0.005)
        return torch.full((4,), float(index))


def evaluate(model):
    model.eval()
    with torch.no_grad():
        for _ in range(10):
            model(torch.zeros(1, 4))
            time.sleep(0.04)
    model.train()


def main():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    loader = DataLoader(Rows(), batch_size=4, num_workers=1)  # loader: train
    count = 0
    for batch in loader:
        count += 1
        if count % 20 == 0:
            evaluate(model)
        time.sleep(0.01)
        if count % 30 == 0:
            torch.save(model.state_dict(), Slow())
    print(json.dumps({"loaders": {"train": [count]}}))


if __name__ == "__main__":
    main()
