"""The Trainer of transformers, which evaluates every second step: each evaluation makes a loader of its own, all in one line."""

import json
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, PrinterCallback, Trainer, TrainerCallback, TrainingArguments, set_seed


class Tokens(Dataset):
    def __init__(self, length, first):
        self.length, self.first = length, first

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        tokens = (torch.arange(16) * (self.first + index)) % 50
        return {"input_ids": tokens, "labels": tokens}


class Counts(TrainerCallback):
    def __init__(self):
        self.passes = {"train": [0], "eval": [0]}

    def on_step_end(self, args, state, control, **more):
        self.passes["train"][-1] += 1

    def on_prediction_step(self, args, state, control, **more):
        self.passes["eval"][-1] += 1

    def on_evaluate(self, args, state, control, **more):
        self.passes["eval"].append(0)


def main():
    set_seed(5)
    torch.set_num_threads(1)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=16, n_embd=16, n_layer=1, n_head=2))
    counts = Counts()
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder, num_train_epochs=1, per_device_train_batch_size=4, per_device_eval_batch_size=8, seed=5, use_cpu=True,
            eval_strategy="steps", eval_steps=1, logging_strategy="no", save_strategy="no", report_to=[], disable_tqdm=True,
        )
        trainer = Trainer(model=model, args=arguments, train_dataset=Tokens(240, 1), eval_dataset=Tokens(32, 3), callbacks=[counts])
        trainer.remove_callback(PrinterCallback)
        trainer.train()  # loader: train eval
    print(trainer.state.global_step)
    counts.passes["eval"].pop()
    print(json.dumps({"loaders": counts.passes}))


if __name__ == "__main__":
    main()
