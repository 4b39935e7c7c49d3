"""PyTorch at one piece of work: one figure as a line of JSON, in the form that Loadscope's `measure` has.

    python pytorch.py work=w1 workers=2 seconds=1 data=FOLDER share=1

Needs torch, numpy and Pillow. `make_data.py` writes the files that are read.
"""

import collections
import io
import json
import pathlib
import resource
import sys
import time

import numpy as np
import torch
import torch.utils.data as data
from PIL import Image

PICTURE = (3, 224, 224)
WINDOW = 1024
WINDOWS = 262_144


class Pictures(data.Dataset):
    """w1: pictures in memory."""

    def __init__(self, count):
        size = 3 * 224 * 224
        at = (np.arange(size) * 13).astype(np.uint8)
        first = (np.arange(count) * 7).astype(np.uint8)
        self.pictures = torch.from_numpy(first[:, None] + at).view(count, *PICTURE)

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, index):
        return self.pictures[index], index % 1000


class Folder(data.Dataset):
    """w3: the pictures of a folder of classes, repeated `times` times."""

    def __init__(self, root, times):
        classes = sorted(path for path in root.iterdir() if path.is_dir())
        files = [(path, label) for label, folder in enumerate(classes)
                 for path in sorted(folder.iterdir())]
        self.files = files * times

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        path, label = self.files[index]
        with Image.open(path) as picture:
            # Pillow's filters are as wide as the reduction: bilinear with antialiasing.
            picture = picture.convert("RGB").resize((224, 224), Image.Resampling.BILINEAR)
        pixels = torch.from_numpy(np.array(picture))
        return pixels.permute(2, 0, 1).contiguous(), label


class Tokens(data.Dataset):
    """w6: windows of a memory-mapped file."""

    def __init__(self, path, windows):
        tokens = torch.from_file(str(path), shared=True, size=windows * WINDOW, dtype=torch.uint16)
        self.windows = tokens.view(windows, WINDOW)

    def __len__(self):
        return len(self.windows)

    def __getitem__(self, index):
        return self.windows[index]


def scalars(count, kind):
    """w2: pairs of numbers, as tensors or as Python's own."""
    features = np.arange(count, dtype=np.float32) * np.float32(0.5)
    labels = np.arange(count) % 1000
    if kind == "tensors":
        return data.TensorDataset(torch.from_numpy(features), torch.from_numpy(labels))
    return list(zip(features.tolist(), labels.tolist()))


def check_of(values):
    """Sum, and sum of each times its position from 1 on, modulo 2^64."""
    values = np.asarray(values).astype(np.uint64)
    places = np.arange(1, len(values) + 1, dtype=np.uint64)
    return {"sum": int(values.sum(dtype=np.uint64)),
            "order": int((values * places).sum(dtype=np.uint64))}


def repeated(action, seconds):
    """How often an action was done, and in how many seconds: once at least."""
    started = time.perf_counter()
    times = 0
    while True:
        action()
        times += 1
        passed = time.perf_counter() - started
        if passed >= seconds:
            return times, passed


def throughput(job, dataset, batch_size, values_of, shuffle=False):
    """Items a second over whole epochs, after one that fills caches and is checked."""
    loader = data.DataLoader(dataset, batch_size=batch_size, shuffle=shuffle,
                             num_workers=job.workers, persistent_workers=job.workers > 0,
                             generator=torch.Generator().manual_seed(0))
    # Copies: a batch from a worker keeps a file descriptor open for as long as anything refers to it.
    check = check_of(np.concatenate([values_of(batch).numpy().copy() for batch in loader]))

    def epoch():
        for _ in loader:
            pass
    times, seconds = repeated(epoch, job.seconds)
    return {"value": len(dataset) * times / seconds, "unit": "items/s", **check}


def second(batch):
    return batch[1]


def first_tokens(batch):
    return batch[:, 0]


def indices(job, make):
    """Indices a second, with what happens before the first one."""
    values = list(make())

    def epoch():
        collections.deque(make(), maxlen=0)
    times, seconds = repeated(epoch, job.seconds)
    return {"value": len(values) * times / seconds, "unit": "items/s", **check_of(values)}


def zero():
    return torch.Generator().manual_seed(0)


def random_indices(count):
    return iter(data.RandomSampler(range(count), generator=zero()))


def distributed_indices(count):
    return iter(data.DistributedSampler(range(count), num_replicas=8, rank=0, seed=0))


def weighted_indices(weights, replacement):
    return iter(data.WeightedRandomSampler(weights, len(weights), replacement, zero()))


def decoded(job, root):
    """Pictures a second, decoded by Pillow and thrown away."""
    files = [path.read_bytes() for folder in root.iterdir() for path in folder.iterdir()]

    def all_of_them():
        for file in files:
            Image.open(io.BytesIO(file)).load()
    all_of_them()
    times, seconds = repeated(all_of_them, job.seconds)
    return {"value": len(files) * times / seconds, "unit": "items/s"}


def memory(count):
    """How much the memory of this process grows at most while an epoch is drawn."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    collections.deque(random_indices(count), maxlen=0)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"value": (after - before) * 1024 / 1e6, "unit": "MB"}


def first(job, persistent):
    """From `iter(loader)` to the first batch with 2 workers: the median of many epochs."""
    loader = data.DataLoader(scalars(64, "numbers"), batch_size=1, num_workers=2,
                             persistent_workers=persistent)
    collections.deque(loader, maxlen=0)
    times = []
    for _ in range(max(5, job.part(100 if persistent else 20))):
        started = time.perf_counter()
        iterator = iter(loader)
        next(iterator)
        times.append(time.perf_counter() - started)
        collections.deque(iterator, maxlen=0)
        del iterator
    return {"value": float(np.median(times)) * 1e3, "unit": "ms"}


class Job:
    """What is asked for."""

    def __init__(self, arguments):
        given = dict(argument.split("=", 1) for argument in arguments)
        self.work = given["work"]
        self.workers = int(given.get("workers", 0))
        self.seconds = float(given.get("seconds", 1))
        self.data = pathlib.Path(given.get("data", "."))
        self.share = float(given.get("share", 1))

    def part(self, whole):
        return max(1, int(whole * self.share))


def measure(job):
    weights = [float(1 + i % 10) for i in range(job.part(1_000_000))]
    works = {
        "w1": lambda: throughput(job, Pictures(job.part(4096)), 64, second, shuffle=True),
        "w2-tensors": lambda: throughput(job, scalars(job.part(1_000_000), "tensors"), 256, second),
        "w2-numbers": lambda: throughput(job, scalars(job.part(1_000_000), "numbers"), 256, second),
        "w3": lambda: throughput(job, Folder(job.data / "pictures", job.part(2)), 32, second),
        "w3-decode": lambda: decoded(job, job.data / "pictures"),
        "w4-random": lambda: indices(job, lambda: random_indices(job.part(10_000_000))),
        "w4-distributed":
            lambda: indices(job, lambda: distributed_indices(job.part(10_000_000))),
        "w4-weighted": lambda: indices(job, lambda: weighted_indices(weights, False)),
        "w4-replacement": lambda: indices(job, lambda: weighted_indices(weights, True)),
        "w4-memory": lambda: memory(job.part(10_000_000)),
        "w5-fresh": lambda: first(job, False),
        "w5-persistent": lambda: first(job, True),
        "w5-round-trip":
            lambda: throughput(job, scalars(job.part(20_000), "numbers"), 1, second),
        "w6": lambda: throughput(job, Tokens(job.data / "tokens.u16", job.part(WINDOWS)), 32,
                                 first_tokens, shuffle=True),
    }
    return works[job.work]()


if __name__ == "__main__":
    print(json.dumps(measure(Job(sys.argv[1:]))))
