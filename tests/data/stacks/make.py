"""Makes photos.jsonl, the recording of an imagined training with sampled stacks. Compress it with `zstd -19 --rm photos.jsonl`.

python make.py [BATCHES]
"""

import json
import random
import sys

MS = 1_000_000
PERIOD = 10 * MS
HOME, LIB, STANDARD = "/home/ada/photos", "/opt/venv/lib/python3.12/site-packages", "/usr/lib/python3.12"
DATASET = '''"""Photographs with their labels."""

import io
import random

from PIL import Image
from torch.utils.data import Dataset
from torchvision.transforms import functional as F


class Photos(Dataset):
    def __init__(self, files, size=224):
        self.files = files
        self.size = size

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        path, label = self.files[index]
        image = self.decode(path)
        # Twelve crops are made, of which one is used.
        crops = [self.crop(image) for _ in range(12)]
        image = random.choice(crops)
        return F.to_tensor(image), label

    def decode(self, path):
        with open(path, "rb") as file:
            data = file.read()
        return Image.open(io.BytesIO(data)).convert("RGB")

    def crop(self, image):
        left = random.randrange(image.width - self.size)
        top = random.randrange(image.height - self.size)
        box = (left, top, left + self.size, top + self.size)
        return F.resize(image.crop(box), 224)
'''
TRAIN = '''import torch
from torch.utils.data import DataLoader
from torchvision.models import resnet18

from dataset import Photos


def collate(samples):
    images, labels = zip(*samples)
    return torch.stack(images), torch.tensor(labels)


def main(files):
    model = resnet18()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(Photos(files), batch_size=8, num_workers=2, collate_fn=collate)
    for images, labels in loader:
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
'''
FETCH = [("_worker_loop", f"{LIB}/torch/utils/data/_utils/worker.py", 349), ("_MapDatasetFetcher.fetch", f"{LIB}/torch/utils/data/_utils/fetch.py", 52)]
COLLATE = [FETCH[0], (*FETCH[1][:2], 55), ("collate", f"{HOME}/train.py", 10)]


def item(line, *calls):
    return [*FETCH, ("Photos.__getitem__", f"{HOME}/dataset.py", line), *calls]


def step(line, *calls):
    return [("<module>", f"{HOME}/train.py", 26), ("main", f"{HOME}/train.py", line), *calls]


decode = ("Photos.decode", f"{HOME}/dataset.py", 30)
crop = ("Photos.crop", f"{HOME}/dataset.py", 36)
module = ("Module._call_impl", f"{LIB}/torch/nn/modules/module.py", 1762)
# The parts of a sample and of a training step in order of time, each with its share.
SAMPLE = [
    (0.08, item(21, ("Photos.decode", f"{HOME}/dataset.py", 29))),
    (0.34, item(21, decode, ("Image.convert", f"{LIB}/PIL/Image.py", 993), ("ImageFile.load", f"{LIB}/PIL/ImageFile.py", 293))),
    (0.06, item(23, crop, ("Image.crop", f"{LIB}/PIL/Image.py", 1209))),
    (0.38, item(23, crop, ("resize", f"{LIB}/torchvision/transforms/functional.py", 479), ("resize", f"{LIB}/torchvision/transforms/_functional_pil.py", 250), ("Image.resize", f"{LIB}/PIL/Image.py", 2293))),
    (0.04, item(24, ("Random.choice", f"{STANDARD}/random.py", 341))),
    (0.10, item(25, ("to_tensor", f"{LIB}/torchvision/transforms/functional.py", 174))),
]
STEP = [
    (0.35, step(18, module, ("ResNet._forward_impl", f"{LIB}/torchvision/models/resnet.py", 273))),
    (0.55, step(20, ("Tensor.backward", f"{LIB}/torch/_tensor.py", 648))),
    (0.10, step(21, ("SGD.step", f"{LIB}/torch/optim/sgd.py", 125))),
]


class Stacks:
    """Samples of all processes, which share the numbers of functions and stacks."""

    def __init__(self):
        self.functions, self.stacks, self.told = {}, {}, [0, 0]

    def number(self, calls):
        caller = None
        for name, file, line in calls:
            function = self.functions.setdefault((name, file), len(self.functions))
            caller = self.stacks.setdefault((caller, function, line), len(self.stacks))
        return caller

    def event(self, worker, work):
        """Samples one process, whose work is (start, end, calls) in order of time."""
        start = work[0][0]
        samples, at, before = [], start, object()
        for begin, end, calls in work:
            while at < end:
                stack = self.number(calls) if at >= begin else None
                if stack == before and samples[-1] is not None and samples[-1] < 0:
                    samples[-1] -= 1
                else:
                    samples.append(-1 if stack == before else stack)
                at, before = at + PERIOD, stack
        first, self.told = self.told, [len(self.functions), len(self.stacks)]
        functions, stacks = list(self.functions), list(self.stacks)
        event = {"t": at, "e": "stacks", "start": start, "period": PERIOD, "samples": samples}
        event |= {"first_function": first[0], "functions": functions[first[0]:], "first_stack": first[1], "stacks": stacks[first[1]:]}
        return event if worker is None else event | {"worker": worker}


def parts(start, length, shares):
    for share, calls in shares:
        yield (start, start + int(length * share), calls)
        start += int(length * share)


def main(count, rng=random.Random(3)):
    events, work = [], {None: [], 0: [], 1: []}
    # A batch is dispatched when the trainer receives the batch before the four in flight.
    free, received, now = [30 * MS, 34 * MS], [], 25 * MS

    def tell(t, kind, **fields):
        events.append({"t": t, "e": kind, **fields})

    for batch in range(count):
        worker = batch % 2
        of = {"epoch": 0, "batch": batch}
        indices = [rng.randrange(50_000) for _ in range(8)]
        dispatched = received[batch - 4] if batch >= 4 else MS
        tell(dispatched, "dispatched", **of, worker=worker, indices=indices)
        at = max(free[worker], dispatched + MS)
        tell(at, "entered", **of, stage="fetching")
        starts, walls = [], []
        for _ in indices:
            wall = int(rng.uniform(16, 34) * MS * (9 if rng.random() < 0.012 else 1))
            work[worker] += parts(at, wall, SAMPLE)
            starts.append(at)
            walls.append(wall)
            at += wall
        tell(at, "entered", **of, stage="collating")
        work[worker].append((at, at + 12 * MS, COLLATE))
        at += 12 * MS
        tell(at, "fetched", **of, starts=starts, walls=walls)
        tell(at, "entered", **of, stage="returning")
        free[worker] = at + 2 * MS
        tell(now, "consumer", waiting=True)
        now = max(now + MS, at + 3 * MS)
        received.append(now)
        tell(now, "entered", **of, stage="ready")
        tell(now, "entered", **of, stage="training")
        length = int(rng.uniform(38, 46) * MS)
        work[None] += parts(now, length, STEP)
        now += length
    stacks = Stacks()
    events += [stacks.event(worker, work[worker]) for worker in [0, 1, None]]
    events += [{"t": now, "e": "fact", "fact": {"source": {"file": f"{HOME}/{name}.py", "text": text}}} for name, text in [("dataset", DATASET), ("train", TRAIN)]]
    end = max(event["t"] for event in events) + MS
    events += [{"t": end, "e": "epoch_ended", "epoch": 0}, {"t": end, "e": "run_ended"}]
    stages = ["queued", "fetching", "collating", "returning", "ready", "training", "done"]
    info = {"options": {"dataset": "photos", "batch_size": 8, "num_workers": 2}, "origin": {"pytorch": "2.13.0"}, "measured": stages}
    info |= {"made_at": {"file": f"{HOME}/train.py", "line": 16, "name": "train.py:16"}, "dataset": "Photos (50,000 samples) from dataset.py"}
    info |= {"dataset_len": 50_000, "batches_per_epoch": count, "classes": [], "cores": 4, "world_size": 1}
    lines = [{"loadscope": 3, "writer": "make.py"}, {"t": 0, "e": "run_started", "info": info}, {"t": 0, "e": "epoch_started", "epoch": 0}]
    with open("photos.jsonl", "w") as file:
        for line in lines + sorted(events, key=lambda event: event["t"]):
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 48)
