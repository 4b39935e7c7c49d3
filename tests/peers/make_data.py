"""Writes the files that all programs of the comparison read: pictures and tokens. Needs numpy and Pillow.

    python make_data.py FOLDER_OF_PHOTOGRAPHS FOLDER

The same files come out every time. What is there already is kept.
"""

import os
import pathlib
import sys

import numpy as np
from PIL import Image

PICTURES = 400
CLASSES = 10
TOKENS = 262_144 * 1024
MOST_TOKEN = 50_256


def pictures(photographs, folder):
    """Pieces of the photographs, of about 500×375 pixels, turned and in other light."""
    sources = [Image.open(path).convert("RGB") for path in sorted(photographs.glob("*.jpg"))]
    if not sources:
        sys.exit(f"There are no photographs (*.jpg) in {photographs}.")
    draw = np.random.default_rng(0)
    for number in range(PICTURES):
        photograph = sources[number % len(sources)]
        width, height = 500 + int(draw.integers(-20, 21)), 375 + int(draw.integers(-15, 16))
        # A piece of three quarters to all of the photograph, in the proportions of the picture.
        most = min(photograph.width / width, photograph.height / height)
        scale = most * draw.uniform(0.75, 1.0)
        left = draw.uniform(0, photograph.width - width * scale)
        top = draw.uniform(0, photograph.height - height * scale)
        box = (left, top, left + width * scale, top + height * scale)
        piece = photograph.resize((width, height), Image.Resampling.BICUBIC, box)
        if draw.random() < 0.5:
            piece = piece.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        light = draw.uniform(0.8, 1.2)
        grain = draw.normal(0, 3, (height, width, 1))
        pixels = np.clip(np.asarray(piece) * light + grain, 0, 255).astype(np.uint8)
        target = folder / f"{number % CLASSES:02}" / f"{number:03}.jpg"
        target.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(target, quality=90, subsampling="4:2:0")


def tokens(path):
    draw = np.random.default_rng(0)
    with open(path, "wb") as file:
        for _ in range(64):
            part = draw.integers(0, MOST_TOKEN + 1, TOKENS // 64, dtype=np.uint16)
            part.astype("<u2").tofile(file)


def once(target, make):
    """Makes a file or folder under another name and renames it, so that a half one is never kept."""
    if target.exists():
        return
    half = target.with_name(f"{target.name}.{os.getpid()}")
    make(half)
    half.rename(target)


def main():
    photographs, folder = map(pathlib.Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    once(folder / "pictures", lambda half: pictures(photographs, half))
    once(folder / "tokens.u16", tokens)
    sizes = [path.stat().st_size for path in (folder / "pictures").glob("*/*.jpg")]
    print(f"{len(sizes)} pictures of {sum(sizes) / len(sizes) / 1000:.0f} kB on average")


if __name__ == "__main__":
    main()
