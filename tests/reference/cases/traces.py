"""Which worker gets which batch when, and in which order the batches arrive."""

import time

import torch.utils.data as data

from .record import Cases
from .sources import Shards, Sleepy

NOTES = (
    "op map_trace: map dataset, sample i sleeps sample_ms[i] in the worker. Per yield: "
    "[batch_indices, worker, send_idx_after, rcvd_idx_after]. in_order=true is fully "
    "deterministic. in_order=false: yields depend on time; the delays are far apart (fast 10 ms, "
    "slow >= 400 ms) and what is recorded was identical in 3 runs, otherwise the case only lists "
    "the multiset. op iterable_variables: streams of uneven length. A row after iter(), each next() and StopIteration: what the "
    "main process took out of the result queue since the row before, [task, is_end]; send_idx, rcvd_idx, tasks_outstanding, "
    "workers_status, task_info as [task, has_data].")
DELAY = 0.02  # seconds a sample of the slow worker of an iterable dataset takes
UNEVEN = [[2, 8], [8, 2]]  # one stream ends long before the other
STEP = 0.03  # seconds of a training step


def trace(milliseconds, **options):
    """Every batch with its worker and the loader's two counters after it."""
    iterator = iter(data.DataLoader(Sleepy(milliseconds), **options))
    primed = iterator._send_idx
    yields = []
    for batch in iterator:
        rows = batch.tolist()
        yields.append([[row[0] for row in rows], rows[0][1], iterator._send_idx,
                       iterator._rcvd_idx])
    return {"send_idx_after_prime": primed, "yields": yields}


def in_order(cases, slow_samples):
    size = 24
    grid = [(workers, prefetch, batch_size, slow) for workers in (2, 4) for prefetch in (1, 2)
            for batch_size in (1, 2) for slow in ([], slow_samples)]
    for workers, prefetch, batch_size, slow in grid:
        milliseconds = [120 if i in slow else 3 for i in range(size)]
        options = {"batch_size": batch_size, "num_workers": workers, "prefetch_factor": prefetch}
        cases.add("map_trace",
                  {"n": size, **options, "in_order": True, "sample_ms": milliseconds},
                  out=trace(milliseconds, **options))


def as_they_come(cases, slow):
    size = 16
    milliseconds = [500 if i == slow else 15 for i in range(size)]
    for workers, prefetch in ((2, 2), (4, 2), (2, 1)):
        options = {"batch_size": 1, "num_workers": workers, "prefetch_factor": prefetch,
                   "in_order": False}
        # Sample and worker of each yield, of three runs.
        runs = [trace(milliseconds, **options)["yields"] for _ in range(3)]
        short = [[(indices[0], worker) for indices, worker, *_ in run] for run in runs]
        places = [[sample for sample, _ in run].index(slow) for run in short]
        slow_workers = [dict(run)[slow] for run in short]
        out = {
            "stable_in_3_runs": all(run == short[0] for run in short),
            "multiset": sorted(sample for sample, _ in short[0]),
            "position_of_slow": places,
            "worker_of_slow": slow_workers,
            "indices_done_by_that_worker":
                [[sample for sample, worker in run if worker == slow_workers[0]] for run in short],
            "yields_run0": runs[0],
        }
        cases.add("map_trace_unordered", {"n": size, **options, "sample_ms": milliseconds}, out=out)


def iterable(cases, sizes):
    workers = len(sizes)
    delays = (None, [DELAY * (k == 0) for k in range(workers)],
              [DELAY * (k == workers - 1) for k in range(workers)])
    for prefetch in (1, 2):
        for batch_size in (1, 2):
            for delay in delays:
                options = {"batch_size": batch_size, "num_workers": workers,
                           "prefetch_factor": prefetch}
                iterator = iter(data.DataLoader(Shards(sizes, delay), **options))
                yields = []
                for batch in iterator:
                    rows = batch.tolist()
                    yields.append([[row[0] for row in rows], rows[0][1]])
                cases.add("iterable_trace",
                          {"sizes": sizes, **options, "in_order": True, "delay_s": delay},
                          out={"yields": yields, "workers_status_end": iterator._workers_status})


def followed(dataset, **options):
    """What arrived before each call returned, and the variables of the iterator then."""
    iterator = iter(data.DataLoader(dataset, **options))
    get, arrived, rows = iterator._get_data, [], []

    def noted():
        idx, batch = got = get()
        arrived.append([idx, type(batch).__name__ == "_IterableDatasetStopIteration"])
        return got

    def row():
        tasks = [[idx, len(info) == 2] for idx, info in sorted(iterator._task_info.items())]
        rows.append([list(arrived), iterator._send_idx, iterator._rcvd_idx, iterator._tasks_outstanding,
                     list(iterator._workers_status), tasks])
        arrived.clear()

    iterator._get_data = noted
    row()
    for _ in iterator:
        row()
        time.sleep(STEP)
    row()
    return rows


def variables(cases, sizes):
    delays = [DELAY / (k + 1) for k in range(len(sizes))]
    for prefetch in (1, 2, 3):
        for in_order in (True, False):
            options = {"batch_size": 2, "num_workers": len(sizes), "prefetch_factor": prefetch,
                       "in_order": in_order}
            cases.add("iterable_variables", {"sizes": sizes, **options, "delay_s": delays},
                      out=followed(Shards(sizes, delays), **options))


def trace_cases(profile):
    cases = Cases("task_traces", NOTES)
    in_order(cases, profile.slow)
    as_they_come(cases, profile.slow[0])
    for sizes in profile.shards:
        iterable(cases, sizes)
    for sizes in profile.shards + UNEVEN:
        variables(cases, sizes)
    return cases
