"""The order in which a loader over a map-style dataset gives the batches, and what it consumes."""

import random

import numpy
import torch
import torch.utils.data as data

from .record import Cases, draw_i64, generator
from .sources import Indexed, here

NOTES = (
    "Map dataset returning its index; 2 full epochs of the same DataLoader. rng 'generator': "
    "Generator().manual_seed(seed) passed, default generator seeded 999; rng 'default': "
    "torch.manual_seed(seed), generator=None. workers[k] = worker id of batch k (-1 = main "
    "process). base_seed = get_worker_info().seed - id. next_i64 = one int64 random_() from the "
    "loader's generator after both epochs, next_i64_default = then one from the default generator.")
BATCHES = [[0, 5], [3], [7, 1, 2]]


def opened(batch, batched):
    """Indices (or the one index), worker and seed of a batch of `[index, worker, seed]`."""
    rows = batch.tolist() if batched else [batch.tolist()]
    indices = [row[0] for row in rows]
    return (indices if batched else indices[0]), rows[0][1], rows[0][2]


def indices_of(batch):
    return opened(batch, True)[0]


def one_epoch(loader, batched):
    batches, workers, base_seeds = [], [], set()
    for batch in loader:
        indices, worker, seed = opened(batch, batched)
        batches.append(indices)
        workers.append(worker)
        if worker >= 0:
            base_seeds.add(seed - worker)
    assert len(base_seeds) <= 1, base_seeds
    return {"batches": batches, "workers": workers,
            "base_seed": base_seeds.pop() if base_seeds else None}


def two_epochs(dataset, seed, rng, **options):
    """What a loader gives in two epochs, its length and how much was consumed."""
    own = generator(seed) if rng == "generator" else None
    torch.manual_seed(seed if own is None else 999)
    loader = data.DataLoader(dataset, generator=own, **options)
    batched = options.get("batch_size", 1) is not None or "batch_sampler" in options
    epochs = [one_epoch(loader, batched) for _ in range(2)]
    try:
        length = len(loader)
    except TypeError:
        length = None
    return {"len": length, "epochs": epochs, "next_i64": draw_i64(own),
            "next_i64_default": draw_i64()}


def plain(cases, size, batch_size, seed):
    grid = [(workers, batch, shuffle, drop_last, rng, persistent)
            for workers in (0, 2, 3)
            for batch in (batch_size, None)
            for shuffle in (False, True)
            for drop_last in ((False, True) if batch else (False,))
            for rng in ("generator", "default")
            for persistent in ((False, True) if workers else (False,))]
    for workers, batch, shuffle, drop_last, rng, persistent in grid:
        if batch is None and (workers == 3 or size > 20):
            continue
        options = {"batch_size": batch, "shuffle": shuffle, "drop_last": drop_last,
                   "num_workers": workers, "persistent_workers": persistent}
        cases.add("DataLoader", {"n": size, "rng": rng, "seed": seed, **options},
                  out=two_epochs(Indexed(size), seed, rng, **options))


def samplers_for(size):
    """Name, arguments as shown, and a function from a generator to the sampler."""
    everyone = range(size)
    yield ("RandomSampler_rep", {"num_samples": 40},
           lambda source: data.RandomSampler(everyone, True, 40, source))
    yield ("SubsetRandomSampler", {"indices": "0..n step 2"},
           lambda source: data.SubsetRandomSampler(list(everyone[::2]), source))
    yield ("WeightedRandomSampler", {"weights": "i+1", "num_samples": 12, "replacement": True},
           lambda source: data.WeightedRandomSampler([i + 1.0 for i in everyone], 12, True, source))
    yield ("DistributedSampler",
           {"world": 2, "rank": 1, "seed": 3, "epoch": 0, "shuffle": True},
           lambda _: data.DistributedSampler(everyone, num_replicas=2, rank=1, seed=3))


def with_samplers(cases, size, seed, workers):
    for name, shown, make in samplers_for(size):
        for sampler_seed in (seed + 1, None):
            if name == "DistributedSampler" and sampler_seed is None:
                continue
            source = None if sampler_seed is None else generator(sampler_seed)
            torch.manual_seed(seed)
            loader = data.DataLoader(Indexed(size), batch_size=4, sampler=make(source),
                                     num_workers=workers)
            # Fetched whole before it is looked at: nothing else may draw in between.
            epochs = [[indices_of(batch) for batch in list(loader)] for _ in range(2)]
            cases.add("DataLoader_sampler",
                      {"n": size, "sampler": name, "batch_size": 4, "num_workers": workers,
                       "torch_manual_seed": seed, "sampler_generator_seed": sampler_seed,
                       "loader_generator": None, "sampler_args": shown},
                      out={"len": len(loader), "epochs": epochs, "next_i64_default": draw_i64()})


def stopped_early(cases, size, batch_size, seed, workers):
    """One batch, then the iterator is dropped; and where the draws happen."""
    for rng in ("generator", "default"):
        shown = {"n": size, "batch_size": batch_size, "num_workers": workers,
                 "prefetch_factor": 2 if workers else None, "rng": rng, "seed": seed}

        def fresh():
            own = generator(seed) if rng == "generator" else None
            torch.manual_seed(seed)
            return own, data.DataLoader(Indexed(size), batch_size=batch_size, shuffle=True,
                                        num_workers=workers, generator=own)
        own, loader = fresh()
        iterator = iter(loader)
        first = indices_of(next(iterator))
        del iterator
        second = [indices_of(batch) for batch in loader]
        cases.add("DataLoader_break", {**shown, "break_after": 1},
                  out={"first_batch": first, "next_epoch": second, "next_i64": draw_i64(own)})
        own, loader = fresh()
        iterator = iter(loader)
        out = {"i64_after_iter": draw_i64(own), "first_batch": indices_of(next(iterator)),
               "i64_after_next": draw_i64(own)}
        del iterator
        cases.add("DataLoader_draw_points",
                  {**shown, "steps": "iter(); draw i64; next(); draw i64"}, out=out)


def stopped_early_persistent(cases, size, batch_size, seed):
    own = generator(seed)
    loader = data.DataLoader(Indexed(size), batch_size=batch_size, shuffle=True, num_workers=2,
                             generator=own, persistent_workers=True)
    # Kept: the next epoch resets this same iterator.
    iterator = iter(loader)
    first = indices_of(next(iterator))
    second = [indices_of(batch) for batch in loader]
    cases.add("DataLoader_break_persistent",
              {"n": size, "batch_size": batch_size, "num_workers": 2, "seed": seed,
               "break_after": 1},
              out={"first_batch": first, "next_epoch": second, "next_i64": draw_i64(own)})


class Drawing(data.Dataset):
    """Every sample draws from the three generators of its worker."""

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return (index, *here(), draw_i64(), random.getrandbits(32),
                int(numpy.random.randint(0, 2**32, dtype=numpy.uint64)))


def worker_generators(cases, seed):
    columns = ["index", "worker", "worker_seed", "torch_i64", "python_getrandbits32",
               "numpy_randint_u64_below_2^32"]
    for persistent in (False, True):
        loader = data.DataLoader(Drawing(), batch_size=2, num_workers=2, generator=generator(seed),
                                 persistent_workers=persistent, collate_fn=list)
        epochs = [[[list(map(int, sample)) for sample in batch] for batch in loader]
                  for _ in range(2)]
        cases.add("worker_rng",
                  {"n": 8, "batch_size": 2, "num_workers": 2, "seed": seed,
                   "persistent_workers": persistent, "columns": columns}, out=epochs)


def loader_cases(profile):
    cases = Cases("loader_order", NOTES)
    for (size, batch_size), seed in zip(profile.loaders, profile.loader_seeds):
        plain(cases, size, batch_size, seed)
    size, batch_size = profile.loaders[1]
    seed = profile.loader_seeds[0]
    for workers in (0, 2):
        for prefetch in (1, 3) if workers else (None,):
            options = {"batch_size": batch_size, "shuffle": True, "num_workers": workers,
                       "prefetch_factor": prefetch}
            cases.add("DataLoader", {"n": size, "rng": "generator", "seed": seed, **options},
                      out=two_epochs(Indexed(size), seed, "generator", **options))
        with_samplers(cases, size, seed, workers)
        cases.add("DataLoader_batch_sampler",
                  {"n": size, "batch_sampler": BATCHES, "num_workers": workers, "seed": seed},
                  out=two_epochs(Indexed(size), seed, "generator", batch_sampler=BATCHES,
                                 num_workers=workers))
    for workers in (0, 2):
        stopped_early(cases, size, batch_size, seed, workers)
    stopped_early_persistent(cases, size, batch_size, seed)
    worker_generators(cases, seed)
    return cases
