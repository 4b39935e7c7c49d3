"""A small language model that transformers' Trainer trains and evaluates; 42 if there is no transformers."""

import hashlib
import sys

try:
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed
except Exception as error:
    print(error, file=sys.stderr)
    sys.exit(42)
import torch
import torch.utils.data as data


class Tokens(data.Dataset):
    def __init__(self, first):
        self.first = first

    def __len__(self):
        return 48

    def __getitem__(self, index):
        tokens = (torch.arange(16) * (self.first + index)) % 50
        return {"input_ids": tokens, "labels": tokens}


def main():
    set_seed(5)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=16, n_embd=16, n_layer=1, n_head=2))
    arguments = TrainingArguments(
        output_dir="out", num_train_epochs=2, per_device_train_batch_size=4, per_device_eval_batch_size=8, seed=5,
        dataloader_num_workers=2, eval_strategy="epoch", save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True,
    )
    trainer = Trainer(model=model, args=arguments, train_dataset=Tokens(1), eval_dataset=Tokens(3))
    loss = trainer.train().training_loss
    weights = hashlib.sha256()
    for name, values in model.state_dict().items():
        weights.update(name.encode() + values.numpy().tobytes())
    print(trainer.state.global_step, loss, trainer.evaluate()["eval_loss"], weights.hexdigest(), torch.rand(1).item())


if __name__ == "__main__":
    main()
