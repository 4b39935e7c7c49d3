"""Weighted draws."""

import math
import random

import torch.utils.data as data

from .record import Cases, attempt, generator
from .samplers import RNGS, two_epochs

NOTES = (
    "weights are given in full (f64). replacement=false (and any num_samples==1) uses the "
    "exponential trick: on CPUs where cpuinfo says Intel the MKL stream is used and results "
    "differ; these come from an AMD CPU (default kernel). Cases never ask for more non-zero "
    "categories than exist except op 'WeightedRandomSampler_zero_ties', where only the set of the "
    "first nnz is meaningful.")
NAN, INF = math.nan, math.inf
# What is refused when the draw is made: name, weights, num_samples, replacement.
REFUSED = (
    ("negative", [1.0, -1.0], 2, True), ("negative", [1.0, -1.0], 2, False),
    ("allzero", [0.0, 0.0], 2, True), ("allzero", [0.0, 0.0], 2, False),
    ("toomany", [1.0, 1.0], 3, False),
    ("nan", [NAN, 1.0], 2, True), ("nan", [NAN, 1.0], 2, False),
    ("inf", [INF, 1.0], 2, True), ("inf", [INF, 1.0], 2, False),
    ("empty", [], 1, True),
)


def kinds_of_weights(size, source):
    """All the same, random, and every third of them zero."""
    return {"uniform": [1.0] * size,
            "rand": [round(source.random() * 5, 6) for _ in range(size)],
            "zeros": [0.0 if i % 3 == 0 else float(source.randint(1, 9)) for i in range(size)]}


def draws(size, weights):
    """How many to draw: one (a special case in PyTorch), half, and many or all there are."""
    non_zero = sum(weight > 0 for weight in weights)
    many = 2 * size if size < 100 else size
    for count in (1, size // 2, many):
        yield True, count
    for count in (1, size // 2, non_zero):
        yield False, count


def one_size(cases, shown_weights, seed, size):
    source = random.Random(seed * 1000 + size)
    for kind in ("uniform", "rand", "zeros"):
        # All are drawn for each: this is how the bundled files came to their weights.
        weights = kinds_of_weights(size, source)[kind]
        name = f"w-{seed}-{size}-{kind}"
        shown_weights[name] = {"repeat": 1.0, "n": size} if kind == "uniform" else weights
        for rng in RNGS:
            for replacement, count in draws(size, weights):
                if size > 100 and rng == "default" and count != size // 2:
                    continue

                def make(drawn_from):
                    return data.WeightedRandomSampler(weights, count, replacement, drawn_from)

                cases.add("WeightedRandomSampler",
                          {"weights_kind": kind, "weights_ref": name, "num_samples": count,
                           "replacement": replacement, "rng": rng, "seed": seed},
                          out=two_epochs(make, rng, seed))


def weighted_cases(profile):
    cases = Cases("weighted", NOTES)
    shown_weights = cases.extra["weights"] = {}
    for seed in profile.weighted_seeds:
        for size in profile.weighted_sizes:
            one_size(cases, shown_weights, seed, size)
    weights, seed = [0.0, 1.0, 0.0, 2.0, 0.0], profile.weighted_seeds[0]
    ties = data.WeightedRandomSampler(weights, 4, False, generator=generator(seed))
    cases.add("WeightedRandomSampler_zero_ties",
              {"weights": weights, "num_samples": 4, "replacement": False, "seed": seed},
              out=list(ties))
    for name, weights, count, replacement in REFUSED:
        def draw():
            return list(data.WeightedRandomSampler(weights, count, replacement, generator(0)))
        cases.add("WeightedRandomSampler_iter_error",
                  {"weights": [str(weight) for weight in weights], "what": name,
                   "num_samples": count, "replacement": replacement}, **attempt(draw))
    return cases
