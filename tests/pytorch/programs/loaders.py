"""Iterates loaders of every kind with one way of starting workers, and prints what anybody could notice.

    python loaders.py START_METHOD COUNT_FILE

Into COUNT_FILE goes one line for every sample that is fetched, with the loader it is for: what a recording says is held against it.
"""

import hashlib
import inspect
import os
import random
import sys

import torch
import torch.utils.data as data

CONTEXT, COUNTS = sys.argv[1], sys.argv[2]


def count(name):
    where = os.open(COUNTS, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(where, (name + "\n").encode())
    os.close(where)


class Numbers(data.Dataset):
    def __init__(self, name):
        self.name = name

    def __len__(self):
        return 61

    def __getitem__(self, index):
        count(self.name)
        if "in_order=False" in self.name:
            # Which worker has which task is a matter of chance then, and so is what a worker draws.
            return torch.ones(5) * index, 0.5, "text"
        return torch.rand(5) + index, random.random(), "text %d" % index


class Stream(data.IterableDataset):
    def __init__(self, name):
        self.name = name

    def __iter__(self):
        info = data.get_worker_info()
        worker = info.id if info else 0
        for index in range(20 + 7 * worker):
            count(self.name)
            yield torch.ones(3) * index if "in_order=False" in self.name else torch.rand(3) + index


def greet(worker):
    """A worker_init_fn of the user's."""
    random.seed(worker)


def digest(batches):
    whole = hashlib.sha256()
    for batch in batches:
        whole.update(told(batch))
    return whole.hexdigest()[:16]


def told(value):
    """All there is in a value, bit by bit."""
    if isinstance(value, torch.Tensor):
        return ("%s %s " % (value.dtype, tuple(value.shape))).encode() + value.numpy().tobytes()
    if isinstance(value, (list, tuple)):
        return b"%s(%s)" % (type(value).__name__.encode(), b",".join(map(told, value)))
    return repr(value).encode()


def loaders():
    workers = 0 if CONTEXT == "none" else 2
    orders = (True, False) if "in_order" in inspect.signature(data.DataLoader).parameters and workers else (True,)
    for kind in (Numbers, Stream):
        for persistent in (False, True) if workers else (False,):
            for in_order in orders:
                name = "%s,persistent=%s,in_order=%s" % (kind.__name__, persistent, in_order)
                more = {} if in_order else {"in_order": False}
                if kind is Numbers:
                    more["shuffle"] = True
                if workers:
                    more.update(multiprocessing_context=CONTEXT, persistent_workers=persistent, worker_init_fn=greet)
                yield name, data.DataLoader(kind(name), batch_size=4, num_workers=workers, **more)


def main():
    torch.manual_seed(7)
    random.seed(7)
    for name, loader in loaders():
        before = sorted(vars(loader))
        broken = []
        # Workers that are started anew import PyTorch: where they do not persist, once must do.
        if CONTEXT in ("none", "fork") or loader.persistent_workers:
            for number, batch in enumerate(loader):
                broken.append(batch)
                if number == 3:
                    break
        iterator = iter(loader)
        whole = list(iterator)
        if "in_order=False" in name:
            # A loader that asks for no order gets none, with or without a probe.
            whole.sort(key=told)
            broken = []
        same = sorted(vars(loader)) == before and loader.worker_init_fn in (greet, None)
        print(name, len(whole), digest(broken), digest(whole), type(iterator).__name__, same)
        del iterator, loader
    print(torch.rand(1).item(), random.random(), len(sys.path), "sitecustomize" in str(sys.path))


if __name__ == "__main__":
    main()
