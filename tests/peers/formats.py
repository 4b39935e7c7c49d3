"""The counterparts in Python of the works `formats-…`: one figure as a line of JSON, in the form that Loadscope's `measure` has.

    python formats.py work=formats-voc workers=0 seconds=1 data=FOLDER

Each is read as its own documentation says, one sample for one index, by `DataLoader(…, num_workers=0)` in one thread: the same
`torch.utils.data` around it that Loadscope has around its own. `make_formats.py` writes the files.
"""

import collections
import json
import pathlib
import sqlite3
import sys
import time

import numpy as np
import torch
import torch.utils.data as data

CLASSES = (
    "aeroplane bicycle bird boat bottle bus car cat chair cow diningtable dog horse motorbike person pottedplant sheep sofa train tvmonitor"
).split()


def lists(batch):
    return tuple(zip(*batch))


class Voc(data.Dataset):
    """As in torchvision's reference for detection: the picture as a tensor, boxes and labels."""

    def __init__(self, folder):
        from torchvision.datasets import VOCDetection

        self.inner = VOCDetection(str(folder / "pictures/voc"), year="2012", image_set="train")
        self.labels = {name: at + 1 for at, name in enumerate(CLASSES)}

    def __len__(self):
        return len(self.inner)

    def __getitem__(self, index):
        from torchvision.transforms.functional import pil_to_tensor

        image, target = self.inner[index]
        objects = target["annotation"].get("object", [])
        boxes = [[float(one["bndbox"][side]) for side in ("xmin", "ymin", "xmax", "ymax")] for one in objects]
        labels = torch.tensor([self.labels[one["name"]] for one in objects], dtype=torch.int64)
        return pil_to_tensor(image), {"boxes": torch.tensor(boxes).reshape(-1, 4), "labels": labels}


class Coco(data.Dataset):
    """The picture as a tensor, boxes, labels, and masks if they are wanted."""

    def __init__(self, folder, masks):
        from torchvision.datasets import CocoDetection

        self.inner = CocoDetection(str(folder / "pictures/coco/images"), str(folder / "pictures/coco/instances.json"))
        self.masks = masks

    def __len__(self):
        return len(self.inner)

    def __getitem__(self, index):
        from torchvision.transforms.functional import pil_to_tensor

        image, notes = self.inner[index]
        boxes = torch.tensor([note["bbox"] for note in notes], dtype=torch.float32).reshape(-1, 4)
        boxes[:, 2:] += boxes[:, :2]
        target = {"boxes": boxes, "labels": torch.tensor([note["category_id"] for note in notes], dtype=torch.int64)}
        if self.masks:
            drawn = [torch.from_numpy(self.inner.coco.annToMask(note)) for note in notes]
            target["masks"] = torch.stack(drawn) if drawn else torch.zeros(0, *image.size[::-1], dtype=torch.uint8)
        return pil_to_tensor(image), target


class Csv(data.Dataset):
    def __init__(self, folder):
        import pandas

        self.table = pandas.read_csv(folder / "tables/rows.csv")

    def __len__(self):
        return len(self.table)

    def __getitem__(self, index):
        return self.table.iloc[index].to_dict()


class Parquet(data.Dataset):
    def __init__(self, folder):
        import pyarrow.parquet

        table = pyarrow.parquet.read_table(folder / "tables/rows.parquet", use_threads=False)
        self.columns = {name: table[name].combine_chunks() for name in table.column_names}
        self.rows = len(table)

    def __len__(self):
        return self.rows

    def __getitem__(self, index):
        return {name: column[index].as_py() for name, column in self.columns.items()}


def arrow(folder):
    """It answers to `__getitems__` as well, which the loader uses."""
    from datasets import load_from_disk

    return load_from_disk(folder / "tables/saved")


class Windows(data.Dataset):
    """Windows of a memory-mapped array, without a copy where PyTorch has none."""

    def __init__(self, folder):
        self.array = np.load(folder / "tables/windows.npy", mmap_mode="c")

    def __len__(self):
        return len(self.array) // 64

    def __getitem__(self, index):
        return torch.from_numpy(self.array[index * 64:index * 64 + 64])


class Items(data.Dataset):
    def __init__(self, folder):
        self.base = sqlite3.connect(f"file:{folder / 'tables/rows.sqlite'}?mode=ro", uri=True)
        self.keys = [key for (key,) in self.base.execute("SELECT id FROM items")]
        self.names = [column[0] for column in self.base.execute("SELECT * FROM items LIMIT 1").description]

    def __len__(self):
        return len(self.keys)

    def __getitem__(self, index):
        row = self.base.execute("SELECT * FROM items WHERE id = ?", (self.keys[index],)).fetchone()
        return dict(zip(self.names, row))


def shards(folder, name, *fields):
    import webdataset

    urls = str(folder / f"shards/{name}-{{000..003}}.tar")
    return webdataset.WebDataset(urls, shardshuffle=False).decode("torchrgb8").to_tuple(*fields)


def of_field(batch):
    return [int(number) for number in batch["label"]]


def of_targets(batch):
    return [int(target["labels"].sum()) for target in batch[1]]


WORKS = {
    "formats-voc": (Voc, 8, lists, of_targets),
    "formats-coco": (lambda folder: Coco(folder, False), 8, lists, of_targets),
    "formats-coco-masks": (lambda folder: Coco(folder, True), 8, lists, of_targets),
    "formats-webdataset": (lambda folder: shards(folder, "pictures", "jpg", "cls"), 8, lists, lambda batch: list(batch[1])),
    "formats-webdataset-small": (lambda folder: shards(folder, "small", "npy", "cls"), 64, None, lambda batch: batch[1].tolist()),
    "formats-csv": (Csv, 64, None, of_field),
    "formats-parquet": (Parquet, 64, None, of_field),
    "formats-arrow": (arrow, 64, None, of_field),
    "formats-npy": (Windows, 64, None, lambda batch: batch[:, 0, 0].tolist()),
    "formats-sqlite": (Items, 64, None, of_field),
}


def main():
    given = dict(argument.split("=", 1) for argument in sys.argv[1:])
    seconds, folder = float(given.get("seconds", 1)), pathlib.Path(given["data"]) / "formats"
    torch.set_num_threads(1)
    make, batch_size, collate, numbers_of = WORKS[given["work"]]
    dataset = make(folder)
    streamed = isinstance(dataset, data.IterableDataset)
    order = {} if streamed else {"shuffle": True, "generator": torch.Generator().manual_seed(0)}
    loader = data.DataLoader(dataset, batch_size=batch_size, collate_fn=collate, num_workers=0, **order)
    # An epoch that fills caches and says what was loaded.
    total, order, count = 0, 0, 0
    for batch in loader:
        for number in numbers_of(batch):
            count += 1
            total += number
            order += number * count
    started, times = time.perf_counter(), 0
    while True:
        collections.deque(loader, maxlen=0)
        times += 1
        passed = time.perf_counter() - started
        if passed >= seconds:
            break
    print(json.dumps({"value": count * times / passed, "unit": "items/s", "sum": total % 2**64, "order": order % 2**64}))


if __name__ == "__main__":
    main()
