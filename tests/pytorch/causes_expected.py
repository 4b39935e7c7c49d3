"""The runs of `causes.py`: what is put wrong, in which loop with which settings, and which findings name it.

`finds`: the verdict must be one of these. `says`: a regular expression that the verdict or its finding must contain. `never`: no remedy of
a warning may contain this. `loader`: the name of the dataset that the report must be about.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Injected:
    """One run."""

    cause: str
    finds: frozenset
    loop: str = "plain"
    sets: tuple = ()
    size: int = 8
    epochs: int = 1
    says: str = ""
    never: str = ""
    code: int = 0
    command: tuple = ()
    # What would settle it is no argument of DataLoader, or the run has failed.
    tries: bool = True

    @property
    def name(self):
        size = [] if self.size == 8 else ["batch_size=%d" % self.size]
        epochs = [] if self.epochs == 1 else ["%d epochs" % self.epochs]
        return ", ".join([self.cause, self.loop, *self.sets, *size, *epochs])


def runs(cause, finds, *ways, **more):
    """The same cause in several ways, each `(loop, settings, …)`."""
    return [Injected(cause, frozenset(finds), way[0], tuple(way[1].split()), *way[2:], **more) for way in ways]


TAIL = {"heavy_tail", "head_of_line"}
TOO_FEW = {"starved_workers", "no_workers"}
# A run that the trainer limits may hear besides that its workers took a moment to start and to end.
CALM = {"fine", "slow_first_batch", "short_run", "waiting"}
BEGINNING = {"slow_first_batch", "epoch_refill"}
HUGE = {"large_batches", "transport", "slower_than_none", "shared_memory", "slow_collate"}
WORKERS_1, WORKERS_2, WORKERS_4 = "num_workers=1", "num_workers=2", "num_workers=4"

RUNS = [
    *runs(
        "slow_sample",
        TAIL,
        ("plain", WORKERS_2, 4),
        ("plain", WORKERS_4 + " prefetch_factor=3", 4),
        ("lightning", WORKERS_2, 4),
        ("trainer", WORKERS_2, 4),
        ("accelerate", WORKERS_2, 6),
    ),
    *runs("slow_collate", {"slow_collate"}, ("plain", "num_workers=0"), ("plain", WORKERS_1), ("plain", WORKERS_2, 8, 2), ("trainer", WORKERS_2), ("lightning", WORKERS_1), says="collate_fn"),
    *runs("slow_init", BEGINNING, ("plain", WORKERS_2), ("plain", WORKERS_2, 8, 3), ("accelerate", WORKERS_2), ("lightning", WORKERS_1, 8, 2)),
    *runs("slow_open", BEGINNING, ("plain", WORKERS_2), ("trainer", WORKERS_2)),
    *runs(
        "too_few",
        TOO_FEW,
        ("plain", "num_workers=0"),
        ("plain", WORKERS_1),
        ("plain", WORKERS_2, 16),
        ("plain", WORKERS_1 + " prefetch_factor=8", 8, 2),
        ("lightning", WORKERS_1),
        ("trainer", "num_workers=0"),
        ("accelerate", WORKERS_1),
    ),
    *runs("computing", {"oversubscribed", "starved_workers", "slow_first_batch"}, ("plain", "num_workers=8", 4), ("plain", "num_workers=6 prefetch_factor=4", 4), never="num_workers=([3-9]|[1-9][0-9])"),
    *runs("few_batches", BEGINNING | {"slower_than_none", "short_run"}, ("plain", "num_workers=8", 8, 3), ("trainer", "num_workers=6", 8, 2), never="num_workers=([89]|[1-9][0-9])"),
    *runs("tiny", {"slower_than_none"}, ("plain", WORKERS_2, 4), ("plain", WORKERS_1, 8), ("accelerate", WORKERS_2, 8)),
    *runs("huge", HUGE, ("plain", WORKERS_1, 8), ("plain", WORKERS_2, 6), says=r"[MG]i?B|shared memory|bytes"),
    *runs("slow_step", CALM, ("plain", WORKERS_2), ("lightning", WORKERS_2), ("trainer", WORKERS_1), says="Training is the bottleneck"),
    *runs("logging", CALM, ("plain", WORKERS_2), ("accelerate", WORKERS_2), says="Training is the bottleneck"),
    *runs("killed", {"dead_worker"}, ("plain", WORKERS_2, 4), ("lightning", WORKERS_2, 4), says="signal 9", never=r"num_workers=[3-9]", code=1, tries=False),
    *runs("memory_error", {"failed"}, ("plain", WORKERS_2, 4), says="MemoryError", never=r"num_workers=[3-9]", code=1, tries=False),
    *runs("copied_pages", {"copy_on_write", "worker_memory", "memory_growth", "memory"}, ("plain", WORKERS_2, 7), says="memory|copie", tries=False),
    *runs("validation", TOO_FEW, ("plain", WORKERS_1, 4, 2), ("lightning", WORKERS_1, 4, 2), says="", tries=True),
    *(
        Injected("slow_rank", frozenset({"starved_workers", "slow_collate", "no_workers"}), "torchrun", (by, workers), says="[Rr]ank 1", tries=False, command=("ranks.py", by, workers))
        for by, workers in (("samples", "1"), ("samples", "2"), ("collate", "2"))
    ),
]
