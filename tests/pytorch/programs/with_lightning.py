"""Lightning's own demonstration model, trained and validated by its Trainer; 42 if there is no Lightning."""

import hashlib
import sys

try:
    import lightning
    from lightning.pytorch.demos.boring_classes import BoringModel, RandomDataset
except Exception as error:
    print(error, file=sys.stderr)
    sys.exit(42)
import torch
import torch.utils.data as data


def main():
    lightning.seed_everything(5)
    training = data.DataLoader(RandomDataset(32, 64), batch_size=4, shuffle=True, num_workers=2, persistent_workers=True)
    validation = data.DataLoader(RandomDataset(32, 32), batch_size=4, num_workers=1)
    model = BoringModel()
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False
    )
    trainer.fit(model, training, validation)
    weights = hashlib.sha256()
    for name, values in model.state_dict().items():
        weights.update(name.encode() + values.numpy().tobytes())
    print(trainer.global_step, weights.hexdigest(), trainer.validate(model, validation), torch.rand(1).item())


if __name__ == "__main__":
    main()
