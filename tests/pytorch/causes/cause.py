"""A training with one thing wrong with it, in one of four kinds of loops.

    python cause.py CAUSE [--loop plain|lightning|trainer|accelerate] [--set num_workers=2]… [--size N] [--epochs N] [--against num_workers=4]…

With `--against` it does not train once but alternately with the settings and with those changed, and prints how long each took.
"""

import argparse
import ast
import json
import time

import torch

from ingredients import CAUSES
from loops import LOOPS, imported


def settings_of(words):
    """`num_workers=2` as a setting."""
    pairs = (word.partition("=") for word in words)
    return {name: ast.literal_eval(value) for name, _, value in pairs}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cause", choices=sorted(CAUSES))
    parser.add_argument("--loop", choices=sorted(LOOPS), default="plain")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--against", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    settings = {"batch_size": options.size, **settings_of(options.set)}
    loop = LOOPS[options.loop]
    # What it takes to import is no part of the training.
    imported(options.loop)
    if not options.against:
        began = time.perf_counter()
        batches = loop(CAUSES[options.cause](), settings, options.epochs)
        print(json.dumps({"batches": batches, "seconds": time.perf_counter() - began}))
        return
    changed = {**settings, **settings_of(options.against)}
    took = {"as it is": [], "changed": []}
    for turn in range(2 * options.rounds):
        # Who is first has no advantage: the order changes from round to round.
        which = "changed" if (turn % 4) in (1, 2) else "as it is"
        began = time.perf_counter()
        loop(CAUSES[options.cause](), changed if which == "changed" else settings, options.epochs)
        took[which].append(time.perf_counter() - began)
    print(json.dumps(took))


if __name__ == "__main__":
    main()
