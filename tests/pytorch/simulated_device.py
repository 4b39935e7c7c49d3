"""A simulated accelerator in place of torch.cuda: streams with ordered queues of work, and events, on the clock of the host.

A launch returns at once. `idle_within` returns the time in which a stream had no work. Calls that wait for the device are counted if the
probe makes them.
"""

import sys
import time

import torch

clock = time.perf_counter
# Seconds of work in the queue of a stream at most. A launch waits for room, as on a real device.
DEPTH = 0.5


class Stream:
    def __init__(self):
        self.free = 0.0
        # Work as pairs of start and end, in order of time.
        self.busy = []


MAIN = Stream()
waits_of_probe = 0


def launch(seconds, stream=MAIN):
    """Adds work to the queue of a stream."""
    while stream.free - clock() > DEPTH:
        time.sleep(0.001)
    start = max(clock(), stream.free)
    stream.free = start + seconds
    stream.busy.append((start, stream.free))


def wait_for_stream(stream, other):
    """Work that is launched later in `stream` starts after the work in `other`."""
    stream.free = max(stream.free, other.free)


def wait_until(end):
    global waits_of_probe
    waits_of_probe += any(name.startswith("<loadscope") for name in frames())
    while clock() < end:
        time.sleep(max(0, end - clock()))


def frames():
    frame = sys._getframe(1)
    while frame is not None:
        yield frame.f_code.co_filename
        frame = frame.f_back


def synchronize(*_):
    wait_until(MAIN.free)


def idle_within(start, end, stream=MAIN):
    """Returns the seconds between two times in which a stream had no work."""
    busy = (min(end, b) - max(start, a) for a, b in stream.busy if a < end and b > start)
    return end - start - sum(busy)


class Event:
    def __init__(self, enable_timing=False, **_):
        self.has_time = enable_timing
        self.at = None

    def record(self, stream=None):
        self.at = max(clock(), (stream or MAIN).free)

    def query(self):
        return self.at is None or clock() >= self.at

    def synchronize(self):
        wait_until(self.at)

    def elapsed_time(self, end):
        if not (self.has_time and end.has_time and self.query() and end.query()):
            raise RuntimeError("both events must be completed, and have enable_timing")
        return (end.at - self.at) * 1000


def install():
    """Replaces the functions of torch.cuda."""
    torch.cuda.is_initialized = lambda: True
    torch.cuda.current_device = lambda: 0
    torch.cuda.is_current_stream_capturing = lambda: False
    torch.cuda.Event = Event
    torch.cuda.synchronize = synchronize
