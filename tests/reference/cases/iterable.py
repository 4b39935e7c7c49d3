"""Loaders over iterable datasets: order, ends, lengths and the warning about a wrong length."""

import re
import warnings

import torch.utils.data as data

from .loader import two_epochs
from .record import Cases, attempt, masked
from .sources import Indexed, Liar, Measured, Naive, Shards, Strided

NOTES = (
    "in_order=True. kind naive: every worker yields 0..n; strided: worker k yields k, k+W, ..; "
    "shards: worker k yields 100*k+i for i < sizes[k]. 2 epochs.")
SLOW = 0.03  # seconds that every sample of the first worker takes
LENGTHS = ((10, 4, False), (10, 4, True), (10, None, False), (0, 4, False), (3, 4, True))


def streams(cases, size, seed):
    grid = [(kind, workers, batch_size, drop_last, persistent)
            for kind in ("naive", "strided")
            for workers in (0, 2, 3)
            for batch_size in (4, None, 1)
            for drop_last in ((False, True) if batch_size else (False,))
            for persistent in ((False, True) if workers == 2 else (False,))]
    for kind, workers, batch_size, drop_last, persistent in grid:
        if batch_size in (None, 1) and size > 20:
            continue
        dataset = {"naive": Naive, "strided": Strided}[kind](size)
        options = {"batch_size": batch_size, "drop_last": drop_last, "num_workers": workers,
                   "persistent_workers": persistent}
        cases.add("DataLoader_iterable",
                  {"kind": kind, "n": size, "rng": "generator", "seed": seed, **options},
                  out=two_epochs(dataset, seed, "generator", **options))


def shards(cases, sizes, seed):
    grid = [(batch_size, prefetch, persistent, slow)
            for batch_size in (1, 2, None)
            for prefetch in (1, 2, 4)
            for persistent in (False, True)
            for slow in (False, True)]
    for batch_size, prefetch, persistent, slow in grid:
        if slow and (persistent or batch_size is None):
            continue
        delays = [SLOW] + [0.0] * (len(sizes) - 1) if slow else None
        options = {"batch_size": batch_size, "num_workers": len(sizes),
                   "prefetch_factor": prefetch, "persistent_workers": persistent}
        cases.add("DataLoader_iterable",
                  {"kind": "shards", "sizes": sizes, "delay_s": delays, "rng": "generator",
                   "seed": seed, **options},
                  out=two_epochs(Shards(sizes, delays), seed, "generator", **options))


def counted(loader):
    """The length, how many batches came, and the warnings that there were more than promised."""
    length = len(loader)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        count = sum(1 for _ in loader)
    said = [masked(warning.message) for warning in caught]
    # The dataset is shown by its class: where that lies is of no interest.
    said = [re.sub(r"<\S*\.(\w+ object at)", r"<DATASET>.\1", text)
            for text in said if "Length of IterableDataset" in text]
    return {"len": length, "batches_yielded": count, "warnings": said}


def lengths(cases):
    for workers in (0, 2):
        for drop_last in (False, True):
            loader = data.DataLoader(Measured(10), batch_size=4, drop_last=drop_last,
                                     num_workers=workers)
            cases.add("iterable_len", {"n": 10, "batch_size": 4, "drop_last": drop_last,
                                       "num_workers": workers}, out=counted(loader))
    for workers in (0, 2):
        for batch_size in (1, None):
            loader = data.DataLoader(Liar(5), batch_size=batch_size, num_workers=workers)
            cases.add("iterable_len_liar",
                      {"reported": 3, "actual": 5, "batch_size": batch_size,
                       "num_workers": workers}, out=counted(loader))
    cases.add("iterable_len_missing", {}, **attempt(lambda: len(data.DataLoader(Naive(3)))))
    for op, dataset in (("iterable_len_only", Measured), ("map_len_only", Indexed)):
        for size, batch_size, drop_last in LENGTHS:
            loader = data.DataLoader(dataset(size), batch_size=batch_size, drop_last=drop_last)
            cases.add(op, {"n": size, "batch_size": batch_size, "drop_last": drop_last},
                      out=len(loader))


def ended(iterator):
    """Whether there is nothing more."""
    try:
        next(iterator)
    except StopIteration:
        return True
    return False


def iterable_cases(profile):
    cases = Cases("iterable", NOTES)
    seed = profile.loader_seeds[0]
    for size in profile.iterable_sizes:
        streams(cases, size, seed)
    for sizes in profile.shards:
        shards(cases, sizes, seed)
    lengths(cases)
    for workers in (0, 2):
        iterator = iter(data.DataLoader(Naive(3), batch_size=2, num_workers=workers))
        count = sum(1 for _ in iterator)
        cases.add("iterable_next_after_end",
                  {"n": 3, "batch_size": 2, "num_workers": workers},
                  out={"yielded": count, "again": [ended(iterator) for _ in range(2)]})
    return cases
