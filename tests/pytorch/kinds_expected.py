"""What is true of each program in `kinds/`, and so what a recording of it must say: data, no code. `kinds.py` reads it.

`verdict`: ids of findings that may stand in the verdict; `also`: further ones that may be warnings beside it. Whatever else is a warning is a
false alarm. `share`: between which parts of the time the trainer waits. `says`, `never`: what the report must, and must not, say (regular
expressions). Where a loader was made, its options and how many batches each pass over it had, the programs say themselves.
"""

import dataclasses

# What a loop without trouble may hear on a busy host: that its workers took a moment to start and to end.
CALM = frozenset({"fine", "slow_first_batch", "short_run", "waiting"})
# The same over several epochs whose workers start anew.
RESTARTS = CALM | {"epoch_refill"}
# Rows that are in memory anyway: that no workers would be faster may well be true.
IN_MEMORY = RESTARTS | {"slower_than_none"}
STARVED = frozenset({"starved_workers"})
BESIDE_STARVED = frozenset({"sawtooth", "slow_first_batch", "epoch_refill"})


@dataclasses.dataclass(frozen=True)
class Loader:
    """What is true of a loader."""

    verdict: frozenset = CALM
    also: frozenset = frozenset()
    share: tuple = (0.0, 1.0)
    says: tuple = ()
    never: tuple = ()
    # The line that takes the workers' time. The finding `slow_line` is right with this line only.
    line: str = ""


@dataclasses.dataclass(frozen=True)
class Kind:
    """A program: `shows` says which mistake it would show. `command` stands for `python NAME.py`."""

    name: str
    shows: str
    loaders: dict
    command: tuple = ()
    source: str = ""
    needs: tuple = ()
    code: int = 0
    # Errors and warnings have times and process ids in them, or come from several processes at once.
    same_errors: bool = True
    # What stderr must say where a recording is impossible. With everything recorded it need not be said.
    or_says: tuple = ()
    # The same batches, but how they are split over epochs is not asked.
    one_total: bool = False
    # False where the class of the loader changes what it is given.
    shows_python: bool = True


def of(verdict, also=(), **more):
    return Loader(frozenset(verdict), frozenset(also), **more)


CALM_LOADER = Loader(share=(0.0, 0.35))
RESTARTING = Loader(RESTARTS, share=(0.0, 0.4))
ROWS = Loader(IN_MEMORY, IN_MEMORY, share=(0.0, 0.45))
# The recorder names what it cannot record, with the true reason.
UNHEARD = (r"PYTHONPATH", r"without .*probe|not recorded|cannot be recorded|nothing .*recorded")
WRAPPED = "kinds/wrapped/training/train.py"


def wrapped(name, shows, reasons):
    return Kind(name, shows, {"train": ROWS}, ("sh", "kinds/wrapped/%s.sh" % name), WRAPPED, or_says=reasons)


KINDS = [
    Kind("plain", "the simplest loop", {"train": CALM_LOADER}),
    Kind("epochs", "workers that start again in each epoch", {"train": of({"epoch_refill", "slow_first_batch", "slower_than_none"}, {"epoch_refill", "slow_first_batch", "slower_than_none"})}),
    Kind(
        "validation_by_len",
        "an epoch that ends without StopIteration",
        {
            "train": of(STARVED, BESIDE_STARVED, share=(0.75, 1.0), line="validation_by_len.py:18", never=("prefetch window of",)),
            "val": of(IN_MEMORY | STARVED, BESIDE_STARVED | IN_MEMORY, never=("prefetch window of", "step (takes|of) [0-9.]+ s")),
        },
    ),
    Kind(
        "lightning_fit",
        "Lightning's validation, which never receives StopIteration",
        {
            "train": of(STARVED, BESIDE_STARVED, share=(0.75, 1.0), line="lightning_fit.py:25", never=("prefetch window of",)),
            "val": of(RESTARTS | STARVED | {"waiting"}, BESIDE_STARVED | {"short_run"}, line="lightning_fit.py:25", never=("prefetch window of",)),
        },
        needs=("lightning",),
        same_errors=False,
    ),
    Kind(
        "hf_trainer",
        "many loaders of one line in a library",
        {"train": of({"fine", "no_workers", "slow_first_batch", "waiting"}, {"no_workers"}), "eval": of({"fine", "no_workers", "slow_first_batch", "waiting"}, {"no_workers"})},
        needs=("transformers", "accelerate"),
        same_errors=False,
    ),
    Kind("with_accelerate", "a loader that a library makes from another", {"train": ROWS}, needs=("accelerate",), same_errors=False),
    Kind(
        "ranks_slow",
        "a rank that waits for another one's loader",
        {
            "train@0": Loader(CALM, says=(r"[Rr]ank 1",), never=("Leave the loader unchanged",)),
            "train@1": of(STARVED, BESIDE_STARVED, share=(0.7, 1.0), line="ranks_slow.py:21", says=(r"[Rr]ank 1",)),
        },
        command=("python", "-m", "torch.distributed.run", "--nproc_per_node", "2", "--standalone", "kinds/ranks_slow.py"),
        same_errors=False,
    ),
    Kind(
        "ranks_spawned",
        "ranks that the program starts",
        {rank: of({"fine", "no_workers", "slow_first_batch", "short_run", "waiting"}) for rank in ("train@0", "train@1")},
        same_errors=False,
    ),
    Kind("persistent", "workers that are kept", {"train": Loader(IN_MEMORY, IN_MEMORY, never=("Use persistent_workers=True",))}),
    Kind(
        "drop_last_batches",
        "drop_last inside a BatchSampler",
        {"train": Loader(IN_MEMORY | {"missing_indices"}, IN_MEMORY, never=("never come\n", "sampler leaves them out")), "check": Loader(CALM | {"missing_indices"}, never=("sampler leaves them out",))},
    ),
    Kind("drop_last_own", "drop_last inside a batch sampler of the program's own", {"train": Loader(IN_MEMORY, IN_MEMORY, never=("never come", "leaves them out"))}),
    Kind("bucketing", "a sampler that sorts by length", {"train": Loader(IN_MEMORY, IN_MEMORY, never=("shuffle=True", "shuffle quality", "never come"))}),
    Kind("batch_generator", "a batch sampler that is nothing but a generator", {"train": Loader(IN_MEMORY, IN_MEMORY, never=("never come",))}),
    Kind(
        "stateful",
        "an epoch that is left and resumed",
        {name: Loader(RESTARTS, never=("never come",)) for name in ("train", "resumed")},
        needs=("torchdata.stateful_dataloader",),
        same_errors=False,
    ),
    Kind("stream", "tasks that reach a worker whose stream has ended", {"train": Loader(RESTARTS, never=("discarded", "thrown away"))}),
    Kind("stream_repeated", "a stream that every worker yields", {"train": of({"repeated_stream"}, RESTARTS, says=("3 workers", r"get_worker_info\(\)"), never=(r"num_workers=[0-9]+ would",))}),
    Kind("stream_few_shards", "fewer shards than workers", {"train": of({"idle_workers"}, RESTARTS, says=("3 of 6 workers",), never=(r"(Use |change  )num_workers=([4-9]|[1-9][0-9])\b", r"num_workers=([4-9]|[1-9][0-9])\b.* would take"))}),
    Kind("web_dataset", "samples that are batches", {"train": Loader(IN_MEMORY, IN_MEMORY, never=("discarded",))}, needs=("webdataset",), same_errors=False),
    Kind("hf_datasets", "a dataset that is asked for a whole batch", {"train": ROWS}, needs=("datasets",), same_errors=False),
    wrapped("sets_pythonpath", "a wrapper that sets PYTHONPATH", UNHEARD),
    wrapped("empty_environment", "env -i", (r"environment|LOADSCOPE_PROBE|PYTHONPATH", UNHEARD[1])),
    wrapped("no_pythonpath", "env -u PYTHONPATH", UNHEARD),
    wrapped("isolated", "python -I", (r"-I|isolated|environment", UNHEARD[1])),
    Kind(
        "oom_killed",
        "a worker that is killed",
        {"train": of({"dead_worker"}, {"slow_first_batch", "starved_workers"}, says=("signal 9",), never=(r"→.*num_workers=[3-9]",))},
        code=1,
        same_errors=False,
    ),
    Kind("worker_raises", "a worker that raises", {"train": of({"failed"}, {"slow_first_batch"}, says=("scan-157.png", "157"))}, code=1, same_errors=False),
    Kind(
        "heavy_tail",
        "a few samples that take forty times as long",
        {"train": of({"heavy_tail", "head_of_line"}, {"heavy_tail", "head_of_line", "starved_workers", "window_too_small"}, says=("in_order=False",), line="heavy_tail.py:15")},
    ),
    Kind("one_slow_sample", "a single slow sample", {"train": of({"slow_sample"}, {"no_workers"}, share=(0.7, 1.0), line="one_slow_sample.py:18", says=("[Ss]ample 73", r"calls/073\.wav"), never=("similar cost",))}),
    Kind("collate_misfit", "a sample that cannot be collated", {"train": of({"failed"}, {"slow_first_batch"}, says=("sample 77", r"\[1, 16, 16\]", "convert"), never=("Catch the error",))}, code=1, same_errors=False),
    Kind("stop_iteration", "StopIteration in a sample", {"train": of({"ended_early"}, {"no_workers"}, says=("StopIteration", "sample 90"))}),
    Kind("shared_file", "a file that is open before the workers start", {"train": of({"shared_file"}, IN_MEMORY, says=("2 workers", "worker_init_fn"))}),
    Kind("stale_dataset", "persistent workers and a changed dataset", {"train": of({"stale_dataset"}, IN_MEMORY, says=("epoch",))}),
    Kind(
        "slow_first_sample",
        "a slow sample in batch 0",
        {"train": of({"slow_first_batch", "head_of_line", "heavy_tail", "waiting", "slow_sample"}, {"head_of_line"}, line="slow_first_sample.py:15", says=(r"sample 3\b",), never=("worker_init_fn", "start(ing|s) .*worker"))},
    ),
    Kind("slow_collate", "a collate_fn that does the work", {"train": of({"slow_collate"}, {"starved_workers", "sawtooth", "epoch_refill", "slow_first_batch"}, says=("collate_fn",))}),
    Kind(
        "large_tensors",
        "batches of 128 MB through shared memory",
        {
            "train": Loader(
                frozenset({"large_batches", "slow_collate", "slower_than_none", "starved_workers", "transport", "shared_memory"}),
                frozenset({"slower_than_none", "starved_workers", "slow_first_batch", "large_batches", "slow_collate", "transport", "shared_memory"}),
                says=(r"\b\d+(\.\d+)? ?(MB|MiB|GB|GiB)|shared memory|bytes",),
                never=("Let collate_fn only put together", "pad_sequence"),
            )
        },
    ),
    Kind("tiny_rows", "rows that cost more to hand over than to make", {"train": of({"slower_than_none"}, {"slow_first_batch"}, says=("num_workers=0|larger batches|batch_size",))}),
    Kind("missing_set_epoch", "a sampler without set_epoch", {"train": of({"same_permutation"}, IN_MEMORY, says=("set_epoch",))}),
    Kind("equal_seeds", "a generator that is seeded again in each epoch", {"train": of({"same_permutation", "colliding_seeds"}, IN_MEMORY | {"same_permutation", "colliding_seeds"}, says=("seed",))}),
    Kind("equal_numpy_seeds", "workers whose NumPy has one seed", {"train": of(IN_MEMORY | {"colliding_seeds"}, IN_MEMORY | {"colliding_seeds"}, says=("draw the same (random )?numbers",))}),
    Kind(
        "children",
        "children of the program that end with code 0",
        {"train": Loader(IN_MEMORY, IN_MEMORY, never=("killed", "died")), "also": of({"fine", "short_run", "no_workers", "slow_first_batch", "waiting"}, {"no_workers", "slow_first_batch"}, never=("killed", "died"))},
        same_errors=False,
    ),
    Kind("zipped", "two loaders of one line at the same time", {"labelled": ROWS, "unlabelled": ROWS}),
    Kind("loader_per_evaluation", "a loader for each of 300 evaluations", {"train": ROWS, "eval": of(CALM | {"no_workers", "waiting"}, {"no_workers"})}),
    Kind("logging_in_the_loop", "a step that is slow by itself", {"train": ROWS}),
    Kind(
        "accumulated",
        "long steps that recur",
        {"train": of(STARVED | CALM, BESIDE_STARVED | {"window_too_small"}, share=(0.2, 0.6), line="accumulated.py:15")},
    ),
    Kind(
        "evaluating",
        "an evaluation without a loader, and checkpoints, inside the epoch",
        {"train": of(STARVED, BESIDE_STARVED, share=(0.4, 0.9), line="evaluating.py:24", says=(r"Left out +checkpoints [0-9.]+ s, evaluation [23]\.[0-9]+ s",))},
    ),
    Kind(
        "iterator_per_step",
        "a new iterator for each batch",
        {"train": of({"iterator_per_batch"}, share=(0.1, 1.0), says=(r"12 of 12 iterators", r"it = iter\(loader\)"), never=(r"1[0-9][0-9] %",))},
    ),
    Kind(
        "step_raises",
        "a training step that raises",
        {"train": of({"step_failed"}, STARVED | BESIDE_STARVED, says=("batch 16", "LossIsNaN: the loss of step 17 is not finite"), never=("__getitem__",))},
        code=1,
        same_errors=False,
    ),
    Kind(
        "stuck_lock",
        "a worker that waits for a lock for ever",
        {
            "train": of(
                {"silent_worker"},
                says=(r"Worker 1 has been stuck on batch 5 \(samples 20 to 23\)", "not a slow batch", "loadscope dump"),
                never=("in_order=False", "similar cost", "num_workers=0"),
            )
        },
        code=1,
        same_errors=False,
    ),
    Kind(
        "ranks_uneven",
        "ranks with different numbers of batches",
        {
            "train@0": of({"step_failed"}, {"uneven_ranks", *CALM}, says=("rank 0 11, rank 1 10", "batch 10"), never=("is the straggler",)),
            "train@1": of({"step_failed"}, {"uneven_ranks", *CALM}, says=("rank 0 11, rank 1 10", "rank 0.*batch 10"), never=("is the straggler",)),
        },
        command=("python", "-m", "torch.distributed.run", "--nproc_per_node", "2", "--standalone", "kinds/ranks_uneven.py"),
        code=1,
        same_errors=False,
    ),
    Kind("one_batch", "a look at one batch", {"train": of({"short_run", "slow_first_batch", "fine"}, never=("never come", "stopped early|aborted"))}),
    Kind("nodes", "a pipeline that is no DataLoader", {}, needs=("torchdata.nodes",), same_errors=False, or_says=(r"torchdata\.nodes",)),
    Kind("by_steps", "training by steps", {"train": ROWS, "val": of({"fine", "short_run", "no_workers", "slow_first_batch", "missing_indices"})}),
    Kind("repeating", "a loader that repeats its batch sampler for ever", {"train": Loader(IN_MEMORY, IN_MEMORY, never=("prefetch window of", "duplicates", "come more than once"))}, one_total=True, shows_python=False),
    Kind("in_a_thread", "batches that a thread takes ahead", {"train": ROWS}),
    Kind(
        "spawned_workers",
        "workers that import PyTorch first",
        {"train": of({"slow_first_batch"}, {"slower_than_none"}, share=(0.7, 1.0), never=(r"→.*num_workers=[2-9]",))},
    ),
    Kind("decoding", "decoding that fills both cores", {"train": of({"starved_workers", "oversubscribed"}, {"sawtooth", "slow_first_batch"}, share=(0.7, 1.0), line="decoding.py:25", says=(r"Image\.convert",))}),
]
