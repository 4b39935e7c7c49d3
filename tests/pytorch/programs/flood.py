"""Iterates until far more was sent than any buffer holds, and prints how much the probe counts as lost."""

import torch.utils.data as data


class Numbers(data.Dataset):
    def __len__(self):
        return 400_000

    def __getitem__(self, index):
        return index


for _ in data.DataLoader(Numbers(), batch_size=400, collate_fn=len):
    pass
import loadscope_probe

print(loadscope_probe.PROBE.outlet.lost)
