"""Datasets that say who fetched which sample, or that fail or dawdle where they are asked to."""

import os
import time

import torch
import torch.utils.data as data


# What `worker_init_fn` adds to all samples of a worker.
OFFSET = 0


def here():
    """Worker id and seed; -1 in the main process."""
    info = data.get_worker_info()
    return (info.id, info.seed) if info else (-1, -1)


class Tagged(data.Dataset):
    """Sample i is [tag, i]."""

    def __init__(self, tag, size):
        self.tag, self.size = tag, size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        if not 0 <= index < self.size:
            raise IndexError(f"{index} out of {self.size}")
        return [self.tag, index]


class TaggedStream(data.IterableDataset):
    """[tag, 0], [tag, 1], …"""

    def __init__(self, tag, size):
        self.tag, self.size = tag, size

    def __len__(self):
        return self.size

    def __iter__(self):
        return ([self.tag, i] for i in range(self.size))


class Indexed(data.Dataset):
    """Sample i is [i, worker, seed]."""

    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return torch.tensor([index, *here()], dtype=torch.int64)


class Naive(data.IterableDataset):
    """Every worker gives all of [0, worker, seed] …"""

    def __init__(self, size):
        self.size = size

    def __iter__(self):
        for i in range(self.size):
            yield torch.tensor([i, *here()])


class Measured(Naive):
    """The same, with a length."""

    def __len__(self):
        return self.size


class Liar(Naive):
    """The same, with a length that is too short; PyTorch's warning names the class."""

    def __len__(self):
        return 3


class Strided(Naive):
    """Worker k of W gives k, k + W, …"""

    def __iter__(self):
        info = data.get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        for i in range(first, self.size, step):
            yield torch.tensor([i, *here()])


class Shards(data.IterableDataset):
    """Worker k gives 100 k, 100 k + 1, … as often as told, each after a delay in seconds."""

    def __init__(self, sizes, delays=None):
        self.sizes, self.delays = sizes, delays

    def __iter__(self):
        worker, seed = here()
        for i in range(self.sizes[worker]):
            if self.delays:
                time.sleep(self.delays[worker])
            yield torch.tensor([100 * worker + i, worker, seed])


class Sleepy(data.Dataset):
    """Sample i takes `milliseconds[i]`."""

    def __init__(self, milliseconds):
        self.milliseconds = milliseconds

    def __len__(self):
        return len(self.milliseconds)

    def __getitem__(self, index):
        time.sleep(self.milliseconds[index] / 1000)
        return torch.tensor([index, here()[0], 0])


class Failing(data.Dataset):
    """One sample raises."""

    def __init__(self, size, bad, error):
        self.size, self.bad, self.error = size, bad, error

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        if index == self.bad:
            raise self.error
        return index


class FailingStream(data.IterableDataset):
    """Raises in the middle."""

    def __init__(self, size, bad):
        self.size, self.bad = size, bad

    def __iter__(self):
        for i in range(self.size):
            if i == self.bad:
                raise ValueError("boom")
            yield i


class Deadly(data.Dataset):
    """Sample 3 ends its process."""

    def __init__(self, how):
        self.how = how

    def __len__(self):
        return 8

    def __getitem__(self, index):
        if index == 3:
            if self.how == "exit":
                os._exit(3)
            os.kill(os.getpid(), 9)
        return index


class Late(data.Dataset):
    """Sample 0 takes long."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index == 0:
            time.sleep(self.seconds)
        return index


class Kept(data.Dataset):
    """Samples from a list."""

    def __init__(self, samples):
        self.samples = samples

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index]


class TwoArg(Exception):
    """Cannot be made from a message alone; cases name the class."""

    def __init__(self, first, second):
        super().__init__(first, second)
