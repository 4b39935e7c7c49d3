"""Programs drawn by seed: a dataset and what wraps it, a sampler, a loader, some epochs; and what PyTorch does with them.

A program is a JSON object, so that it can be shown, made smaller and run again. It says nothing that depends on time: with
`in_order=False` and workers any order would be right.
"""

import random
import re

import torch
import torch.utils.data as data

from .record import Cases, described_error, draw_i64, generator, let_go
from .sources import here

NOTES = (
    "A program, two generators and some epochs. Each epoch is a list of batches, a batch [indices, worker, base seed]; an exception that next() "
    "raised stands as {\"error\": type} in its place, and next() is called again. stops[k]: batches of epoch k that are taken, null: all. "
    "next_i64: one int64 from the loader's generator, the sampler's and the default one after all epochs.")


class Rows(data.Dataset):
    """Sample i is [i + first, worker, seed]; one may raise."""

    def __init__(self, size, first=0, fails=None):
        self.size, self.first, self.fails = size, first, fails

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        if not 0 <= index < self.size:
            raise IndexError(f"{index} out of {self.size}")
        if index == self.fails:
            raise ValueError(f"sample {index}")
        return torch.tensor([index + self.first, *here()], dtype=torch.int64)


class Stream(data.IterableDataset):
    """All workers yield the same, or each has its share; one sample may raise."""

    def __init__(self, size, strided, fails):
        self.size, self.strided, self.fails = size, strided, fails

    def __iter__(self):
        info = data.get_worker_info()
        first, step = (info.id, info.num_workers) if info and self.strided else (0, 1)
        for i in range(first, self.size, step):
            if i == self.fails:
                raise ValueError(f"sample {i}")
            yield torch.tensor([i, *here()], dtype=torch.int64)


def drawn_dataset(draw):
    size = draw.choice([0, 1, 2, 3, 5, 8, 13, 20])
    fails = draw.randrange(size) if size and draw.random() < 0.15 else None
    if draw.random() < 0.2:
        return {"kind": draw.choice(["naive", "strided"]), "n": size, "fails": fails}
    dataset = {"kind": "map", "n": size, "fails": fails}
    if draw.random() < 0.15:
        dataset["concat"] = [draw.choice([1, 2, 4]) for _ in range(draw.choice([1, 2]))]
    whole = size + sum(dataset.get("concat", []))
    if whole and draw.random() < 0.15:
        dataset["subset"] = [draw.randrange(whole) for _ in range(draw.choice([0, 1, 4, 9]))]
    return dataset


def length_of(dataset):
    if "subset" in dataset:
        return len(dataset["subset"])
    return dataset["n"] + sum(dataset.get("concat", []))


def drawn_sampler(draw, size, measured):
    """`measured`: the dataset has a length, which some samplers ask for."""
    seed = draw.choice([None, draw.randrange(2**31)])
    name = draw.choice(["subset", "weighted", "list"] + (["sequential", "random", "distributed"] if measured else []))
    some = [draw.randrange(size + 1) for _ in range(draw.choice([0, 1, 3, 7]))]
    world = draw.choice([1, 2, 3, 7])
    return {
        "sequential": {},
        "random": {"replacement": draw.random() < 0.5, "num_samples": draw.choice([None, 1, 5, 40]), "seed": seed},
        "subset": {"indices": some, "seed": seed},
        # Without replacement PyTorch draws from another generator on some processors.
        "weighted": {"weights": [draw.choice([0.0, 0.5, 1.0, 3.0]) for _ in range(size or 1)], "num_samples": draw.choice([1, 4, 12]),
                     "seed": seed},
        "distributed": {"world": world, "rank": draw.randrange(world), "seed": draw.choice([0, 3]), "shuffle": draw.random() < 0.6,
                        "drop_last": draw.random() < 0.4, "set_epoch": draw.random() < 0.5},
        "list": {"indices": some},
    }[name] | {"name": name}


def drawn(seed):
    """A program; most are sound, some are refused."""
    draw = random.Random(seed)
    dataset = drawn_dataset(draw)
    workers = draw.choice([0, 0, 0, 0, 1, 2, 3])
    args = {"num_workers": workers}
    if draw.random() < 0.7:
        args["batch_size"] = draw.choice([None, 1, 2, 3, 4, 7])
    if draw.random() < 0.4:
        args["shuffle"] = draw.random() < 0.7
    if draw.random() < 0.3:
        args["drop_last"] = draw.random() < 0.7
    if draw.random() < (0.4 if workers else 0.03):
        args["prefetch_factor"] = draw.choice([1, 2, 3, 5])
    if draw.random() < (0.4 if workers else 0.03):
        args["persistent_workers"] = True
    program = {"dataset": dataset, "args": args, "rng": draw.choice(["generator", "default"]), "seed": draw.randrange(2**31),
               "stops": [draw.choice([None, None, None, 0, 1, 2, 4]) for _ in range(draw.choice([1, 2, 3]))]}
    size = length_of(dataset)
    chosen = draw.random()
    # What PyTorch refuses is part of it, but not most of it.
    sound = draw.random() < 0.9
    if chosen < 0.35:
        program["sampler"] = drawn_sampler(draw, size, dataset["kind"] == "map")
        if sound:
            args.pop("shuffle", None)
    if 0.3 < chosen < 0.5:
        program["batch_sampler"] = drawn_sampler(draw, size, dataset["kind"] == "map") | {"batch_size": draw.choice([1, 2, 5]), "drop_last": draw.random() < 0.5}
        if sound:
            program.pop("sampler", None)
            for name in ("batch_size", "shuffle", "drop_last"):
                args.pop(name, None)
    if sound and dataset["kind"] != "map":
        for name in ("sampler", "batch_sampler"):
            program.pop(name, None)
        args.pop("shuffle", None)
    if sound and "batch_size" in args and args["batch_size"] is None:
        args.pop("drop_last", None)
    return program


def dataset_of(said):
    if said["kind"] != "map":
        return Stream(said["n"], said["kind"] == "strided", said["fails"])
    dataset = Rows(said["n"], fails=said["fails"])
    if "concat" in said:
        dataset = data.ConcatDataset([dataset] + [Rows(n, 1000 * (at + 1)) for at, n in enumerate(said["concat"])])
    if "subset" in said:
        dataset = data.Subset(dataset, said["subset"])
    return dataset


def sampler_of(said, dataset):
    """The sampler and its generator."""
    own = None if said.get("seed") is None or said["name"] == "distributed" else generator(said["seed"])
    name = said["name"]
    if name == "sequential":
        return data.SequentialSampler(dataset), None
    if name == "random":
        return data.RandomSampler(dataset, said["replacement"], said["num_samples"], own), own
    if name == "subset":
        return data.SubsetRandomSampler(said["indices"], own), own
    if name == "weighted":
        return data.WeightedRandomSampler(said["weights"], said["num_samples"], True, own), own
    if name == "distributed":
        return data.DistributedSampler(dataset, said["world"], said["rank"], said["shuffle"], said["seed"], said["drop_last"]), None
    return said["indices"], None


def parts(program):
    """The loader, the samplers whose epochs are set, and the generators that are looked at."""
    dataset = dataset_of(program["dataset"])
    own = generator(program["seed"]) if program["rng"] == "generator" else None
    torch.manual_seed(program["seed"] if own is None else 999)
    options, generators, epochs = dict(program["args"]), [own], []
    for name in ("sampler", "batch_sampler"):
        said = program.get(name)
        if said is None:
            continue
        sampler, of_sampler = sampler_of(said, dataset)
        generators.append(of_sampler)
        if said.get("set_epoch"):
            epochs.append(sampler)
        options[name] = sampler if name == "sampler" else data.BatchSampler(sampler, said["batch_size"], said["drop_last"])
    return data.DataLoader(dataset, generator=own, **options), epochs, generators


def one_epoch(loader, batched, most):
    """What comes, up to `most` batches."""
    iterator = iter(loader)
    came = []
    # An iterator may raise for ever.
    for _ in range(200):
        if most is not None and len(came) >= most:
            break
        try:
            batch = next(iterator)
        except StopIteration:
            break
        except Exception as error:
            let_go(error)
            came.append({"error": type(error).__name__})
            continue
        rows = batch.tolist() if batched else [batch.tolist()]
        worker, seed = rows[0][1:]
        came.append([[row[0] for row in rows], worker, seed - worker if worker >= 0 else None])
    return came


def answer(program):
    """What PyTorch does."""
    try:
        loader, samplers, generators = parts(program)
    except Exception as error:
        described = described_error(error)
        # A sampler is shown by its address.
        described["message"] = re.sub(r"(sampler)=(<.*>|\[.*\])$", r"\1=<object object>", described["message"])
        return {"error": described}
    batched = program["args"].get("batch_size", 1) is not None or "batch_sampler" in program
    try:
        length = len(loader)
    except Exception as error:
        length = type(error).__name__
    epochs = []
    for number, most in enumerate(program["stops"]):
        for sampler in samplers:
            sampler.set_epoch(number)
        try:
            epochs.append(one_epoch(loader, batched, most))
        except Exception as error:
            let_go(error)
            epochs.append({"error": type(error).__name__})
    return {"out": {"len": length, "epochs": epochs, "next_i64": [draw_i64(one) for one in [*generators, None]]}}


# Programs that the engine once answered otherwise.
FOUND = (10246,)
HOW_MANY = 200


def program_cases(profile):
    cases = Cases("programs", NOTES)
    first = profile.loader_seeds[0]
    for seed in (*range(first, first + HOW_MANY), *FOUND):
        program = drawn(seed)
        cases.add("program", {"drawn": seed, **program}, **answer(program))
    return cases


def smaller(program):
    """Programs that are simpler by one step."""
    def with_(**changed):
        return {**program, **changed}

    dataset, args = program["dataset"], program["args"]
    for name in ("sampler", "batch_sampler"):
        if name in program:
            yield {key: value for key, value in program.items() if key != name}
            for key, value in (("seed", None), ("num_samples", 1), ("indices", []), ("set_epoch", False), ("replacement", False)):
                if program[name].get(key, value) != value:
                    yield with_(**{name: {**program[name], key: value}})
    for name in args:
        if name != "num_workers":
            yield with_(args={key: value for key, value in args.items() if key != name})
    if args["num_workers"]:
        yield with_(args={**args, "num_workers": args["num_workers"] - 1})
    for name in ("concat", "subset"):
        if name in dataset:
            yield with_(dataset={key: value for key, value in dataset.items() if key != name})
    if dataset["fails"] is not None:
        yield with_(dataset={**dataset, "fails": None})
    if dataset["n"] > 0 and "subset" not in dataset:
        for size in {dataset["n"] // 2, dataset["n"] - 1}:
            yield with_(dataset={**dataset, "n": size})
    if len(program["stops"]) > 1:
        yield with_(stops=program["stops"][1:])
        yield with_(stops=program["stops"][:-1])
    if any(stop is not None for stop in program["stops"]):
        yield with_(stops=[None] * len(program["stops"]))
    if program["rng"] == "default":
        yield with_(rng="generator")
    if program["seed"]:
        yield with_(seed=0)
