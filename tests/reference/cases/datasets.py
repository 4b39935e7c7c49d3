"""Datasets made of datasets, and splits."""

import torch
import torch.utils.data as data

from .record import Cases, attempt, draw_i64, generator
from .samplers import RNGS, source_of
from .sources import Tagged, TaggedStream

NESTED = ([8, 6, 1, 3, 0, 9], [5, 0, 2, 2], [3, 1])
# Accepted or refused by random_split: size and lengths.
CHECKED = ((10, [3, 8]), (10, [0.5, 0.6]), (10, [1.5, -0.5]), (10, [0.3, 0.3, 0.3]), (10, []),
           (10, [-1, 11]), (3, [0.1, 0.9]), (10, [0.3, 0.7, 0.0]))


def concatenated(cases, sizes):
    joined = data.ConcatDataset([Tagged(tag, size) for tag, size in enumerate(sizes)])
    total = len(joined)
    found = [[index, joined[index]] for index in range(-total, total)]
    cases.add("ConcatDataset", {"sizes": sizes},
              out={"len": total, "cumulative_sizes": joined.cumulative_sizes, "map": found})
    for index in (-total - 1, total, total + 3):
        cases.add("ConcatDataset_bad_index", {"sizes": sizes, "index": index},
                  **attempt(lambda: joined[index]))
    chain = data.ChainDataset([TaggedStream(tag, size) for tag, size in enumerate(sizes)])
    cases.add("ChainDataset", {"sizes": sizes}, out={"len": len(chain), "items": list(chain)})


def refused_members(cases):
    cases.add("ConcatDataset_ctor", {"what": "empty"},
              **attempt(lambda: len(data.ConcatDataset([]))))
    cases.add("ConcatDataset_ctor", {"what": "iterable member"},
              **attempt(lambda: len(data.ConcatDataset([TaggedStream(0, 3)]))))
    cases.add("ChainDataset_iter", {"what": "map-style member"},
              **attempt(lambda: list(data.ChainDataset([Tagged(0, 3)]))))


def subsets(cases):
    subset = Tagged(0, 10)
    for indices in NESTED:
        subset = data.Subset(subset, indices)
    cases.add("Subset_nested", {"n": 10, "levels": list(NESTED)},
              out={"len": len(subset), "items": [subset[i] for i in range(len(subset))],
                   "neg1": subset[-1], "getitems": subset.__getitems__([1, 0])})
    cases.add("Subset_bad_index", {"n": 10, "indices": NESTED[2], "index": 2},
              **attempt(lambda: data.Subset(Tagged(0, 10), NESTED[2])[2]))


def stacks(cases):
    stack = data.StackDataset(Tagged(0, 4), Tagged(1, 4))
    cases.add("StackDataset_tuple", {"sizes": [4, 4]}, out=[list(stack[i]) for i in range(4)])
    stack = data.StackDataset(a=Tagged(0, 3), b=Tagged(1, 3))
    cases.add("StackDataset_dict", {"sizes": [3, 3]}, out=[stack[i] for i in range(3)])
    for what, make in (
            ("size mismatch", lambda: data.StackDataset(Tagged(0, 3), Tagged(1, 4))),
            ("none", data.StackDataset),
            ("args and kwargs", lambda: data.StackDataset(Tagged(0, 3), b=Tagged(1, 3)))):
        cases.add("StackDataset_ctor", {"what": what}, **attempt(make))
    cases.add("TensorDataset_ctor", {"what": "size mismatch"},
              **attempt(lambda: data.TensorDataset(torch.zeros(3), torch.zeros(4))))


def split_once(size, lengths, rng, seed):
    source = source_of(rng, seed)
    options = {} if source is None else {"generator": source}
    parts = data.random_split(range(size), lengths, **options)
    return {"subsets": [list(part.indices) for part in parts], "next_i64": draw_i64(source)}


def splits(cases, profile):
    for size, lengths in profile.splits:
        for seed in profile.split_seeds:
            for rng in RNGS:
                cases.add("random_split",
                          {"n": size, "lengths": lengths, "rng": rng, "seed": seed},
                          out=split_once(size, lengths, rng, seed))
    for size, lengths in CHECKED:
        def split():
            parts = data.random_split(range(size), lengths, generator=generator(0))
            return [list(part.indices) for part in parts]
        cases.add("random_split_check", {"n": size, "lengths": lengths, "seed": 0},
                  **attempt(split))


def dataset_cases(profile):
    cases = Cases("datasets", "Concat: leaf dataset k returns [k, local_index].")
    for sizes in profile.concatenated:
        concatenated(cases, sizes)
    refused_members(cases)
    subsets(cases)
    stacks(cases)
    splits(cases, profile)
    return cases
