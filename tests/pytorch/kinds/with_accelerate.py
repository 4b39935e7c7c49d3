"""accelerate: the loader that is iterated is made by prepare(), from the one that the program made."""

import json
import time

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(6)
    accelerator = Accelerator(cpu=True)
    dataset = TensorDataset(torch.randn(480, 8), torch.randn(480, 1))
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(dataset, batch_size=8, shuffle=True, num_workers=2)  # loader: train
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)  # loader: train
    passes = []
    for epoch in range(2):
        passes.append(0)
        for features, targets in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(features), targets)
            accelerator.backward(loss)
            optimizer.step()
            time.sleep(0.015)
            passes[-1] += 1
        accelerator.print("epoch %d: %.4f" % (epoch, loss.item()))
    print(json.dumps({"loaders": {"train": passes}}))


if __name__ == "__main__":
    main()
