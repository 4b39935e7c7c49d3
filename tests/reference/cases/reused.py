"""Worker processes that are used again: PyTorch's own `_worker_loop`, in processes that were started before.

To fork a process that has imported torch takes 20 ms and more, most of what a short program with workers costs. Everything that a worker
starts with is handed to it as an argument or seeded by `_worker_loop`, so a process that has come to the end of one loop can run the next.
"""

import fcntl
import multiprocessing
import multiprocessing.context
import os
import pickle
import queue
import time
from multiprocessing.reduction import ForkingPickler

from . import sources

USES = 2000  # of a set of processes, before others take its place
PIPE_BYTES = 1 << 20


class Channel:
    """A queue without a thread: what is put in is in the pipe at once."""

    def __init__(self, context):
        self.reader, self.writer = context.Pipe(duplex=False)
        self.lock = context.Lock()
        # Larger than all that a loader has under way, so that no writer has to wait for a reader that is gone.
        fcntl.fcntl(self.writer.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def put(self, value):
        whole = ForkingPickler.dumps(value)
        with self.lock:
            self.writer.send_bytes(whole)

    def get(self, timeout=None):
        if not self.reader.poll(timeout):
            raise queue.Empty
        return pickle.loads(self.reader.recv_bytes())

    def drain(self):
        """Takes what no one wants any more; tensors give their memory back when they are read."""
        while self.reader.poll(0):
            pickle.loads(self.reader.recv_bytes())

    def shut(self):
        self.reader.close()
        self.writer.close()

    # Of PyTorch's, which ends its queues with the iterator.
    def close(self):
        pass

    def cancel_join_thread(self):
        pass


class Worker:
    """What PyTorch takes for a process: one loop in a process that goes on afterwards."""

    daemon = True

    def __init__(self, process, orders, target, args):
        self.process, self.orders, self.job = process, orders, (target, args)
        self.state = "new"

    @property
    def pid(self):
        return self.process.pid

    def start(self):
        self.orders.send_bytes(ForkingPickler.dumps(self.job))
        self.state = "at work"

    def join(self, timeout=None):
        if self.state == "at work" and self.orders.poll(timeout):
            try:
                self.orders.recv_bytes()
                self.state = "idle"
            except EOFError:
                self.state = "dead"

    def is_alive(self):
        self.join(0)
        return self.state == "at work" and self.process.is_alive()

    def terminate(self):
        self.process.terminate()
        self.state = "dead"


class Processes:
    """Processes and all queues that a loader needs, made before they were forked."""

    def __init__(self, context):
        self.results, self.done = Channel(context), context.Event()
        self.orders, self.processes, self.indices = [], [], []
        self.workers, self.uses = [], 0
        self.context = context

    def add(self):
        """One process more."""
        ours, theirs = self.context.Pipe()
        indices = Channel(self.context)
        process = self.context.Process(target=serve, args=(theirs, ours, indices, self.results, self.done), daemon=True)
        process.start()
        theirs.close()
        self.orders.append(ours)
        self.indices.append(indices)
        self.processes.append(process)

    def index_queue(self):
        if len(self.workers) == len(self.processes):
            self.add()
        return self.indices[len(self.workers)]

    def worker(self, target, args):
        at = len(self.workers)
        # The queues and the event are those that it has.
        args = list(args)
        args[2:5] = None, None, None
        self.workers.append(Worker(self.processes[at], self.orders[at], target, args))
        return self.workers[-1]

    def is_free(self):
        return all(worker.state in ("new", "idle") for worker in self.workers)

    def is_lost(self):
        return self.uses > USES or any(worker.state == "dead" for worker in self.workers)

    def take(self):
        self.workers = []
        self.uses += 1
        for channel in (self.results, *self.indices):
            channel.drain()
        self.done.clear()
        return self

    def end(self):
        for process, orders in zip(self.processes, self.orders):
            process.kill()
            process.join()
            orders.close()
        for channel in (self.results, *self.indices):
            channel.shut()


def serve(orders, ours, indices, results, done):
    """Runs one loop after another until the pipe is closed."""
    ours.close()
    while True:
        try:
            target, args = pickle.loads(orders.recv_bytes())
        except EOFError:
            os._exit(0)
        sources.OFFSET = 0
        # In the order of `_worker_loop`'s parameters.
        args[2:5] = indices, results, done
        try:
            target(*args)
        except BaseException:
            # As a process that has one of these for its end.
            os._exit(1)
        orders.send_bytes(b"done")


class Reused(multiprocessing.context.ForkContext):
    """`multiprocessing_context` of loaders whose workers are such loops."""

    def __init__(self):
        super().__init__()
        self.sets, self.current = [], None
        self.plain = multiprocessing.get_context("fork")

    def Queue(self, *_):
        """The first that a loader asks for is for its results, the others are for indices."""
        if self.current is None:
            self.current = self.free()
            return self.current.results
        return self.current.index_queue()

    def free(self):
        for processes in [one for one in self.sets if one.is_lost()]:
            self.sets.remove(processes)
            processes.end()
        for processes in self.sets:
            if processes.is_free():
                return processes.take()
        self.sets.append(Processes(self.plain))
        return self.sets[-1].take()

    def Event(self):
        return self.current.done

    def Process(self, target, args):
        worker = self.current.worker(target, args)
        # `num_workers` is the last but two.
        if len(self.current.workers) == args[-3]:
            self.current = None
        return worker

    def settle(self, seconds=10):
        """Waits until the workers of loaders that are gone are idle."""
        self.current = None
        end = time.monotonic() + seconds
        for processes in self.sets:
            for worker in processes.workers:
                worker.join(max(0, end - time.monotonic()))
            if not processes.is_free():
                for process in processes.processes:
                    process.kill()
                for worker in processes.workers:
                    worker.state = "dead"


CONTEXT = Reused()
