"""Pins batches without an accelerator: PyTorch believes that there is one, and a copy stands in for page-locked memory.

    python pinned.py WORKERS
"""

import sys
import time
import types

import torch
import torch.utils.data as data


def pin_memory(self, *_):
    time.sleep(0.002)
    return self.clone()


# Until 2.6 a loader asks for CUDA, since then for any accelerator.
torch.cuda.is_available = lambda: True
torch.cuda.current_device = lambda: 0
torch.cuda.set_device = lambda *_: None
if hasattr(torch, "accelerator"):
    torch.accelerator.is_available = lambda: True
    torch.accelerator.current_accelerator = lambda *_: types.SimpleNamespace(type="cuda")
    torch.accelerator.current_device_index = lambda: 0
    torch.accelerator.set_device_index = lambda *_: None
torch.Tensor.pin_memory = pin_memory


class Numbers(data.Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, index):
        return {"number": torch.ones(3) * index, "pair": (index, torch.zeros(2))}


loader = data.DataLoader(Numbers(), batch_size=4, num_workers=int(sys.argv[1]), pin_memory=True)
for _ in range(2):
    print(sum(float(batch["number"].sum()) for batch in loader))
