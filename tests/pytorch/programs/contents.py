"""Loads batches whose parts belong together: pictures with boxes, masks, keypoints and captions; sequences with a mask; sounds;
columns of a table. Prints what anybody could notice.

    python contents.py START_METHOD
"""

import hashlib
import sys

import torch
import torch.utils.data as data

try:
    from torchvision import tv_tensors
except ImportError:
    tv_tensors = None

CONTEXT = sys.argv[1]


class Detection(data.Dataset):
    """Pictures of unequal sizes, with one to four objects."""

    def __len__(self):
        return 24

    def __getitem__(self, index):
        random = torch.Generator().manual_seed(index)
        height, width = 120 + index % 5 * 8, 160 + index % 3 * 16
        picture = torch.zeros(3, height, width, dtype=torch.uint8)
        picture[0] = torch.linspace(0, 255, width).to(torch.uint8)
        picture[1] = torch.linspace(0, 255, height).to(torch.uint8)[:, None]
        count = index % 4 + 1
        corner = torch.rand(count, 2, generator=random) * torch.tensor([width * 0.6, height * 0.6])
        size = torch.rand(count, 2, generator=random) * torch.tensor([width * 0.3, height * 0.3]) + 8
        boxes = torch.cat([corner, corner + size], 1)
        masks = torch.zeros(count, height, width, dtype=torch.uint8)
        for mask, (left, top, right, bottom) in zip(masks, boxes.int().tolist()):
            mask[top:bottom, left:right] = 1
        points = torch.cat([corner + size * torch.rand(count, 2, generator=random), torch.full((count, 1), 2.0)], 1)
        target = {
            "boxes": boxes,
            "labels": torch.randint(1, 5, (count,), generator=random),
            "masks": masks,
            "keypoints": points[:, None],
            "captions": ["picture number %d" % index],
        }
        if tv_tensors is not None and index % 2:
            picture = tv_tensors.Image(picture)
            form = tv_tensors.BoundingBoxFormat.XYWH
            boxes = torch.cat([corner, size], 1)
            target["boxes"] = tv_tensors.BoundingBoxes(boxes, format=form, canvas_size=(height, width))
            target["masks"] = tv_tensors.Mask(masks)
        return picture, target


class Words(data.Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, index):
        return torch.arange(1, 4 + index * 7 % 29)


class Sounds(data.Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        time = torch.arange(8000) / 8000
        wave = torch.sin(6.2832 * (200 + 40 * index) * time * (1 + time)) * torch.exp(-2 * time)
        return {"waveform": wave[None], "rate": 8000, "word": ("yes", "no")[index % 2]}


class Rows(data.Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        height = float("nan") if index % 5 == 3 else 1.5 + index / 200
        return {"age": index * 7 % 90, "height": height, "name": "person %d" % index, "xyz": torch.tensor([index, 0.5, -1.0])}


def listed(batch):
    return tuple(zip(*batch))


def padded(batch):
    longest = max(map(len, batch))

    def fill(values):
        return torch.nn.functional.pad(values, (0, longest - len(values)))

    return {
        "input_ids": torch.stack([fill(values) for values in batch]),
        "attention_mask": torch.stack([fill(torch.ones_like(values)) for values in batch]),
    }


def leaves(batch):
    if isinstance(batch, torch.Tensor):
        yield ("%s %s" % (batch.dtype, tuple(batch.shape))).encode() + batch.as_subclass(torch.Tensor).numpy().tobytes()
    elif isinstance(batch, dict):
        for value in batch.values():
            yield from leaves(value)
    elif isinstance(batch, (list, tuple)):
        for value in batch:
            yield from leaves(value)
    else:
        yield str(batch).encode()


def main():
    torch.manual_seed(3)
    workers = 0 if CONTEXT == "none" else 1
    more = {"multiprocessing_context": CONTEXT} if workers else {}
    whole = hashlib.sha256()
    for dataset, collate in ((Detection(), listed), (Words(), padded), (Sounds(), None), (Rows(), None)):
        for batch in data.DataLoader(dataset, batch_size=6, num_workers=workers, collate_fn=collate, **more):
            for leaf in leaves(batch):
                whole.update(leaf)
    print(whole.hexdigest(), torch.rand(1).item())


if __name__ == "__main__":
    main()
