"""Lightning's Trainer: fit with a validation after each epoch and its sanity check before the first; one worker, ten times too slow."""

import json
import logging
import time
import warnings

import torch
from torch.utils.data import DataLoader, Dataset

import lightning

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


class Cells(Dataset):
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        time.sleep(0.008)
        return torch.full((8,), index / self.length), torch.tensor([index / self.length])


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)
        self.passes = {"train": [], "val": []}

    def on_train_epoch_start(self):
        self.passes["train"].append(0)

    def on_validation_epoch_start(self):
        self.passes["val"].append(0)

    def training_step(self, batch, index):
        self.passes["train"][-1] += 1
        return torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])

    def validation_step(self, batch, index):
        self.passes["val"][-1] += 1

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


if __name__ == "__main__":
    lightning.seed_everything(4, verbose=False)
    model = Net()
    train = DataLoader(Cells(96), batch_size=4, shuffle=True, num_workers=1)  # loader: train
    val = DataLoader(Cells(32), batch_size=4, num_workers=1)  # loader: val
    off = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
    lightning.Trainer(max_epochs=2, accelerator="cpu", **off).fit(model, train, val)
    print("%.5f" % model.layer.weight.sum().item())
    print(json.dumps({"loaders": model.passes}))
