"""The workloads of `workloads/`, and the settings of their runs."""

import json
import pathlib

import draw

DEFAULTS = {"num_workers": 0, "prefetch_factor": None, "in_order": True, "persistent_workers": False}

# Settings: workers, and options after a slash: prefetch factor, p for persistent workers, ~ for in_order=False.
WAITS = "0 1 2 3 4 8 2/4 4/~"  # Workers that wait: more of them help, far beyond the number of cores.
COMPUTES = "0 1 2 3 4 1/4 2/4 4/1"  # Workers that compute: the number of cores is the limit.
EPOCHS = "0 1 2 3 4 1/p 2/p 4/p"  # Several epochs, where persistent workers matter.
SPAWNED = "0 1 2 3 4 1/p 2/p"  # Spawned workers, which take seconds to start.
WORKLOADS = {
    "disk": ("Waiting for a disk", WAITS),
    "network": ("Waiting for a network", WAITS),
    "heavy_tail": ("A heavy tail", WAITS),
    "half_half": ("Half waiting, half computing", WAITS),
    "jpeg": ("Decoding JPEGs", COMPUTES),
    "augmentation": ("Augmentation with NumPy", COMPUTES),
    "large_tensors": ("Large tensors", COMPUTES),
    "tiny_rows": ("Tiny rows", COMPUTES),
    "whole_batches": ("Whole batches at once", COMPUTES),
    "text": ("Text with padding", COMPUTES),
    "tokens": ("Memory-mapped tokens", COMPUTES),
    "stream": ("A stream", COMPUTES),
    "computing_step": ("A computing step on all cores", COMPUTES),
    "slow_init": ("Slow initialisation", EPOCHS),
    "short_epochs": ("Short epochs", EPOCHS),
    "spawned": ("Spawned workers", SPAWNED),
}


def setting(text):
    """Parses a setting such as `4/1`, `2/p` or `4/~`."""
    workers, _, option = text.partition("/")
    made = {**DEFAULTS, "num_workers": int(workers), "prefetch_factor": 2 if int(workers) else None}
    if option == "p":
        made["persistent_workers"] = True
    elif option == "~":
        made["in_order"] = False
    elif option:
        made["prefetch_factor"] = int(option)
    return made


def seed_of(name):
    """Returns the seed of a random workload, or None for a file of `workloads/`."""
    return int(name.removeprefix("drawn_")) if name.startswith("drawn_") else None


def title_of(name):
    seed = seed_of(name)
    return WORKLOADS[name][0] if seed is None else draw.title(seed)


def program_of(name):
    """Returns the text of the workload's program."""
    seed = seed_of(name)
    file = pathlib.Path(__file__).parent / "workloads" / ("%s.py" % (name if seed is None else "drawn"))
    return file.read_bytes() + (b"" if seed is None else repr(draw.drawn(seed)).encode())


def recorded_of(name):
    """Returns the recorded setting."""
    seed = seed_of(name)
    return setting("2" if seed is None else draw.settings(seed)[0])


def in_python(one):
    """Formats a setting in Python's syntax, without defaults."""
    words = ["num_workers=%d" % one["num_workers"]]
    if one["prefetch_factor"] not in (None, 2):
        words.append("prefetch_factor=%d" % one["prefetch_factor"])
    words += [name + "=" + value for name, value in (("persistent_workers", "True"), ("in_order", "False"))
              if one[name] != DEFAULTS[name]]
    return ", ".join(words)


def short(one):
    """Abbreviates a setting: `4p` has persistent workers, `4/1` has prefetch factor 1, `4~` is out of order."""
    factor = "" if one["prefetch_factor"] in (None, 2) else "/%d" % one["prefetch_factor"]
    return str(one["num_workers"]) + factor + "p" * one["persistent_workers"] + "~" * (not one["in_order"])


def arguments(one):
    """Returns the arguments of `train.py`."""
    names = DEFAULTS if one["num_workers"] else ["num_workers"]
    return ["%s=%s" % (name, json.dumps(one[name])) for name in names]


def settings_of(name):
    """Returns the settings of a workload, including the recorded one."""
    seed = seed_of(name)
    tried = WORKLOADS[name][1].split() if seed is None else draw.settings(seed)[1]
    made = {in_python(one): one for one in [recorded_of(name), *map(setting, tried)]}
    return sorted(made.values(),
                  key=lambda one: (one["num_workers"], one["prefetch_factor"] or 0, one["persistent_workers"], not one["in_order"]))
