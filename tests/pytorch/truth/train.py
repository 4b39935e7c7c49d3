"""Trains on one workload with the arguments of its DataLoader that are given, and says on its last line how long that took, as JSON.

    python train.py WORKLOAD DATA [num_workers=2] [prefetch_factor=4] [in_order=false] [persistent_workers=true]
    python train.py --prepare WORKLOAD DATA

`--prepare` writes the files that the workload reads into the folder DATA. What is reported:

- seconds: from before `iter(loader)` of the first epoch to the end of the loop of the last. That is what Loadscope calls the time of a run,
  and what it forecasts: starting and ending workers is in it, importing, making the dataset and leaving the program are not;
- waited: the part of it that was not spent in training steps;
- first: from its beginning to the first batch;
- others: how many cores other programs used meanwhile.
"""

import importlib
import json
import os
import pathlib
import sys
import time

import torch
from torch.utils.data import DataLoader

TRUTH = {"true": True, "false": False}


def setting(text):
    """`num_workers=2` as a name and a value."""
    name, _, value = text.partition("=")
    return name, TRUTH[value] if value in TRUTH else int(value)


def host_busy():
    """Seconds that all cores together computed so far, in all processes; 0 where the system does not say."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            user, nice, system, _idle, _waits, hard, soft, stolen = map(int, file.readline().split()[1:9])
    except (OSError, ValueError):
        return 0.0
    return (user + nice + system + hard + soft + stolen) / os.sysconf("SC_CLK_TCK")


def own_busy():
    """The same of this process, and of children that have ended."""
    used = os.times()
    return used.user + used.system, used.children_user + used.children_system


def train(loader, epochs, step):
    """Seconds of everything, of the training steps, and until the first batch."""
    trained, first = 0.0, None
    began = time.perf_counter()
    for _ in range(epochs):
        for batch in loader:
            there = time.perf_counter()
            if first is None:
                first = there - began
            step(batch)
            trained += time.perf_counter() - there
    return time.perf_counter() - began, trained, first


def make(workload, folder):
    """Makes a workload of `workloads/`. `drawn_1000` is a random one with that seed."""
    name, _, seed = workload.partition("_")
    if name == "drawn":
        return importlib.import_module("workloads.drawn").make(int(seed))
    return importlib.import_module("workloads." + workload).make(folder)


def main():
    workload, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    torch.manual_seed(0)
    made = make(workload, folder)
    arguments = {**made["loader"], **dict(map(setting, sys.argv[3:]))}
    if not arguments.get("num_workers"):
        # PyTorch refuses it where there are no workers.
        arguments.pop("multiprocessing_context", None)
    loader = DataLoader(made["dataset"], **arguments)
    busy, (own, children) = host_busy(), own_busy()
    seconds, trained, first = train(loader, made["epochs"], made["step"])
    busy, own = host_busy() - busy, own_busy()[0] - own
    # Workers that live on are counted once they have ended.
    del loader
    others = max(busy - own - (own_busy()[1] - children), 0.0) / seconds
    result = {"seconds": seconds, "waited": seconds - trained, "first": first, "others": others, "torch": torch.__version__}
    print(json.dumps(result))


def prepare():
    if sys.argv[2].startswith("drawn_"):
        return
    workload = importlib.import_module("workloads." + sys.argv[2])
    if hasattr(workload, "prepare"):
        workload.prepare(pathlib.Path(sys.argv[3]))


if __name__ == "__main__":
    prepare() if sys.argv[1] == "--prepare" else main()
