"""The loop of every tutorial: one epoch over pictures that come from a disk, two workers, a step that takes longer than reading."""

import json
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.full((3, 32, 32), float(index % 7)), index % 10


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    loader = DataLoader(Pictures(), batch_size=8, shuffle=True, num_workers=2)  # loader: train
    count = 0
    for pictures, labels in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(pictures), labels)
        loss.backward()
        optimizer.step()
        time.sleep(0.03)
        count += 1
    print("%.4f" % loss.item())
    print(json.dumps({"loaders": {"train": [count]}}))


if __name__ == "__main__":
    main()
