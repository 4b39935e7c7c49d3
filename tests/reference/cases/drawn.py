"""Programs drawn by seed: what stands in them. `programs.py` says what is done with them.

A program is a JSON object, so that it can be shown, made smaller and run again. It says nothing that depends on time: with
`in_order=False` and several workers any order would be right.
"""

import random

from . import samples

# From this seed on programs have what `more` adds; those before are what they were before there was more.
MORE = 100_000


def drawn(seed):
    """The program of a seed."""
    program = simple(seed)
    if seed >= MORE:
        more(program, random.Random(f"{seed}, more"))
    return program


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
    if "tree" in dataset:
        return length_of_tree(dataset["tree"])
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


def simple(seed):
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


def drawn_tree(draw, depth=0):
    """Datasets inside of datasets; every leaf counts from its own number."""
    chance = draw.random()
    if depth == 3 or chance < 0.3:
        return {"op": "rows", "n": draw.choice([0, 1, 2, 3, 5, 8]), "first": 1000 * draw.randrange(1, 9)}
    inner = drawn_tree(draw, depth + 1)
    size = length_of_tree(inner)
    if chance < 0.55:
        return {"op": "concat", "of": [inner] + [drawn_tree(draw, depth + 1) for _ in range(draw.choice([0, 1, 2]))]}
    if chance < 0.8 and size:
        return {"op": "subset", "of": inner, "indices": [draw.randrange(size) for _ in range(draw.choice([0, 1, 4, 9]))]}
    cut = draw.randint(0, size)
    lengths = draw.choice([[cut, size - cut], [0.5, 0.5], [0.25, 0.5, 0.25], [1]])
    return {"op": "split", "of": inner, "lengths": lengths, "part": draw.randrange(len(lengths)), "seed": draw.randrange(1000)}


def length_of_tree(tree):
    if tree["op"] == "rows":
        return tree["n"]
    if tree["op"] == "concat":
        return sum(map(length_of_tree, tree["of"]))
    if tree["op"] == "subset":
        return len(tree["indices"])
    return split_of(tree["lengths"], length_of_tree(tree["of"]))[tree["part"]]


def split_of(lengths, size):
    """How many each part of `random_split` gets."""
    if sum(lengths) != 1:
        return lengths
    counts = [int(size * one) for one in lengths]
    for k in range(size - sum(counts)):
        counts[k % len(counts)] += 1
    return counts


def drawn_resume(draw, program):
    """Where the loader is saved and made anew: in which epoch, after how many of its batches, with how many workers from then on."""
    args = program["args"]
    points = []
    for epoch in sorted(draw.choices(range(len(program["stops"])), k=draw.choice([1, 1, 1, 2, 3]))):
        taken = points[-1]["after"] if points and points[-1]["epoch"] == epoch else 0
        if taken is None:
            continue
        # `None`: between this epoch and the next one.
        places = [taken, taken + 1, taken + 1, taken + 2, taken + 4, 1000] + [None] * (epoch + 1 < len(program["stops"]))
        points.append({"epoch": epoch, "after": draw.choice(places)})
    last = points[-1]
    workers = args["num_workers"]
    # A stream goes on with as many workers as it had. Persistent workers keep their seed, which new ones would draw.
    may_change = program["dataset"]["kind"] == "map" and args.get("in_order", True)
    keeps = args.get("persistent_workers") and (last["epoch"] > 0 or last["after"] is None)
    if may_change and not keeps and draw.random() < 0.25:
        last["workers"] = draw.choice([other for other in (0, 1, 2, 3) if other != workers])
    return points


def more(program, draw):
    """What was not drawn at first."""
    dataset, args = program["dataset"], program["args"]
    is_map, workers = dataset["kind"] == "map", args["num_workers"]
    if is_map and draw.random() < 0.2:
        for name in ("concat", "subset"):
            dataset.pop(name, None)
        dataset["fails"] = None
        dataset["tree"] = drawn_tree(draw)
    if not is_map and draw.random() < 0.3:
        dataset["chain"] = [draw.choice([0, 1, 2, 5]) for _ in range(draw.choice([1, 2]))]
    if not is_map and draw.random() < 0.4:
        dataset["length"] = draw.choice([dataset["n"], dataset["n"], 0, 1, 4, 100])
    if draw.random() < (0.2 if workers else 0.04):
        program["init"] = {"fails": draw.randrange(max(workers, 1))} if draw.random() < 0.3 else {"offset": 100}
    if draw.random() < 0.1:
        args["timeout"] = draw.choice([0, 60, 60, 60.5] if workers else [0, 0, 0, 60, -1])
    if workers <= 1 and draw.random() < 0.15:
        args["in_order"] = False
    if draw.random() < 0.03:
        args["multiprocessing_context"] = draw.choice(["fork", "fork", "threads"])
    if draw.random() < 0.3:
        dataset["samples"] = samples.drawn(draw, length_of(dataset))
    # New workers call what failed in those that lived on.
    fails_again = "fails" in program.get("init", {}) and args.get("persistent_workers")
    if draw.random() < 0.6 and not fails_again:
        program["resume"] = drawn_resume(draw, program)
