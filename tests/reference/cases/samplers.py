"""The samplers, and the one that shares the indices among ranks."""

import torch
import torch.utils.data as data

from .record import Cases, attempt, draw_i64, generator, listed

RNGS = ("generator", "default")
WORLDS = (1, 2, 3, 8)
INDEX_LISTS = ([], [5], [9, 4, 4, 0, 7, -1, 100], list(range(100, 160, 3)))
SAMPLER_NOTES = (
    "rng 'generator': Generator().manual_seed(seed) handed to the sampler; rng 'default': "
    "torch.manual_seed(seed) and generator=None. Two full epochs from one sampler object, then one "
    "int64 random_() from the same generator (next_i64).")
DISTRIBUTED_NOTES = (
    "out[rank] is the index list of that rank; num_samples/total_size as attributes.")


def source_of(rng, seed):
    """The generator to hand over: its own, or none after the default one was seeded."""
    if rng == "generator":
        return generator(seed)
    torch.manual_seed(seed)
    return None


def two_epochs(make, rng, seed):
    """Everything two epochs of a sampler give, and how much they consumed."""
    source = source_of(rng, seed)
    sampler = make(source)
    epochs = [listed(sampler) for _ in range(2)]
    return {"len": len(sampler), "epochs": epochs, "next_i64": draw_i64(source)}


def random_samplers(cases, profile, seed, rng):
    for size, count in profile.random_samplers:
        for replacement in (False, True):
            def make(source):
                return data.RandomSampler(range(size), replacement=replacement,
                                          num_samples=count, generator=source)
            cases.add("RandomSampler", {"n": size, "num_samples": count,
                                        "replacement": replacement, "rng": rng, "seed": seed},
                      out=two_epochs(make, rng, seed))
    for indices in INDEX_LISTS:
        cases.add("SubsetRandomSampler", {"indices": indices, "rng": rng, "seed": seed},
                  out=two_epochs(lambda source: data.SubsetRandomSampler(indices, source),
                                 rng, seed))


def batch_samplers(cases):
    for size in (0, 1, 4, 7, 8, 9):
        for batch_size in (1, 3, 4, 10):
            for drop_last in (False, True):
                sampler = data.BatchSampler(data.SequentialSampler(range(size)), batch_size,
                                            drop_last)
                cases.add("BatchSampler",
                          {"n": size, "batch_size": batch_size, "drop_last": drop_last},
                          out={"len": len(sampler), "batches": list(sampler)})


def interrupted(seed):
    """The permutation after the last index is drawn only when one more index is asked for."""
    source = generator(seed)
    iterator = iter(data.RandomSampler(range(10), generator=source))
    items = [next(iterator) for _ in range(10)]
    before = draw_i64(source)
    exhausted = next(iterator, None) is None
    return {"items": items, "i64_before_exhaust": before, "exhausted": exhausted,
            "i64_after_exhaust": draw_i64(source)}


def sampler_cases(profile):
    cases = Cases("samplers", SAMPLER_NOTES)
    for seed in profile.sampler_seeds:
        for rng in RNGS:
            random_samplers(cases, profile, seed, rng)
    for size in (7, 0):
        cases.add("SequentialSampler", {"n": size}, out=list(data.SequentialSampler(range(size))))
    batch_samplers(cases)
    for seed in profile.sampler_seeds:
        cases.add("RandomSampler_partial", {"n": 10, "seed": seed, "take": 10},
                  out=interrupted(seed))
    return cases


def all_ranks(size, world, epoch, **options):
    """What each rank gets, and the lengths, which are the same for all."""
    ranks = []
    for rank in range(world):
        sampler = data.DistributedSampler(range(size), num_replicas=world, rank=rank, **options)
        sampler.set_epoch(epoch)
        ranks.append(list(sampler))
    return {"num_samples": sampler.num_samples, "total_size": sampler.total_size,
            "len": len(sampler), "ranks": ranks}


def epochs_of(size, shuffle):
    if not shuffle:
        return [0]
    return range(4) if size < 100 else [0, 3]


def distributed_cases(profile):
    cases = Cases("distributed", DISTRIBUTED_NOTES)
    grid = [(size, world, drop_last, shuffle) for size in profile.distributed_sizes
            for world in WORLDS for drop_last in (False, True) for shuffle in (False, True)]
    for size, world, drop_last, shuffle in grid:
        for seed in profile.distributed_seeds if shuffle else [0]:
            for epoch in epochs_of(size, shuffle):
                out = all_ranks(size, world, epoch, shuffle=shuffle, seed=seed,
                                drop_last=drop_last)
                cases.add("DistributedSampler",
                          {"n": size, "world": world, "shuffle": shuffle, "seed": seed,
                           "drop_last": drop_last, "epoch": epoch}, out=out)
    for rank, world in ((2, 2), (-1, 2), (5, 3)):
        cases.add("DistributedSampler_ctor", {"n": 10, "rank": rank, "world": world},
                  **attempt(lambda: len(data.DistributedSampler(range(10), world, rank))))
    size, seed = profile.distributed_sizes[1], profile.distributed_seeds[1]
    sampler = data.DistributedSampler(range(size), num_replicas=2, rank=1, seed=seed)
    cases.add("DistributedSampler_no_set_epoch",
              {"n": size, "world": 2, "rank": 1, "seed": seed},
              out=[list(sampler), list(sampler)])
    return cases
