#!/usr/bin/env python3
"""Makes the cases that the engine is compared with, by asking the real PyTorch.

Needs torch 2.13.0 and numpy; nothing else of Loadscope. In an environment that has them run

    python make_cases.py --out DIR                 the bundled cases again, in DIR
    python make_cases.py --seed 7 --out DIR        other seeds, sizes and parameters, derived from 7
    python make_cases.py --out DIR weighted errors only these files
    python make_cases.py --compare                 says how PyTorch here differs from `golden`

and then lets the engine answer them:

    LOADSCOPE_REFERENCE=DIR cargo test -p loadscope-engine --test parity

`--profile default` is the set in `golden`. Any other name stands for the seed that is hashed from
it, so that `--profile night-3` is the same everywhere.

A file is `{schema, torch, numpy, area, notes, cases}`; a case is `{id, op, in, out}`, or has
`error: {type, message}` for `out` when PyTorch raised. A long list of integers may be given as
`{len, head, tail, sha256}`: the hash is that of the decimal numbers with commas between them.

What a run on another host may say differently: `randn` in the last digits (SIMD width), draws
without replacement on Intel CPUs (PyTorch takes them from another generator there), the order of
ties in `WeightedRandomSampler_zero_ties`, batches of `map_trace_unordered` and of a worker's death
or a timeout (they depend on time), and the number of CPUs in `DataLoader_warning`.
"""

import argparse
import json
import pathlib
import sys
import tempfile
import time
import warnings

import torch

from cases import (collate, datasets, errors, iterable, loader, numbers, profiles, programs, samplers,
                   traces, weights)

AREAS = {
    "mt19937": numbers.generator_cases,
    "randperm": numbers.permutation_cases,
    "samplers": samplers.sampler_cases,
    "weighted": weights.weighted_cases,
    "distributed": samplers.distributed_cases,
    "datasets": datasets.dataset_cases,
    "loader_order": loader.loader_cases,
    "iterable": iterable.iterable_cases,
    "errors": errors.error_cases,
    "collate": collate.collate_cases,
    "task_traces": traces.trace_cases,
    "programs": programs.program_cases,
}
GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"


def make(profile, areas, folder):
    """Writes one file of cases for each area."""
    folder.mkdir(parents=True, exist_ok=True)
    for area in areas:
        started = time.monotonic()
        cases = AREAS[area](profile)
        path = folder / (area + ".json")
        path.write_text(cases.to_text(), encoding="utf-8")
        seconds = time.monotonic() - started
        print(f"{len(cases):4} cases in {path}, {seconds:.1f} s", flush=True)


def differences(area, expected, actual):
    """One line for everything in which two files of an area differ."""
    for name in sorted(expected.keys() | actual.keys()):
        if name != "cases" and expected.get(name) != actual.get(name):
            yield f"{area}: {name} differs"
    old = {case["id"]: case for case in expected["cases"]}
    new = {case["id"]: case for case in actual["cases"]}
    for case_id in sorted(old.keys() | new.keys()):
        before, after = old.get(case_id), new.get(case_id)
        # As text: a NaN equals itself.
        if json.dumps(before) != json.dumps(after):
            op = (before or after)["op"]
            yield f"{case_id} {op}: {shown(before)} is now {shown(after)}"


def shown(case):
    """What a case says, short enough for a line."""
    said = case and {name: case[name] for name in ("out", "error", "cause") if name in case}
    text = json.dumps(said)
    return text if len(text) <= 300 else text[:300] + "…"


def compare(areas):
    """Makes the bundled cases anew, prints what differs and gives the number of differences."""
    count = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        make(profiles.DEFAULT, areas, folder)
        for area in areas:
            old, new = (json.loads((place / (area + ".json")).read_text(encoding="utf-8"))
                        for place in (GOLDEN, folder))
            for line in differences(area, old, new):
                count += 1
                print(line)
    print(f"{count} differences from {GOLDEN}")
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--profile", default="default",
                        help="the name of a set of seeds, sizes and parameters")
    chosen.add_argument("--seed", type=int, help="derive seeds, sizes and parameters from this")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR", help="where the files go")
    parser.add_argument("--compare", action="store_true",
                        help="compare with the bundled files, write nothing; 1 if any differs")
    parser.add_argument("areas", nargs="*", metavar="AREA", help=", ".join(AREAS))
    arguments = parser.parse_args()
    areas = arguments.areas or list(AREAS)
    unknown = [area for area in areas if area not in AREAS]
    if unknown:
        parser.error(f"there is no area {', '.join(unknown)}; there are {', '.join(AREAS)}")
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if arguments.compare:
        return min(1, compare(areas))
    if arguments.out is None:
        parser.error("--out says where the files go")
    profile = (profiles.named(arguments.profile) if arguments.seed is None
               else profiles.derived(arguments.seed))
    make(profile, areas, arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
