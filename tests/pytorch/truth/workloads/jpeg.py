"""Decoding JPEGs: files of about 500 × 375 pixels are read, decoded, cropped at random and made 224 × 224. The step waits as for a GPU."""

import time

import numpy as np
import torch
from PIL import Image
from torch.utils.data import Dataset

PICTURES = 256


def prepare(folder):
    draw = np.random.default_rng(3)
    for number in range(PICTURES):
        # Shapes of several sizes and some grain: as hard to decode as a photograph.
        pixels = np.zeros((375, 500, 3))
        for size in (4, 16, 64):
            coarse = draw.uniform(0, 255, (size, size, 3)).astype(np.uint8)
            pixels += np.asarray(Image.fromarray(coarse).resize((500, 375), Image.Resampling.BICUBIC)) / 3.0
        pixels += draw.normal(0, 4, pixels.shape)
        Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(folder / ("%03d.jpg" % number), quality=90)


class Pictures(Dataset):
    def __init__(self, folder):
        self.files = sorted(folder.glob("*.jpg")) * 3

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        with Image.open(self.files[index]) as file:
            picture = file.convert("RGB")
        left, top = (int(torch.randint(room + 1, ())) for room in (picture.width - 300, picture.height - 300))
        picture = picture.resize((224, 224), Image.Resampling.BILINEAR, (left, top, left + 300, top + 300))
        pixels = torch.from_numpy(np.array(picture)).permute(2, 0, 1).float()
        return pixels.div_(255.0), index % 10


def make(folder):
    return {
        "dataset": Pictures(folder),
        "loader": {"batch_size": 16, "shuffle": True},
        "epochs": 1,
        "step": lambda _batch: time.sleep(0.010),
    }
