"""The loops people train with, each of which answers how many batches it trained on and validated."""

import importlib
import logging
import tempfile
import warnings

import torch
from torch.utils.data import DataLoader

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


def loaders_of(training, settings):
    more = {"collate_fn": training.collate_fn, "worker_init_fn": training.worker_init_fn}
    train = DataLoader(training.dataset, shuffle=True, **settings, **more)
    if training.validation is None:
        return train, None
    return train, DataLoader(training.validation, **settings, **more)


def one_value(values):
    """Of a large batch a part is enough: the step is what `training.step` says."""
    return values.reshape(-1)[:64].mean()


def plain(training, settings, epochs):
    train, val = loaders_of(training, settings)
    model = torch.nn.Linear(1, 1)
    count = 0
    for epoch in range(epochs):
        for batch in train:
            model(one_value(batch["x"]).view(1, 1)).sum().backward()
            training.step()
            count += 1
        for batch in val or ():
            count += 1
    return count


def with_lightning(training, settings, epochs):
    import lightning

    class Net(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(1, 1)
            self.count = 0

        def training_step(self, batch, index):
            self.count += 1
            training.step()
            return self.layer(one_value(batch["x"]).view(1, 1)).sum()

        def validation_step(self, batch, index):
            self.count += 1

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=1e-3)

    off = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
    model = Net()
    trainer = lightning.Trainer(max_epochs=epochs, accelerator="cpu", num_sanity_val_steps=0, **off)
    trainer.fit(model, *(loader for loader in loaders_of(training, settings) if loader is not None))
    return model.count


class ForTrainer(torch.nn.Module):
    """Its step is the training's."""

    def __init__(self, step):
        super().__init__()
        self.layer, self.step = torch.nn.Linear(1, 1), step

    def forward(self, x):
        if self.training:
            self.step()
        return {"loss": self.layer(one_value(x).view(1, 1)).sum()}


def with_trainer(training, settings, epochs):
    from transformers import PrinterCallback, Trainer, TrainingArguments

    names = {"num_workers": "dataloader_num_workers", "prefetch_factor": "dataloader_prefetch_factor"}
    names.update(persistent_workers="dataloader_persistent_workers", pin_memory="dataloader_pin_memory", batch_size="per_device_train_batch_size")
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder, num_train_epochs=epochs, use_cpu=True, remove_unused_columns=False, logging_strategy="no", save_strategy="no",
            report_to=[], disable_tqdm=True, **{names[name]: value for name, value in settings.items()},
        )
        trainer = Trainer(model=ForTrainer(training.step), args=arguments, train_dataset=training.dataset, data_collator=training.collate_fn)
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        return trainer.state.global_step


def with_accelerate(training, settings, epochs):
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    train, _ = loaders_of(training, settings)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    model, optimizer, train = accelerator.prepare(model, optimizer, train)
    count = 0
    for epoch in range(epochs):
        for batch in train:
            optimizer.zero_grad()
            accelerator.backward(model(one_value(batch["x"]).view(1, 1)).sum())
            optimizer.step()
            training.step()
            count += 1
    return count


def imported(loop):
    """Imports the library of a loop."""
    importlib.import_module({"trainer": "transformers.trainer", "plain": "torch"}.get(loop, loop))


LOOPS = {"plain": plain, "lightning": with_lightning, "trainer": with_trainer, "accelerate": with_accelerate}
