"""Iterates torchdata's StatefulDataLoader, saves its state in mid-epoch and goes on from there with a new one.

    python stateful.py COUNT_FILE

Into COUNT_FILE goes one line for every sample that is fetched. Prints what anybody could notice; 42 if there is no torchdata.
"""

import hashlib
import os
import random
import sys

import torch
import torch.utils.data as data

try:
    from torchdata.stateful_dataloader import StatefulDataLoader
except ImportError:
    sys.exit(42)

COUNTS = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)


class Numbers(data.Dataset):
    def __len__(self):
        return 61

    def __getitem__(self, index):
        os.write(COUNTS, b"sample\n")
        return torch.rand(5) + index, random.random()


class Stream(data.IterableDataset):
    """One that knows where it is, and says so."""

    def __init__(self):
        self.at = 0

    def __iter__(self):
        info = data.get_worker_info()
        length = 40 + 7 * (info.id if info else 0)
        while self.at < length:
            os.write(COUNTS, b"sample\n")
            self.at += 1
            yield torch.rand(3) + self.at
        self.at = 0

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at = state["at"]


def told(value):
    """All there is in a value, bit by bit."""
    if isinstance(value, torch.Tensor):
        return "%s%s%s" % (value.dtype, tuple(value.shape), bytes(value.contiguous().view(-1).view(torch.uint8).tolist()).hex())
    if isinstance(value, dict):
        return "{%s}" % ",".join("%s:%s" % (key, told(value[key])) for key in sorted(value, key=str))
    if isinstance(value, (list, tuple)):
        return "%s(%s)" % (type(value).__name__, ",".join(told(part) for part in value))
    return repr(value)


def digest(value):
    return hashlib.sha256(told(value).encode()).hexdigest()[:16]


def main():
    for kind in (Numbers, Stream):
        for workers, persistent in ((0, False), (2, False), (2, True)):
            torch.manual_seed(7)
            random.seed(7)

            def loader():
                more = {"shuffle": True} if kind is Numbers else {}
                return StatefulDataLoader(kind(), 4, num_workers=workers, persistent_workers=persistent, **more)

            first = loader()
            iterator = iter(first)
            begun = [next(iterator) for _ in range(5)]
            state = first.state_dict()
            rest = list(iterator)
            again = list(first) if persistent else []
            second = loader()
            second.load_state_dict(state)
            going_on = iter(second)
            resumed = [next(going_on) for _ in range(2)]
            # At the end of streams it depends on who ended last.
            later = second.state_dict()
            resumed += going_on
            print(kind.__name__, workers, persistent, type(iterator).__name__, len(begun), len(rest), len(resumed))
            print(*(digest(value) for value in (begun, state, rest, again, later, resumed)))
            # What a sample draws at random is not what it drew before; where it is from is.
            where = [[int(number) for number in flat(batch)] for batch in rest]
            print(where == [[int(number) for number in flat(batch)] for batch in resumed], torch.rand(1).item(), random.random())


def flat(batch):
    return (batch[0] if isinstance(batch, (list, tuple)) else batch).view(-1).tolist()


if __name__ == "__main__":
    main()
