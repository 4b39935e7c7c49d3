"""Several epochs over one loader whose workers are started anew for each, as without persistent_workers."""

import json
import time

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(2)
    torch.set_num_threads(1)
    dataset = TensorDataset(torch.randn(96, 16), torch.randint(0, 2, (96,)))
    train_loader = DataLoader(dataset, batch_size=8, shuffle=True, num_workers=4)  # loader: train
    model = torch.nn.Linear(16, 2)
    optimizer = torch.optim.AdamW(model.parameters())
    passes = []
    for epoch in range(8):
        count = 0
        for features, labels in train_loader:
            loss = torch.nn.functional.cross_entropy(model(features), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            time.sleep(0.01)
            count += 1
        passes.append(count)
        print("epoch %d: %.4f" % (epoch, loss.item()))
    print(json.dumps({"loaders": {"train": passes}}))


if __name__ == "__main__":
    main()
