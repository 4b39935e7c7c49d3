"""What is refused, what is warned of, and what a consumer sees when a worker fails."""

import os
import warnings

import torch.utils.data as data

from .record import Cases, attempt, described_error, let_go, succeeds
from .sources import (Deadly, Failing, FailingStream, Indexed, Late, Naive, Tagged, TwoArg)

NOTES = (
    "ctor cases: in.args are the DataLoader keyword arguments (dataset has 4 samples; 'iterable': "
    "true uses an IterableDataset). Messages have pids and addresses masked. worker cases: events "
    "as seen by the consumer, first line of messages only.")

# Arguments of a loader over a map-style dataset of 4 samples.
MAP_ARGUMENTS = (
    dict(num_workers=-1), dict(timeout=-1), dict(timeout=-0.5, num_workers=1),
    dict(prefetch_factor=2), dict(prefetch_factor=0), dict(prefetch_factor=-1, num_workers=1),
    dict(prefetch_factor=0, num_workers=1), dict(persistent_workers=True), dict(batch_size=0),
    dict(batch_size=-2), dict(batch_size=True), dict(batch_size=2.0),
    dict(batch_size=None, drop_last=True), dict(batch_size=None, shuffle=True),
    dict(shuffle=True, sampler=[0, 1]), dict(shuffle=False, sampler=[0, 1]),
    dict(batch_sampler=[[0]], batch_size=2), dict(batch_sampler=[[0]], batch_size=1),
    dict(batch_sampler=[[0]], shuffle=True), dict(batch_sampler=[[0]], sampler=[0]),
    dict(batch_sampler=[[0]], drop_last=True), dict(batch_sampler=[[0]], batch_size=None),
    dict(drop_last=1), dict(drop_last=1, batch_size=None), dict(multiprocessing_context="fork"),
    dict(multiprocessing_context="bogus", num_workers=1),
    dict(multiprocessing_context=3, num_workers=1),
    dict(multiprocessing_context="fork", num_workers=1),
    dict(multiprocessing_context="spawn", num_workers=1), dict(in_order=False),
    dict(in_order=False, num_workers=1), dict(timeout=1), dict(pin_memory=True),
    dict(pin_memory_device="cuda"),
    dict(num_workers=1, persistent_workers=True, prefetch_factor=5),
    dict(num_workers=-1, timeout=-1), dict(timeout=-1, prefetch_factor=1), dict(num_workers=True),
)
ITERABLE_ARGUMENTS = (
    dict(shuffle=True), dict(shuffle=False), dict(shuffle=None), dict(sampler=[0]),
    dict(batch_sampler=[[0]]), dict(batch_size=0), dict(batch_size=None, drop_last=True),
    dict(drop_last=True), dict(shuffle=True, sampler=[0]), dict(shuffle=0), dict(shuffle=1),
)
EMPTY_ARGUMENTS = (dict(shuffle=True), dict(shuffle=False), dict(batch_size=None, shuffle=True))
FIXED = (("batch_size", 3), ("batch_sampler", None), ("sampler", None), ("drop_last", True),
         ("dataset", None), ("persistent_workers", True))
CHANGEABLE = (("num_workers", 0), ("timeout", 0), ("collate_fn", None), ("pin_memory", False),
              ("prefetch_factor", None), ("worker_init_fn", None), ("generator", None),
              ("in_order", True))


def constructors(cases):
    def add(dataset, arguments, iterable=False, **more):
        cases.add("DataLoader_ctor", {"args": arguments, "iterable": iterable, **more},
                  **attempt(succeeds(lambda: data.DataLoader(dataset, **arguments))))
    for arguments in MAP_ARGUMENTS:
        add(Indexed(4), arguments)
    for arguments in ITERABLE_ARGUMENTS:
        add(Naive(4), arguments, iterable=True)
    for arguments in EMPTY_ARGUMENTS:
        add(Indexed(0), arguments, empty_dataset=True)


def later(cases):
    """What only fails at iteration, and what may be assigned."""
    def add(arguments, what, action):
        cases.add("DataLoader_runtime", {"args": arguments, "what": what},
                  **attempt(lambda: action(data.DataLoader(Indexed(4), **arguments))))
    add(dict(timeout=1), "iterate num_workers=0 with timeout", list)
    add(dict(prefetch_factor=0, num_workers=1), "iterate with prefetch_factor=0", list)
    for name, value in FIXED + CHANGEABLE:
        def assign(loader):
            setattr(loader, name, value)
            return "ok"
        add({}, f"set {name} after init", assign)


def warned(cases):
    def add(arguments, what, iterate=True):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            loader = data.DataLoader(Indexed(4), **arguments)
            if iterate:
                list(loader)
        # Newer Pythons warn of forking beside threads.
        said = {f"{warning.category.__name__}: {warning.message}" for warning in caught
                if "os.fork" not in str(warning.message)}
        cases.add("DataLoader_warning",
                  {"args": arguments, "what": what, "cpus": len(os.sched_getaffinity(0))},
                  out=sorted(said))
    add(dict(num_workers=9), "too many workers (ctor only)", iterate=False)
    add(dict(pin_memory=True), "pin_memory without accelerator")
    add(dict(pin_memory=True, pin_memory_device="cuda"), "pin_memory_device")
    add(dict(pin_memory_device="cuda"), "pin_memory_device without pin_memory")


def sampler_arguments(cases):
    three = range(3)
    uniform, weighted, batches = data.RandomSampler, data.WeightedRandomSampler, data.BatchSampler
    actions = {
        "RandomSampler replacement=1": lambda: uniform(three, replacement=1),
        "RandomSampler num_samples=0": lambda: uniform(three, num_samples=0),
        "RandomSampler num_samples=-1": lambda: uniform(three, num_samples=-1),
        "RandomSampler num_samples=2.5": lambda: uniform(three, num_samples=2.5),
        "RandomSampler empty": lambda: uniform([]),
        "RandomSampler num_samples=True": succeeds(lambda: uniform(three, num_samples=True)),
        "RandomSampler empty num_samples=3 iterate": lambda: list(uniform([], num_samples=3)),
        "RandomSampler empty num_samples=3 replacement iterate":
            lambda: list(uniform([], replacement=True, num_samples=3)),
        "WeightedRandomSampler num_samples=0": lambda: weighted([1.0], 0),
        "WeightedRandomSampler num_samples=True": lambda: weighted([1.0], True),
        "WeightedRandomSampler num_samples=1.0": lambda: weighted([1.0], 1.0),
        "WeightedRandomSampler replacement=1": lambda: weighted([1.0], 1, 1),
        "WeightedRandomSampler 2d": lambda: weighted([[1.0, 2.0]], 1),
        "WeightedRandomSampler scalar": lambda: weighted(3.0, 1),
        "BatchSampler batch_size=0": lambda: batches(three, 0, False),
        "BatchSampler batch_size=True": lambda: batches(three, True, False),
        "BatchSampler drop_last=0": lambda: batches(three, 2, 0),
    }
    for what, action in actions.items():
        cases.add("sampler_ctor", {"what": what}, **attempt(action))


def walk(loader):
    """Everything the consumer sees, batches and errors, until the end; 40 steps at most."""
    iterator = iter(loader)
    events = []
    for _ in range(40):
        try:
            batch = next(iterator)
        except StopIteration as end:
            let_go(end)
            events.append({"stop": True})
            break
        except Exception as error:  # an error does not end the iterator
            events.append({"error": described_error(error, first_line=True)})
        else:
            events.append({"batch": batch.tolist() if hasattr(batch, "tolist") else batch})
    return events


def init_boom(worker):
    raise RuntimeError("init boom")


def exceptions():
    return {"ValueError": ValueError("boom"), "KeyError": KeyError("k"),
            "IndexError": IndexError("idx"), "StopIteration": StopIteration("si"),
            "TwoArg": TwoArg(1, 2), "AssertionError": AssertionError()}


def failing_workers(cases, bad):
    for workers in (0, 1, 2):
        for batch_size in (2, None):
            for name, error in exceptions().items():
                if (batch_size is None or workers == 1) and name != "ValueError":
                    continue
                loader = data.DataLoader(Failing(7, bad, error), batch_size=batch_size,
                                         num_workers=workers)
                cases.add("worker_error",
                          {"n": 7, "bad_index": bad, "exception": name, "batch_size": batch_size,
                           "num_workers": workers}, out=walk(loader))
        options = {"batch_size": 2, "num_workers": workers}
        cases.add("worker_error_iterable", {"n": 7, "bad_index": 3, **options},
                  out=walk(data.DataLoader(FailingStream(7, 3), **options)))
        if workers:
            loader = data.DataLoader(Indexed(8), worker_init_fn=init_boom, **options)
            cases.add("worker_init_error", {"n": 8, **options}, out=walk(loader))
    loader = data.DataLoader(Tagged(0, 4), batch_size=None, sampler=[0, 9, 1])
    cases.add("index_error_out_of_range_sampler",
              {"n": 4, "sampler": [0, 9, 1], "batch_size": None, "num_workers": 0},
              out=walk(loader))


def lost_workers(cases):
    """Workers that die or are too late: what is seen depends on time."""
    for how in ("exit", "kill"):
        try:
            list(data.DataLoader(Deadly(how), batch_size=2, num_workers=2))
            result = {"out": "no error"}
        except RuntimeError as error:
            cause = error.__cause__
            result = {"error": described_error(error),
                      "cause": described_error(cause) if cause else None}
        cases.add("worker_death", {"how": how, "index": 3, "num_workers": 2}, **result)
    loader = data.DataLoader(Late(2.5), batch_size=1, num_workers=2, timeout=1)
    cases.add("timeout", {"timeout": 1, "slow_index": 0, "sleep_s": 2.5, "num_workers": 2},
              out=walk(loader))


def error_cases(profile):
    cases = Cases("errors", NOTES)
    constructors(cases)
    later(cases)
    warned(cases)
    sampler_arguments(cases)
    failing_workers(cases, profile.slow[0] + 1)
    if profile.is_default:
        lost_workers(cases)
    return cases
