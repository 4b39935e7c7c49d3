"""Seconds that epochs of one piece of work take, apart from the first one; one JSON object.

    python speed.py WORK WORKERS EPOCHS [DATA]

WORK: pictures (JPEGs of DATA/pictures, resized), tiny (numbers in memory, nothing to do for a sample), pairs (the same, two to a batch), steady
(1 ms a sample).
"""

import json
import os
import pathlib
import sys
import time

import torch
import torch.utils.data as data

WORK, WORKERS, EPOCHS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


class Pictures(data.Dataset):
    def __init__(self, root):
        classes = sorted(path for path in root.iterdir() if path.is_dir())
        files = [(path, label) for label, folder in enumerate(classes) for path in sorted(folder.iterdir())]
        self.files = files * 2

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        import numpy
        from PIL import Image

        path, label = self.files[index]
        with Image.open(path) as picture:
            picture = picture.convert("RGB").resize((224, 224), Image.Resampling.BILINEAR)
        return torch.from_numpy(numpy.array(picture)).permute(2, 0, 1).contiguous(), label


class Tiny(data.Dataset):
    def __len__(self):
        return 200_000

    def __getitem__(self, index):
        return index


class Pairs(Tiny):
    def __len__(self):
        return 20_000


class Steady(data.Dataset):
    def __len__(self):
        return 2000

    def __getitem__(self, index):
        end = time.perf_counter_ns() + 1_000_000
        while time.perf_counter_ns() < end:
            pass
        return index


def main():
    torch.manual_seed(0)
    if WORK == "pictures":
        dataset, batch = Pictures(pathlib.Path(sys.argv[4]) / "pictures"), 32
    else:
        dataset, batch = {"tiny": (Tiny(), 256), "pairs": (Pairs(), 2), "steady": (Steady(), 32)}[WORK]
    loader = data.DataLoader(dataset, batch_size=batch, shuffle=True, num_workers=WORKERS, persistent_workers=WORKERS > 0)
    seconds = []
    for _ in range(EPOCHS + 1):
        start = time.perf_counter()
        for _ in loader:
            pass
        seconds.append(time.perf_counter() - start)
    del loader
    used = os.times()
    # Of the workers as well: they have ended and were waited for.
    busy = used.user + used.system + used.children_user + used.children_system
    samples = len(dataset)
    print(json.dumps({"seconds": sum(seconds[1:]), "busy": busy, "samples": samples * EPOCHS, "all_samples": samples * (EPOCHS + 1)}))


if __name__ == "__main__":
    main()
