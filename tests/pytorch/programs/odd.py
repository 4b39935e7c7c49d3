"""Unusual loaders. Each function below is a program of its own; what it prints must not change when it is recorded."""

import dataclasses
import functools
import os
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

import torch
import torch.utils.data as data


class Numbers(data.Dataset):
    def __init__(self, length=8):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return int(index)


def as_is(batch):
    return batch


def iterators():
    """Keys of a batch that can be gone through only once."""
    for batch in data.DataLoader(Numbers(), batch_sampler=[iter([0, 1]), (i for i in (2, 3)), map(int, "45")]):
        print(batch.tolist())


class Loud:
    def __iter__(self):
        raise RuntimeError("this key is not gone through")

    def __index__(self):
        raise RuntimeError("this key is no number")

    tolist = property(__iter__)


class Any(Numbers):
    def __getitem__(self, index):
        return 7


def keys():
    for batch in data.DataLoader(Any(), batch_sampler=[[Loud(), Loud()], [b"123", b"12345678"], "ab", [1 << 80]]):
        print(batch.tolist())
    for batch in data.DataLoader(Any(), batch_size=None, sampler=[Loud(), b"123", b"12345678", None, 3]):
        print(batch)


@dataclasses.dataclass(frozen=True)
class Frozen(Exception):
    number: int


class Broken(Numbers):
    def __getitem__(self, index):
        raise Frozen(int(index))


def frozen():
    for workers in (0, 1):
        try:
            list(data.DataLoader(Broken(), num_workers=workers))
        except Exception as error:
            print(type(error).__name__, getattr(error, "number", None))


class Key:
    def __str__(self):
        raise RuntimeError("this key has no name")


class Lazy(dict):
    def items(self):
        raise RuntimeError("everything is never asked for")


class Tuple(tuple):
    _fields = ()

    def __getitem__(self, index):
        raise RuntimeError("parts are never asked for")


def batches():
    zero = torch.zeros(1)
    for odd in (Lazy(a=zero), {Key(): zero}, Tuple((zero,)), {"\ud800": zero}):
        for batch in data.DataLoader(Numbers(4), batch_size=4, collate_fn=lambda _: odd):
            print(type(batch).__name__, len(batch))


def large():
    """A batch of a million entries costs nothing to look into."""
    many = dict.fromkeys(range(1_000_000))
    for batch in data.DataLoader(Numbers(4), batch_size=4, collate_fn=lambda _: many):
        print(len(batch))
    probe = sys.modules.get("loadscope_probe")
    if probe is not None:
        probe.PROBE.looked = 0
        fetch = probe.Fetch()
        fetch.where = "0,0,0"
        start = time.perf_counter()
        probe.look_into(many, fetch, 0)
        took = time.perf_counter() - start
        assert took < 0.02, took


class Sampler(data.Sampler):
    def __init__(self):
        pass

    def __iter__(self):
        return iter(range(4))

    def __len__(self):
        return 4

    @property
    def batch_size(self):
        raise RuntimeError("this is never asked for")


class Loader(data.DataLoader):
    @property
    def in_order(self):
        raise ValueError("this is never asked for")

    @in_order.setter
    def in_order(self, value):
        pass


def loader():
    """Fields of a loader that cannot be told, beside those that can."""
    try:
        odd = Loader(Numbers(4), batch_size=2, sampler=Sampler())
        print([batch.tolist() for batch in odd])
    except ValueError as error:
        print(error)


def names():
    """NumPy's numbers, a seed below zero, half a pair of surrogates."""
    import numpy

    dataset = Numbers(4)
    dataset.classes = ["cat", "do\ud800g"]
    generator = torch.Generator().manual_seed(-5)
    odd = data.DataLoader(dataset, batch_size=2, shuffle=True, generator=generator, num_workers=numpy.int64(1))
    print([batch.tolist() for batch in odd])
    sampler = data.distributed.DistributedSampler(dataset, numpy.int64(2), numpy.int64(1), seed=-3)
    print([batch.tolist() for batch in data.DataLoader(dataset, sampler=sampler, timeout=numpy.float64(0))])


class TookTooLong(Exception):
    pass


def signals():
    """A signal strikes while the probe is at work; what its handler raises reaches the program, and the next batch is there."""
    probe = sys.modules.get("loadscope_probe")

    def handler(number, frame):
        raise TookTooLong()

    class Handler:
        def __call__(self, *given):
            del self
            raise TookTooLong()

    for handle in (handler, Handler()):
        signal.signal(signal.SIGUSR1, handle)
        for place in ("ticks_of", "indices_of", "tell_collating", "leaves", "packed"):
            if probe is not None:
                original = getattr(probe, place)

                def struck(*args, place=place, original=original):
                    setattr(probe, place, original)
                    os.kill(os.getpid(), signal.SIGUSR1)
                    time.sleep(0.01)
                    return original(*args)

                struck.__code__ = struck.__code__.replace(co_filename=probe.now_file)
                setattr(probe, place, struck)
                probe.PROBE.looked = 0
                # Every batch counts as slow.
                probe.SLOW_BATCH = 0
            try:
                for batch in data.DataLoader(Numbers(4), batch_size=4):
                    if probe is None:
                        raise TookTooLong()
                print("it was not seen")
            except TookTooLong:
                print("too long")
    second_signal(probe, handler)
    signal.signal(signal.SIGUSR1, lambda number, frame: (_ for _ in ()).throw(TookTooLong()))
    running = iter(data.DataLoader(Numbers(4), batch_size=1))
    if probe is not None:
        now, probe.now = probe.now, lambda: os.kill(os.getpid(), signal.SIGUSR1)
    try:
        next(running)
        print(probe is not None)
    except TookTooLong:
        pass
    if probe is not None:
        probe.now = now
        assert not running._loadscope.is_inside
    print(len(list(running)) >= 3)


class Fails(Numbers):
    def __getitem__(self, index):
        raise KeyError(index)


def second_signal(probe, handler):
    """A signal strikes while the probe reports an error: no traceback has a frame of the probe."""
    signal.signal(signal.SIGUSR1, handler)
    if probe is not None:
        original = probe.text_of

        def struck(*args):
            probe.text_of = original
            os.kill(os.getpid(), signal.SIGUSR1)
            time.sleep(0.01)
            return original(*args)

        struck.__code__ = struck.__code__.replace(co_filename=probe.now_file)
        probe.text_of = struck
    try:
        next(iter(data.DataLoader(Fails(4))))
    except (KeyError, TookTooLong) as error:
        assert probe is None or type(error) is TookTooLong, error
        print("loadscope" in traceback.format_exc())


def daemon():
    """Everything is closed, as a daemon does, and the numbers go to files of the program's own."""
    many = data.DataLoader(Numbers(400), batch_size=1)
    running = iter(many)
    next(running)
    out = os.dup(1)
    os.set_inheritable(out, True)
    os.closerange(3, out)
    os.closerange(out + 1, 256)
    kept = [os.open("mine-%d" % number, os.O_RDWR | os.O_CREAT | os.O_APPEND) for number in range(20)]
    for _ in running:
        pass
    if os.fork() == 0:
        # What the child closes is its own.
        list(many)
        print([os.fstat(file).st_size for file in kept], flush=True)
        os._exit(0)
    os.wait()
    print([os.fstat(file).st_size for file in kept])
    probe = sys.modules.get("loadscope_probe")
    assert probe is None or probe.PROBE.outlet.lost > 300, probe.PROBE.outlet.lost


def anew():
    """Loaders made anew for each epoch."""
    for _ in range(300):
        list(data.DataLoader(Numbers(2)))
    print("done")


def many():
    """Loaders of which no two are alike."""
    for number in range(300):
        list(data.DataLoader(Numbers(2 + number), batch_size=300))
    print("done")


class Stream(data.IterableDataset):
    def __iter__(self):
        yield from range(3)
        time.sleep(0.3)


def ends():
    """A stream that needs a while to find out that it has ended, within a batch."""
    for workers in (0, 1):
        print([batch.tolist() for batch in data.DataLoader(Stream(), batch_size=2, num_workers=workers)])


def warned(data):
    """A collate_fn that warns of what called it."""
    warnings.warn("collated", stacklevel=2)
    return data


class Warns(data.IterableDataset):
    def __iter__(self):
        warnings.warn("iterated", stacklevel=2)
        yield 1


def warns():
    """Warnings name a line: that of the caller, or of its caller."""
    warnings.simplefilter("always")
    # It has a process id in it.
    warnings.filterwarnings("ignore", message=r".*fork\(\)")
    for workers in (0, 1):
        for dataset in (Numbers(2), Warns()):
            for level in (1, 2, 3):
                list(data.DataLoader(dataset, batch_size=None, collate_fn=functools.partial(deeply, level), num_workers=workers, pin_memory=True))


def deeply(level, data):
    warnings.warn("level %d" % level, stacklevel=level + 1)
    return warned(data)


def is_sent(what, outlet):
    """Waits until it stands in the files of the probe."""
    until = time.monotonic() + 60
    while not any(what in (Path(outlet) / name).read_bytes() for name in os.listdir(outlet)):
        if time.monotonic() > until:
            raise RuntimeError("%s is not told as long as the trainer waits" % what)
        time.sleep(0.01)


class Tells(Numbers):
    """The first sample takes until the batch behind it is recorded in the reorder buffer."""

    def __getitem__(self, index):
        if index == 0:
            is_sent(b'"held"', sys.argv[2])
        return int(index)


class Ends(data.IterableDataset):
    """The first worker goes on once the end of the second one is recorded."""

    def __iter__(self):
        if data.get_worker_info().id == 0:
            is_sent(b'"end"', sys.argv[2])
            yield 1


def held():
    """The second argument is the folder of the probe."""
    print(list(data.DataLoader(Tells(4), batch_size=None, num_workers=2)))
    print(list(data.DataLoader(Ends(), batch_size=None, num_workers=2)))


class Large(Numbers):
    def __init__(self, extra=None):
        super().__init__(4)
        self.images = bytes(3 << 20)
        self.paths = ["%d.png" % i for i in range(1000)]
        self.extra = extra


class Many(Numbers):
    def __init__(self):
        super().__init__(4)
        self.samples = [("%d.png" % i, i) for i in range(100_000)]


def sent():
    """Datasets that are pickled for each worker, one that cannot be pickled, and one that forked workers share."""
    for method in ("spawn", "forkserver"):
        dataset = data.Subset(Large(), range(4))
        print(list(data.DataLoader(dataset, batch_size=None, num_workers=2, multiprocessing_context=method)))
    try:
        list(data.DataLoader(Large(lambda: None), num_workers=1, multiprocessing_context="spawn"))
    except Exception:
        print(traceback.format_exc())
    print(list(data.DataLoader(Many(), batch_size=None, num_workers=1, multiprocessing_context="fork")))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
