"""Programs drawn by seed, and what PyTorch does with them: a dataset and what wraps it, a sampler, a loader, some epochs."""

import re
import warnings

import torch
import torch.utils.data as data

from . import samples, sources
from .collate import described
from .drawn import MORE, drawn
from .record import Cases, described_error, draw_i64, generator, let_go
from .reused import CONTEXT
from .sources import here

NOTES = (
    "A program, two generators and some epochs. Each epoch is a list of batches, a batch [indices, worker, base seed]; an exception that next() "
    "raised stands as {\"error\": type} in its place, and next() is called again. stops[k]: batches of epoch k that are taken, null: all. "
    "With `samples` a batch is {\"batch\": what default_collate made}, and an error has the last line of its text. `resume` says where the engine "
    "saves the loader and goes on with a new one, in PyTorch nothing happens there, but from a point with `workers` on another loader goes on, "
    "which goes past the batches that were taken of the epoch. warned: how often the length of a stream was too short. "
    "next_i64: one int64 from the loader's generator, the sampler's and the default one after all epochs.")



def kept(rows):
    """`collate_fn`"""
    return rows


def alone(row):
    """`collate_fn` of a loader without batches."""
    return [row]


class Init:
    """`worker_init_fn`"""

    def __init__(self, offset=0, fails=None):
        self.offset, self.fails = offset, fails

    def __call__(self, worker):
        if worker == self.fails:
            raise RuntimeError("init boom")
        sources.OFFSET = self.offset


def sample(template, i):
    """Sample i: what the template makes of it, or a row [i, worker, seed]."""
    i += sources.OFFSET
    return (i, *here()) if template is None else samples.made(template, i)


class Rows(data.Dataset):
    """Sample i is that of i + first; one may raise."""

    def __init__(self, size, first=0, fails=None, template=None):
        self.size, self.first, self.fails, self.template = size, first, fails, template

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        if not 0 <= index < self.size:
            raise IndexError(f"{index} out of {self.size}")
        if index == self.fails:
            raise ValueError(f"sample {index}")
        return sample(self.template, index + self.first)


class Stream(data.IterableDataset):
    """All workers yield the same, or each has its share; one sample may raise."""

    def __init__(self, size, strided, first=0, fails=None, template=None):
        self.size, self.strided, self.first, self.fails, self.template = size, strided, first, fails, template

    def __iter__(self):
        info = data.get_worker_info()
        first, step = (info.id, info.num_workers) if info and self.strided else (0, 1)
        for i in range(first, self.size, step):
            if i == self.fails:
                raise ValueError(f"sample {i}")
            yield sample(self.template, i + self.first)


class Measured(Stream):
    """The same, with a length, right or wrong."""

    def __len__(self):
        return self.length


def dataset_of(said):
    fails, template = said["fails"], said.get("samples")
    if said["kind"] != "map":
        return stream_of(said, fails, template)
    if "tree" in said:
        return tree_of(said["tree"], template)
    dataset = Rows(said["n"], 0, fails, template)
    if "concat" in said:
        dataset = data.ConcatDataset([dataset] + [Rows(n, 1000 * (at + 1), None, template) for at, n in enumerate(said["concat"])])
    if "subset" in said:
        dataset = data.Subset(dataset, said["subset"])
    return dataset


def stream_of(said, fails, template):
    """A stream and those behind it. The first alone fails, and all say the same length."""
    every = []
    for at, n in enumerate([said["n"], *said.get("chain", [])]):
        kind = Measured if "length" in said else Stream
        every.append(kind(n, said["kind"] == "strided", 1000 * at, None if at else fails, template))
        every[-1].length = said.get("length")
    return data.ChainDataset(every) if "chain" in said else every[0]


def tree_of(tree, template):
    if tree["op"] == "rows":
        return Rows(tree["n"], tree["first"], None, template)
    if tree["op"] == "concat":
        return data.ConcatDataset([tree_of(one, template) for one in tree["of"]])
    inner = tree_of(tree["of"], template)
    if tree["op"] == "subset":
        return data.Subset(inner, tree["indices"])
    return data.random_split(inner, tree["lengths"], generator(tree["seed"]))[tree["part"]]


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


class Parts:
    """The loader, the samplers whose epochs are set, and the generators that are looked at."""

    def __init__(self, program, reuse, kind=data.DataLoader):
        self.program, self.reuse, self.kind = program, reuse, kind
        self.dataset = dataset_of(program["dataset"])
        self.own = generator(program["seed"]) if program["rng"] == "generator" else None
        torch.manual_seed(program["seed"] if self.own is None else 999)
        self.generators, self.epochs, self.samplers = [self.own], [], {}
        for name in ("sampler", "batch_sampler"):
            said = program.get(name)
            if said is None:
                continue
            sampler, of_sampler = sampler_of(said, self.dataset)
            self.generators.append(of_sampler)
            if said.get("set_epoch"):
                self.epochs.append(sampler)
            self.samplers[name] = sampler if name == "sampler" else data.BatchSampler(sampler, said["batch_size"], said["drop_last"])
        self.batched = program["args"].get("batch_size", 1) is not None or "batch_sampler" in program
        self.loader = self.made(dict(program["args"]))

    def made(self, args):
        """A loader."""
        if "samples" not in self.program["dataset"]:
            args["collate_fn"] = kept if self.batched else alone
        if "init" in self.program:
            args["worker_init_fn"] = Init(**self.program["init"])
        if self.reuse and args["num_workers"] > 0 and args.get("multiprocessing_context", "fork") == "fork":
            args["multiprocessing_context"] = CONTEXT
        return self.kind(self.dataset, generator=self.own, **args, **self.samplers)

    def with_workers(self, workers):
        """The same loader with another number of workers."""
        args = {**self.program["args"], "num_workers": workers}
        if workers == 0:
            for name in ("prefetch_factor", "persistent_workers", "timeout", "multiprocessing_context"):
                args.pop(name, None)
        self.loader = self.made(args)

    def epoch(self, most):
        """What comes of an epoch, up to `most` batches."""
        return one_epoch(iter(self.loader), self.shown(), most)

    def shown(self):
        """How a batch is written down."""
        return (lambda batch: {"batch": described(batch)}) if "samples" in self.program["dataset"] else shown_rows

    def states(self):
        return [(one, one.get_state()) for one in (*self.generators, torch.default_generator) if one is not None]


def shown_rows(rows):
    worker, seed = rows[0][1:]
    return [[row[0] for row in rows], worker, seed - worker if worker >= 0 else None]


def shown_error(error, whole):
    """The type, and the last line of what a program prints of it."""
    said = {"error": type(error).__name__}
    if whole:
        said["text"] = f"{said['error']}: {described_error(error)['message']}".strip().split("\n")[-1].removesuffix(":")
    let_go(error)
    return said


def one_epoch(iterator, shown, most):
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
            came.append(shown_error(error, shown is not shown_rows))
            continue
        came.append(shown(batch))
    return came


def goes_on(parts, point, most):
    """An epoch that a loader begins, and another one with more or fewer workers ends, which begins as the first one did."""
    states = parts.states()
    taken = parts.epoch(point["after"] if most is None else min(most, point["after"]))
    parts.loader = None
    for one, state in states:
        one.set_state(state)
    parts.with_workers(point["workers"])
    try:
        return taken + parts.epoch(most)[len(taken):]
    except Exception as error:
        # With workers the sampler fails when the iterator is made; that it does was reported before.
        if taken and taken[-1] == shown_error(error, parts.shown() is not shown_rows):
            return taken
        raise


def refused(error):
    """An exception that made no loader."""
    said = described_error(error)
    # A sampler is shown by its address.
    said["message"] = re.sub(r"(sampler)=(<.*>|\[.*\])$", r"\1=<object object>", said["message"])
    return {"error": said}


def answer(program, reuse=False):
    """What PyTorch does; `reuse`: with worker processes that were used before."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        said = answered(program, reuse)
    CONTEXT.settle()
    if "out" in said and is_measured(program):
        said["out"]["warned"] = sum(str(one.message).startswith("Length of IterableDataset") for one in told)
    return said


def is_measured(program):
    """Whether warnings of the length are counted. A state does not tell which of the yielded batches were exceptions, of which PyTorch counts none."""
    dataset = program["dataset"]
    may_raise = dataset["fails"] is not None or "samples" in dataset or "fails" in program.get("init", {})
    return "length" in dataset and not (program.get("resume") and may_raise)


def answered(program, reuse):
    try:
        parts = Parts(program, reuse)
    except Exception as error:
        return refused(error)
    try:
        length = len(parts.loader)
    except Exception as error:
        length = type(error).__name__
    change = next((point for point in program.get("resume", []) if "workers" in point), None)
    epochs = []
    for number, most in enumerate(program["stops"]):
        for sampler in parts.epochs:
            sampler.set_epoch(number)
        if change and change["after"] is None and number == change["epoch"] + 1:
            parts.loader = None
            parts.with_workers(change["workers"])
        try:
            if change and change["after"] is not None and number == change["epoch"]:
                epochs.append(goes_on(parts, change, most))
            else:
                epochs.append(parts.epoch(most))
        except Exception as error:
            let_go(error)
            epochs.append({"error": type(error).__name__})
    return {"out": {"len": length, "epochs": epochs, "next_i64": [draw_i64(one) for one in [*parts.generators, None]]}}


# Programs that the engine once answered otherwise.
FOUND = (10246, 200190, 200205, 200740, 200783, 201106, 202703, 204405, 204694)
HOW_MANY = 200
MORE_OF_THEM = 60


def program_cases(profile):
    cases = Cases("programs", NOTES)
    first = profile.loader_seeds[0]
    for seed in (*range(first, first + HOW_MANY), *FOUND, *range(MORE + first, MORE + first + MORE_OF_THEM)):
        program = drawn(seed)
        cases.add("program", {"drawn": seed, **program}, **answer(program))
    return cases
