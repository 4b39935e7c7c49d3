"""torchdata's StatefulDataLoader: stops in the middle of an epoch, saves its state, and a new loader goes on from there."""

import json
import time

import torch
from torch.utils.data import Dataset
from torchdata.stateful_dataloader import StatefulDataLoader


class Rows(Dataset):
    def __len__(self):
        return 240

    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.tensor(float(index))


def make():
    return StatefulDataLoader(Rows(), batch_size=4, shuffle=True, num_workers=2)  # loader: train resumed


def main():
    torch.manual_seed(14)
    loader, seen = make(), []
    for number, rows in enumerate(loader):
        seen += rows.tolist()
        time.sleep(0.02)
        if number == 24:
            break
    state = loader.state_dict()
    resumed, count = make(), 0
    resumed.load_state_dict(state)
    for rows in resumed:
        seen += rows.tolist()
        time.sleep(0.02)
        count += 1
    print(sorted(seen) == [float(index) for index in range(240)])
    print(json.dumps({"loaders": {"train": [number + 1], "resumed": [count]}}))


if __name__ == "__main__":
    main()
