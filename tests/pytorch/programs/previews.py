"""Loads batches of all that are pictures, and of what only looks like it; prints what anybody could notice.

    python previews.py START_METHOD

The first picture of each kind is a ramp, dark on the left and bright on the right, larger than what is kept of it.
"""

import hashlib
import random
import sys

import torch
import torch.utils.data as data

CONTEXT = sys.argv[1]
SIDE = 128


def ramp(height=SIDE, width=SIDE):
    return (torch.arange(width) * 255 // (width - 1)).to(torch.uint8).expand(height, width)


class Everything(data.Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        byte = ramp()
        unit = byte.to(torch.float32) / 255
        noise = torch.rand(3, 8, 8)
        return {
            "chw bytes": byte.expand(3, SIDE, SIDE).contiguous(),
            "hwc bytes": byte.unsqueeze(2).expand(SIDE, SIDE, 3).contiguous(),
            "chw unit": unit.expand(3, SIDE, SIDE).contiguous(),
            "chw normalised": (unit.expand(3, SIDE, SIDE) - 0.45) / 0.22,
            "chw half": unit.expand(3, SIDE, SIDE).half(),
            "chw grey": unit.unsqueeze(0).contiguous(),
            "hwc grey": byte.unsqueeze(2).contiguous(),
            "bytes without a channel": byte.contiguous(),
            "wide": ramp(16, 256).expand(3, 16, 256).contiguous(),
            "noise": noise + random.random(),
            # From here on: no pictures.
            "label": index,
            "vectors": torch.zeros(20, 16),
            "tokens": torch.zeros(32, dtype=torch.int64),
            "mask": torch.ones(1, 16, 16, dtype=torch.bool),
            "tiny": torch.zeros(3, 2, 2),
            "many channels": torch.zeros(16, 8, 8),
            "five": torch.zeros(3, 2, 8, 8),
            "infinite": torch.full((3, 8, 8), float("inf")),
            "empty": torch.zeros(3, 0, 0),
        }


def main():
    torch.manual_seed(3)
    random.seed(3)
    workers = 0 if CONTEXT == "none" else 2
    more = {"multiprocessing_context": CONTEXT} if workers else {}
    whole = hashlib.sha256()
    for batch in data.DataLoader(Everything(), batch_size=6, shuffle=True, num_workers=workers, **more):
        for name, values in batch.items():
            whole.update(("%s %s %s" % (name, values.dtype, tuple(values.shape))).encode() + values.numpy().tobytes())
    print(whole.hexdigest(), torch.rand(1).item(), random.random())


if __name__ == "__main__":
    main()
