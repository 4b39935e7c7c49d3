"""Loads the data of pictures.py with torchvision, on one core, and prints samples a second.

    python speed.py FOLDER

Needs torch, torchvision and pycocotools.
"""

import pathlib
import sys
import time

import torch
from torchvision import datasets
from torchvision.transforms.functional import pil_to_tensor


def voc(folder):
    """As in torchvision's reference for detection: a tensor, and boxes and labels."""
    data = datasets.VOCDetection(str(folder / "voc"), year="2012", image_set="train")
    names = {}
    for at in range(len(data)):
        image, target = data[at]
        objects = target["annotation"].get("object", [])
        boxes = [[float(one["bndbox"][side]) for side in ("xmin", "ymin", "xmax", "ymax")] for one in objects]
        labels = [names.setdefault(one["name"], len(names) + 1) for one in objects]
        yield pil_to_tensor(image), torch.tensor(boxes).reshape(-1, 4), torch.tensor(labels)


def coco(folder, masks):
    data = datasets.CocoDetection(str(folder / "coco/images"), str(folder / "coco/instances.json"))
    for at in range(len(data)):
        image, notes = data[at]
        boxes = torch.tensor([note["bbox"] for note in notes], dtype=torch.float32).reshape(-1, 4)
        boxes[:, 2:] += boxes[:, :2]
        labels = torch.tensor([note["category_id"] for note in notes])
        drawn = [torch.from_numpy(data.coco.annToMask(note)) for note in notes] if masks else []
        yield pil_to_tensor(image), boxes, labels, torch.stack(drawn) if drawn else None


def main():
    folder = pathlib.Path(sys.argv[1])
    torch.set_num_threads(1)
    for name, make in (
        ("voc", lambda: voc(folder)),
        ("coco, boxes", lambda: coco(folder, False)),
        ("coco, masks", lambda: coco(folder, True)),
    ):
        best = 0
        for _ in range(3):
            samples = make()
            next(samples)
            start = time.perf_counter()
            count = sum(1 for _ in samples)
            best = max(best, count / (time.perf_counter() - start))
        print(f"{name}: {best:.0f}")


if __name__ == "__main__":
    main()
