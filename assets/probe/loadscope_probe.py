"""Loadscope's probe: tells what happens inside the DataLoaders of this program.

`loadscope record` and `loadscope watch` bring it in by themselves. By hand: `import loadscope_probe` at the top of the
program, before the first loader is iterated; it then writes into a folder `loadscope-…` beside the program, and
`loadscope open FOLDER` shows it.

It needs nothing but the standard library. Unless it is asked to set arguments of loaders, or to end the program
(`LOADSCOPE_PROBE_SET`, `LOADSCOPE_PROBE_STOP`), it changes no result, no random state, no class and no error; what it cannot
tell it counts. Every process writes a stream of its own, in the form that WIRE.md describes. Hooks look like this: the
original is called between two pieces of code that never raise, and an error that passes through leaves without the
probe's frames in its traceback.
"""

import array
import atexit
import binascii
import collections
import functools
import io
import itertools
import json
import os
import signal
import struct
import sys
import threading
import time
import types
import weakref
from _thread import allocate_lock, start_new_thread
from math import gcd

VERSION = 1
# Bytes that wait at most for a reader that does not read.
MOST_WAITING = 4 << 20
# Lines that have not been on their way, at most.
MOST_LINES = 50_000
# Seconds that the end of a process waits at most for a reader that is slow.
LAST_WAIT = 0.1
# Seconds that the first line waits at most for a listener that others press upon.
FIRST_WAIT = 1.0
# Nanoseconds between two times at which lines are handed over, where they come fast: every time costs more than the line, and a
# reader that has to look. So many times may follow each other at once, where they come slowly: then nothing waits.
HAND_OVER_EVERY = 5_000_000
HAND_OVERS_AT_ONCE = 16
# Seconds after which lines that come fast are handed over even if nothing follows them.
WAIT_FOR_MORE = 0.05
# Such times without a line after which no one waits for more.
IDLE_TURNS = 20
# From so many loaders of a process on, all that one line makes are one: a loader made for every sample must not flood the recording.
MOST_LOADERS = 256
# More processes are not started for one iterator.
MOST_FORKS = 4096
# Nanoseconds a sample took at least, for asking the system for its processor time to be no burden.
CPU_WORTHWHILE = 50_000
# Nanoseconds a batch took at least, for telling at once that it is being collated: a fast one says so when it is done.
SLOW_BATCH = 20_000_000
# Nanoseconds a batch or a step took at least, for asking the system how long its thread waited for a core to be no burden.
CORE_WAIT_WORTHWHILE = 1_000_000
# Nanoseconds that other work in a step takes at least, to be worth a line.
ASIDE_WORTHWHILE = 1_000_000
# Names of the steps of samples that a process measures separately.
MOST_STAGES = 32
# Nanoseconds between two looks inside the batches of one process.
LOOK_EVERY = 1_000_000_000
LARGEST_PREVIEW = 64
# Values of a tensor that enter the digest of a batch, at even distances.
DIGESTED = 1024
# Of pictures with boxes or masks.
LARGEST_ANNOTATED = 96
# Rows and columns that a picture has at least.
SMALLEST_PICTURE = 4
# Pictures of a batch at most, whatever was asked for: a line must stay small against what may wait.
MOST_PREVIEWS = 64
# Fields of a batch, and entries of each of its parts, that are looked at.
MOST_FIELDS = 32
# The same where contents were asked for: targets of detection have a few fields for each sample.
MOST_FIELDS_KEPT = 192
# Numbers and texts of a field, characters of a text, masks of a sample.
MOST_NUMBERS = 1024
MOST_TEXTS = 256
MOST_CHARACTERS = 200
MOST_MASKS = 16
# A waveform has so many frames at least; its curve has so many columns, its spectrogram half as many rows as a window has frames.
FEWEST_FRAMES = 1024
COLUMNS = 200
WINDOW = 128
# What is this much weaker than the strongest frequency is black, decibels.
RANGE_DB = 80.0
# What tells a waveform from other rows of numbers where there is no axis of channels.
WAVEFORMS = ("wav", "audio", "sound", "speech", "signal", "input_values", "samples")
MASKS = ('["masks"]', '["mask"]')
# Loaders whose length is remembered.
MOST_LENGTHS = 4096
# Frames that are gone through for the line that makes a loader.
MOST_FRAMES = 200
# Parts of the names of functions that evaluate a model.
EVALUATIONS = ("eval", "valid", "test", "infer", "predict", "sample", "generat", "estimate")
# Modules of PyTorch with events that measure time, and waits that the device has not reached, at most.
ACCELERATORS = ("cuda", "xpu")
MOST_PENDING = 256
# Errors that are remembered, and frames where a step ended.
MOST_ERRORS = 64
MOST_LEFT_FRAMES = 32
# Nanoseconds a batch took at least, for the file of its slowest sample to be sent, and files that are reported at most.
SLOW_FILE = 2_000_000
MOST_NAMES = 1000
# Datasets inside of others that are gone through, and attributes of one that are looked at.
MOST_INSIDE = 8
MOST_ATTRIBUTES = 256
# Objects that the estimate for the attributes of a dataset looks at: about 1 ms. Entries of an inner and of an outer list among them.
MOST_OBJECTS = 2000
FEW_ENTRIES, MOST_ENTRIES = 8, 64
# Containers inside of each other that it goes into.
MOST_LEVELS = 5
# An object with more references than this is in many places: an entry that is such an object adds only a reference.
FEW_REFERENCES = 20
# Bytes that are pickled for a worker at least, for the attribute that most of them are of to be named.
LARGE_PICKLE = 1 << 20
# Python objects of an attribute at least, for their number to be reported.
MANY_OBJECTS = 100_000
# Attributes in which datasets mostly keep the files of their samples.
LISTS_OF_FILES = (
    "samples imgs images files paths filenames file_names image_paths img_paths image_files img_files file_paths filepaths file_list items data".split()
)
# Parts of a sample that are compared, where samples do not fit together.
MOST_PARTS = 64
# What errors say where samples do not fit together.
DOES_NOT_FIT = ("equal size", "same shape", "must match", "inhomogeneous", "equal length", "same size", "not resizable")
# Files of which it is remembered whose they are.
MOST_FILES = 4096
# Packages that make loaders for their callers, or make one anew. The user does not look for a loader there.
FRAMEWORKS = frozenset(
    "torch torchdata lightning pytorch_lightning lightning_fabric lightning_utilities transformers accelerate".split()
)

# Setting of Yama, and the call of `prctl` that makes an exception from it.
PTRACE_SCOPE = "/proc/sys/kernel/yama/ptrace_scope"
PR_SET_PTRACER = 0x59616D61

now = time.monotonic_ns
thread_time = time.thread_time_ns
process_time = time.process_time_ns
b2a_base64 = binascii.b2a_base64
# By how many numbers there are, what packs them; for more of them an array is faster.
FEW = [struct.Struct("<%dq" % count).pack for count in range(33)]

# Ways to write down several indices that give them up as often as they are asked.
PLAIN = (list, tuple, range)


# Loadscope's variables of the environment, by name. The importer can add those from the start of the process.
ASKED = dict(globals().get("STARTED_WITH") or ())

# The place of a warning is reported without frames of this name: Python leaves out those of its importing.
UNSEEN = "<loadscope, passed over like importlib._bootstrap>"


def unseen(function):
    """A function of ours that calls the program's: it must not be taken for the place that a warning is about."""
    function.__code__ = function.__code__.replace(co_filename=UNSEEN)
    return function


def spliced(tb):
    """A traceback without the frames of this file."""
    ours = OURS
    while tb is not None and tb.tb_frame.f_code.co_filename in ours:
        tb = tb.tb_next
    head = tb
    while tb is not None:
        following = tb.tb_next
        while following is not None and following.tb_frame.f_code.co_filename in ours:
            following = following.tb_next
        if following is not tb.tb_next:
            tb.tb_next = following
        tb = following
    return head


now_file = spliced.__code__.co_filename
OURS = (now_file, UNSEEN)


def clean(error):
    """Takes our frames out of what is about to be raised again. Before Python 3.11 the innermost of them comes back with
    the raising; `sys.excepthook` and `ExceptionWrapper` take it out there."""
    # Not by assignment: an error that is a frozen dataclass refuses that with another error.
    BaseException.with_traceback(error, spliced(error.__traceback__))


def is_of_signal(error):
    """True if a signal handler of the program raised this while our code ran, or an object of the user's that we asked. An
    object that fails when it is asked looks alike, but only a handler is given the frame that it interrupts."""
    tb = error.__traceback__
    while tb is not None:
        frame = tb.tb_frame
        code = frame.f_code
        if code.co_filename not in OURS and frame.f_back is not None:
            if code in codes_of_handlers() or any(value is frame.f_back for value in arguments_of(frame)):
                return True
        tb = tb.tb_next
    return False


def arguments_of(frame):
    code = frame.f_code
    count = code.co_argcount + bool(code.co_flags & 4)
    given = frame.f_locals
    for name in code.co_varnames[:count]:
        value = given.get(name)
        if type(value) is tuple:
            yield from value
        else:
            yield value


def codes_of_handlers():
    """Functions that take the frame away from its arguments are known by their code."""
    codes = []
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        while isinstance(handler, functools.partial):
            handler = handler.func
        if callable(handler) and not isinstance(handler, int):
            function = getattr(handler, "__func__", handler)
            code = getattr(function, "__code__", None) or getattr(type(handler).__call__, "__code__", None)
            if code is not None:
                codes.append(code)
    return codes


def quiet(function, otherwise=None):
    """The result of asking an object of the user's; anything may go wrong there."""
    try:
        return function()
    except Exception as error:
        if is_of_signal(error):
            clean(error)
            raise
        return otherwise


def guarded(method):
    """A piece of code between the program and itself: errors that it makes, or meets in objects of the user's, are counted and
    never seen. What a signal handler raises is neither, and goes on."""

    def guard(*args):
        try:
            return method(*args)
        except Exception as error:
            if is_not_ours(error):
                raise
            return None

    return guard


def is_not_ours(error):
    """What `guarded` does with an error: for pieces of code that every batch comes through, which cannot afford a call more."""
    if is_of_signal(error):
        clean(error)
        return True
    PROBE.trouble(error)
    return False


def packed(values):
    """Whole numbers as base64 of little-endian 64-bit integers."""
    if len(values) < len(FEW):
        return b2a_base64(FEW[len(values)](*values), newline=False).decode()
    numbers = array.array("q", values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return b2a_base64(numbers, newline=False).decode()


def indices_of(state):
    """Dataset indices of the task that was drawn, packed; empty if they are no whole numbers. What can be gone through only once is
    left alone. A stream is only told to go on."""
    index, state.index = state.index, None
    if state.is_iterable:
        return ""
    try:
        if type(index) not in PLAIN and hasattr(index, "tolist"):
            index = index.tolist()
        if isinstance(index, int):
            return packed([index])
        return packed(index) if type(index) in PLAIN else ""
    except Exception as error:
        # Anything may go wrong in an object of the user's.
        if is_of_signal(error):
            clean(error)
            raise
        return ""


def as_json(value):
    """Whatever names there are, it is text that others can read: half a pair of surrogates is not."""
    text = json.dumps(value, ensure_ascii=False, default=lambda other: type(other).__name__)
    return text.encode("utf-8", "replace").decode("utf-8")


def text_of(value, most=4000):
    """A text as JSON."""
    return as_json(str(value)[:most])


class Outlet:
    """Where the lines of this process go: a socket, or a file. Never waits; what there is no room for is counted."""

    def __init__(self):
        # Held by the thread that hands over. No one waits for it: an iterator may be collected, or a signal handled, in the middle of that.
        self.lock = allocate_lock()
        # What was handed over, and what of it is on its way.
        self.lines = []
        self.waiting = bytearray()
        # When lines may be handed over again.
        self.due = 0
        self.gap = HAND_OVER_EVERY
        # The thread that hands over what waits if nothing follows it.
        self.keeper = None
        self.keeping = allocate_lock()
        self.opened = False
        self.socket = None
        self.file = None
        # What stands behind the descriptor: the program may close it, and its number is then given to a file of the program's.
        self.identity = None
        self.lost = 0

    def put(self, line, push=True):
        """Takes a line and, unless more is to come at once, hands over what waits."""
        self.lines.append(line)
        if push:
            self.press(now())

    def press(self, at):
        """Hands over what waits, now or soon."""
        if at >= self.due:
            self.due = max(self.due, at - HAND_OVERS_AT_ONCE * self.gap) + self.gap
            self.hand_over()
        elif self.keeper is None:
            self.keep()

    def hand_over(self):
        if not self.lock.acquire(False):
            # Another thread is about it, and may have looked before this came. A disk may hold it up.
            if len(self.lines) > MOST_LINES:
                self.lost += len(self.lines)
                self.lines.clear()
            if self.keeper is None:
                self.keep()
            return
        try:
            self.push()
        finally:
            self.lock.release()

    def keep(self):
        """From now on someone looks after what waits. Most programs are slow, and never need that."""
        if self.gap and self.keeping.acquire(False):
            try:
                if self.keeper is None:
                    self.keeper = Keeper(self)
                    start_new_thread(self.keeper.run, ())
            except RuntimeError:
                # No thread can be had: then every line is handed over at once.
                self.keeper = None
                self.at_once()
            finally:
                self.keeping.release()

    def at_once(self):
        """From now on nothing waits for more."""
        self.due = self.gap = 0
        keeper, self.keeper = self.keeper, None
        if keeper is not None:
            keeper.leave()

    def push(self):
        if not self.opened:
            self.open()
            self.opened = True
            quiet(PROBE.end_with_child)
        if not self.is_ours():
            self.forget()
        self.take_in()
        self.send()

    def take_in(self):
        """Puts lines on their way, as far as there is room for them."""
        if self.lost and self.has_room():
            told, self.lost = self.lost, 0
            self.waiting += b'["lost",%d,%d]\n' % (now(), told)
        # Others may add to them.
        count = len(self.lines)
        lines = self.lines[:count]
        text = "".join(lines).encode("utf-8", "replace")
        del self.lines[:count]
        if len(self.waiting) + len(text) <= MOST_WAITING:
            self.waiting += text
            return
        for line in lines:
            line = line.encode("utf-8", "replace")
            if len(self.waiting) + len(line) > MOST_WAITING:
                self.send()
            if len(self.waiting) + len(line) > MOST_WAITING:
                self.lost += line.count(b"\n")
            else:
                self.waiting += line

    def send(self):
        try:
            if self.socket is not None:
                sent = self.socket.send(self.waiting, NO_SIGNAL)
            elif self.file is not None:
                sent = os.write(self.file, self.waiting)
            else:
                self.drop()
                return
            del self.waiting[:sent]
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            # A reader that is gone stays gone; a disk may get room again.
            if self.socket is not None:
                self.close()
                self.drop()

    def has_room(self):
        """True if a line may say how many were lost."""
        return self.descriptor() is not None and len(self.waiting) < MOST_WAITING // 2

    def flush(self):
        """At the end of the process: waits a little for a reader that is slow. What it does not take by then is lost."""
        until = time.monotonic() + LAST_WAIT
        self.at_once()
        if not self.lock.acquire(timeout=LAST_WAIT):
            return
        try:
            while (self.lines or self.waiting) and self.opened and self.descriptor() is not None:
                self.push()
                left = until - time.monotonic()
                if left <= 0.0:
                    self.drop()
                elif self.waiting:
                    time.sleep(min(left, 0.002))
        finally:
            self.lock.release()

    def is_unheard(self):
        """True if there was a listener and it has gone, which is otherwise only noticed with the next lines. It never says a word."""
        if self.socket is None or not self.is_ours():
            return self.file is None
        try:
            return not self.socket.recv(1)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            return True

    def drop(self):
        """Counts what waits, and lets go of it."""
        self.lost += self.waiting.count(b"\n")
        self.waiting.clear()

    def rest(self):
        """Before a fork: the child would have half of a thread."""
        keeper, self.keeper = self.keeper, None
        if keeper is not None:
            keeper.leave()
            self.hand_over()

    def descriptor(self):
        return self.socket.fileno() if self.socket is not None else self.file

    def identified(self):
        about = os.fstat(self.descriptor())
        return about.st_dev, about.st_ino

    def is_ours(self):
        """False if the descriptor was closed under us: nothing may be written to it any more, nor may it be closed."""
        descriptor = self.descriptor()
        if descriptor is None:
            return True
        try:
            about = os.fstat(descriptor)
        except OSError:
            return False
        return self.identity == (about.st_dev, about.st_ino)

    def forget(self):
        if self.socket is not None:
            quiet(self.socket.detach)
        self.socket = self.file = None
        self.drop()

    def open(self):
        to = ASKED.get("LOADSCOPE_PROBE_TO", "")
        kind, _, place = to.partition(":")
        header = as_json(introduction()) + "\n"
        try:
            if kind in ("unix", "tcp"):
                try:
                    self.connect(kind, place)
                except (BlockingIOError, TimeoutError, socket_timeout):
                    self.create(unheard())
            elif kind == "dir":
                self.create(place)
            else:
                self.create(by_hand())
            self.identity = self.identified()
        except BaseException as error:
            self.identity = quiet(self.identified)
            self.close()
            if not isinstance(error, Exception) or is_of_signal(error):
                # It is tried again with the next line.
                raise
            # There is no listener: the program goes on without being heard.
        self.waiting[:0] = header.encode("utf-8", "replace")

    def connect(self, kind, place):
        import socket

        if kind == "unix":
            made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            address = place
        else:
            host, _, port = place.rpartition(":")
            if host != "127.0.0.1":
                raise OSError("only sockets of this host are used")
            made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            address = (host, int(port))
        try:
            until = time.monotonic() + FIRST_WAIT
            made.settimeout(FIRST_WAIT)
            while True:
                try:
                    made.connect(address)
                    break
                except BlockingIOError:
                    # So many stand at the door that the system does not even let us queue.
                    if time.monotonic() >= until:
                        raise
                    time.sleep(0.01)
            made.setblocking(False)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        except OSError:
            made.close()
            raise
        self.socket = made
        if kind == "unix":
            quiet(lambda: allow_reading(made))

    def create(self, folder):
        os.makedirs(folder, exist_ok=True)
        name = "%d-%d.stream.jsonl" % (os.getpid(), now())
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
        self.file = os.open(os.path.join(folder, name), flags, 0o644)

    def close(self):
        if not self.is_ours():
            self.forget()
        if self.socket is not None:
            quiet(self.socket.close)
        if self.file is not None:
            quiet(lambda: os.close(self.file))
        self.socket = self.file = None


def allow_reading(connected):
    """Allows the recorder to read the memory of this process, for sampled stacks. By default, Yama allows it only to ancestors."""
    import socket

    # PyTorch has imported it.
    ctypes = sys.modules.get("ctypes")
    with open(PTRACE_SCOPE) as scope:
        if ctypes is None or scope.read().strip() != "1":
            return
    recorder, _, _ = struct.unpack("3i", connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    pid = os.getpid()
    while pid > 1:
        with open("/proc/%d/stat" % pid, "rb") as stat:
            pid = int(stat.read().rpartition(b")")[2].split()[1])
        if pid == recorder:
            return
    ctypes.CDLL(None).prctl(PR_SET_PTRACER, recorder, 0, 0, 0)


class Keeper:
    """A thread that hands over what waits, for as long as lines come fast: the program may stand still after any of them."""

    def __init__(self, outlet):
        self.outlet = outlet
        self.leaves = False
        # Free once it is to go, and once it has gone.
        self.bell, self.gone = allocate_lock(), allocate_lock()
        self.bell.acquire()
        self.gone.acquire()

    def run(self):
        try:
            # Signals are for the threads of the program.
            if hasattr(signal, "pthread_sigmask"):
                signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            self.look_after()
        except BaseException:
            self.forget()
        finally:
            self.gone.release()

    def look_after(self):
        outlet, idle = self.outlet, 0
        while idle < IDLE_TURNS:
            self.bell.acquire(timeout=WAIT_FOR_MORE)
            if self.leaves:
                return
            if outlet.lines or outlet.waiting:
                idle = 0
                outlet.hand_over()
            else:
                idle += 1
        self.forget()
        # What came before it was known that no one looks after it any more.
        if outlet.lines:
            outlet.hand_over()

    def forget(self):
        if self.outlet.keeper is self:
            self.outlet.keeper = None

    def leave(self):
        """Returns once it has gone, or is held up by a disk."""
        self.leaves = True
        self.bell.release()
        self.gone.acquire(timeout=LAST_WAIT)


def by_hand():
    """The folder into which a program without a listener writes; its children write there, too."""
    name = "loadscope-%s-%d" % (time.strftime("%Y%m%d-%H%M%S"), os.getpid())
    folder = made(name)
    ASKED["LOADSCOPE_PROBE_TO"] = os.environ["LOADSCOPE_PROBE_TO"] = "dir:" + folder
    return folder


def unheard():
    """The folder of all processes of a program that the listener, who is there, could not let in."""
    token = ASKED.get("LOADSCOPE_PROBE_TOKEN", "")
    return made("loadscope-unheard-%08x" % binascii.crc32(token.encode("utf-8", "replace")))


def made(name):
    """A folder beside the program, or where one can be made at all."""
    try:
        folder = os.path.abspath(name)
        os.makedirs(folder, exist_ok=True)
        return folder
    except OSError:
        import tempfile

        folder = os.path.join(tempfile.gettempdir(), name)
        # The user would not look for it there.
        quiet(lambda: print("loadscope: writing into %s" % folder, file=sys.stderr))
        return folder


def number_in(variables, *names):
    """The first of these variables that is a whole number."""
    for name in names:
        value = quiet(lambda name=name: str(variables.get(name, "")), "")
        if value.isascii() and value.isdigit() and len(value) < 10:
            return int(value)
    return None


def name_of_program():
    """The name of the script, or of the notebook."""
    name = os.path.basename(str((getattr(sys, "argv", None) or [""])[0]))
    if name != "ipykernel_launcher.py":
        return name
    notebook = os.path.basename(os.environ.get("JPY_SESSION_NAME", ""))
    return notebook if notebook.endswith(".ipynb") else "notebook"


def introduction():
    """The first line of a stream."""
    # While PyTorch is being imported its version is known before it is.
    torch = sys.modules.get("torch.version") or sys.modules.get("torch")
    info = {
        "loadscope_stream": VERSION,
        "token": ASKED.get("LOADSCOPE_PROBE_TOKEN", ""),
        "pid": os.getpid(),
        "parent": os.getppid(),
        "monotonic": now(),
        "realtime": time.time_ns(),
        "host": quiet(lambda: os.uname().nodename, ""),
        "boot": quiet(boot, ""),
        "python": "%d.%d.%d" % sys.version_info[:3],
        "torch": str(getattr(torch, "__version__", "")),
        "program": name_of_program(),
        "rank": number_in(os.environ, "RANK", "SLURM_PROCID"),
        "world_size": number_in(os.environ, "WORLD_SIZE", "SLURM_NTASKS"),
        "local_rank": number_in(os.environ, "LOCAL_RANK", "SLURM_LOCALID"),
        "cores": quiet(cores),
        "json_ns": speed(),
    }
    return {name: value for name, value in info.items() if value is not None}


def boot():
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def cores():
    """As many as the process may run on, and as its control groups give it the time of."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    quota = quiet(lambda: quota_of(read_text("/proc/self/cgroup"), read_text))
    return count if quota is None else max(1, min(count, int(quota + 0.5)))


def start_method():
    """Returns the start method of processes. Does not choose one for the program."""
    multiprocessing = sys.modules["multiprocessing"]
    # The default is the first one.
    return multiprocessing.get_start_method(allow_none=True) or multiprocessing.get_all_start_methods()[0]


def preloads_main():
    """Returns True if the fork server imports the program before it forks a worker."""
    version = sys.version_info[:3]
    return version >= (3, 14, 1) or (3, 13, 8) <= version < (3, 14)


@functools.cache
def speed():
    """The speed of the interpreter: ns for writing and reading a short list as JSON, the best of five measurements of 50 µs."""

    def measured():
        start = time.perf_counter_ns()
        for _ in range(20):
            json.loads(json.dumps(["batch", 1, 2.5]))
        return time.perf_counter_ns() - start

    return min(measured() for _ in range(5)) // 20


def read_text(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(65536)


def quota_of(groups, read):
    """The least number of cores that one of the control groups in `groups`, a `/proc/PID/cgroup`, or one that holds it, gives the time of."""
    least = None
    for line in groups.splitlines():
        _, kinds, path = line.split(":", 2)
        if kinds and "cpu" not in kinds.split(","):
            continue
        parts = [part for part in path.split("/") if part]
        for depth in range(len(parts), -1, -1):
            inner = "/".join([""] + parts[:depth])
            if kinds:
                # The first version keeps the two numbers in files of their own.
                asked = [quiet(lambda name=name: read("/sys/fs/cgroup/cpu%s/%s" % (inner, name))) for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")]
                text = " ".join(one.strip() for one in asked if one)
            else:
                text = quiet(lambda: read("/sys/fs/cgroup%s/cpu.max" % inner)) or ""
            numbers = text.split()
            if len(numbers) == 2 and numbers[0] not in ("max", "-1") and float(numbers[1]) > 0:
                given = float(numbers[0]) / float(numbers[1])
                least = given if least is None else min(least, given)
    return least


class CoreWait:
    """For how long a thread could have run and waited for a core: the second number of its `schedstat`."""

    def __init__(self):
        self.thread = None
        self.file = None

    def read(self):
        """Nanoseconds since the thread began; `None` where the system does not say."""
        thread = threading.get_ident()
        if self.thread != thread:
            self.close()
            self.thread = thread
            self.file = quiet(lambda: os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC))
        if self.file is None:
            return None
        try:
            numbers = os.pread(self.file, 80, 0).split()
            return int(numbers[1]) if len(numbers) == 3 else None
        except (OSError, ValueError):
            # Closed by the program, which may have given its number to another file.
            self.file = None
            return None

    def close(self):
        file, self.file, self.thread = self.file, None, None
        if file is not None and quiet(lambda: os.readlink("/proc/self/fd/%d" % file), "").endswith("/schedstat"):
            quiet(lambda: os.close(file))


def between(before, after):
    """The difference of two readings, as JSON."""
    return "null" if before is None or after is None else max(after - before, 0)


def request(name):
    """What the user who started the program asks for, beyond being told."""
    return dict(json.loads(ASKED[name]))


class Until:
    """When the program is to end: once a loader has yielded so many batches, or so long after the first of them."""

    def __init__(self, request):
        self.request = request
        self.batches = int(request["batches"]) if "batches" in request else None
        self.time = None if self.batches is not None else int(request["seconds"] * 1e9)
        # By place, or else by number: batches that were yielded, and when the first one was. All that one line makes are one.
        self.tallies = {}

    def tally(self, place, number):
        """What is counted of a loader; nothing if it is not meant."""
        if not is_meant(self.request, place):
            return None
        return self.tallies.setdefault(number if place is None else place[:2], [0, 0])

    def is_reached(self, tally):
        if self.batches is not None:
            return tally[0] >= self.batches
        return tally[0] > 0 and now() - tally[1] >= self.time


def is_meant(request, place):
    """True if a request is about the loader that is made there: `train.py:42`, with more of the path or less, or without the
    line."""
    wanted = request.get("loader")
    if wanted is None or place is None:
        return wanted is None
    whole = "%s:%d" % place[:2]
    return any(name == wanted or name.endswith(os.sep + wanted) for name in (place[2], whole, place[0]))


class Here(threading.local):
    """The fetch and the step of a thread. The defaults make a thread without them quick to ask."""

    fetch = single = aside = None


class Probe:
    """What this process tells of."""

    def __init__(self):
        self.troubles = 0
        self.iterators = 0
        self.loaders = 0
        # Epochs of loaders beyond the limit.
        self.left_out = 0
        # By id of the loader: a weak reference to it, and its number and epochs.
        self.known = {}
        # Loaders by where they were made and what they are like: one that is made anew goes on where they ended.
        self.alike = {}
        # By number of the iterator: a weak reference, which must live longer than it, and what is known of it.
        self.living = {}
        self.forks = []
        self.inherited = []
        # What was sent to processes at their start: when pickling began and ended, the number of bytes, and the start method.
        self.sent = []
        # By id of the loader: a weak reference to it, and what `len` of it said.
        self.lengths = {}
        # By id of a loader, iterated or not: a weak reference to it, and where it was made. In a child they are the same.
        self.places = {}
        # Loaders that a framework made from one of the program's, as weak references.
        self.remade = {}
        # Called where an epoch would begin after the listener has gone.
        self.when_unheard = None
        # Ids of errors that `next` raised or that closed an iterator, with the step: the iterator, its epoch, its batch, the time.
        self.errors = collections.OrderedDict()
        # Steps whose iterators ended in them, with the frames that ran then, since the last iterator began.
        self.left = []
        # The end of the program is looked at.
        self.looks_at_end = False
        # The program cannot have taken `get_worker_info` from PyTorch before it was hooked.
        self.sees_asking = False
        # Function that returns the role of a loader. A framework sets it.
        self.role_of = None
        self.asks()
        self.fresh()

    def asks(self):
        """Reads Loadscope's variables. The program may clear or replace its environment later."""
        quiet(lambda: ASKED.update((name, value) for name, value in os.environ.items() if name.startswith("LOADSCOPE_PROBE_")))
        self.previews = min(number_in(ASKED, "LOADSCOPE_PROBE_PREVIEWS") or 0, MOST_PREVIEWS)
        # First batches of each worker whose contents get a digest.
        self.digests = number_in(ASKED, "LOADSCOPE_PROBE_DIGESTS") or 0
        # Arguments of loaders that are set, and when the program is to end.
        self.set = quiet(lambda: request("LOADSCOPE_PROBE_SET"))
        self.until = quiet(lambda: Until(request("LOADSCOPE_PROBE_STOP")))

    def fresh(self):
        """Begins a stream; in a child that was forked, after the parent's."""
        self.outlet = Outlet()
        self.ended = False
        self.generation = -1
        self.core_wait = CoreWait()
        self.device = Device()
        self.looked = 0
        # Files of samples that were named, and names of stages.
        self.named = 0
        self.stages = set()
        # A worker asked which one it is.
        self.asked = False
        self.here = Here()
        self.pinned = {}

    def before_fork(self):
        quiet(self.outlet.rest)

    def after_fork(self):
        """In the parent: when a child was started. What is forked beside workers makes the count another."""
        if len(self.forks) < MOST_FORKS:
            self.forks.append(now())

    def forked(self):
        """In a child: what was the parent's is sent by the parent."""
        self.outlet.close()
        self.core_wait.close()
        # A child must not destroy the events of its parent.
        self.inherited.append(self.device)
        for _, iterator in list(self.living.values()):
            iterator.is_open = False
            iterator.is_ours = False
        self.living.clear()
        del self.forks[:]
        del self.sent[:]
        self.known.clear()
        self.alike.clear()
        self.errors.clear()
        del self.left[:]
        self.loaders = 0
        if self.until is not None:
            self.until.tallies.clear()
        self.fresh()

    def leave(self):
        """Ends the stream of a process that goes on. Iterators that are under way are strangers to a stream that may begin later;
        where loaders were made stays known."""
        self.bye()
        self.outlet.at_once()
        self.outlet.close()
        for reference, iterator in list(self.living.values()):
            iterator.is_open = iterator.is_ours = False
            quiet(lambda reference=reference: reference().__dict__.pop("_loadscope", None))
        for record in (self.living, self.known, self.alike, self.forks, self.sent, self.errors, self.left):
            record.clear()
        atexit.unregister(raised_at_end)
        self.looks_at_end = False
        self.troubles = self.iterators = self.loaders = self.left_out = 0
        self.role_of = None
        self.core_wait.close()
        self.fresh()
        # Another thread may be in the middle of a hook: what it still says goes nowhere.
        self.outlet.opened = True

    def has_listener(self):
        """False once the listener has gone; a program that was not started to be recorded then goes on as before."""
        if self.when_unheard is None or not self.outlet.opened or not self.outlet.is_unheard():
            return True
        self.when_unheard()
        return False

    def put(self, line, push=True):
        self.outlet.put(line, push)

    def trouble(self, error):
        self.troubles += 1
        if self.troubles <= 20:
            tb = error.__traceback__
            while tb is not None and tb.tb_next is not None:
                tb = tb.tb_next
            line = tb.tb_lineno if tb is not None else 0
            said = quiet(lambda: str(error), "")
            text = "%s: %s (line %d)" % (type(error).__name__, said, line)
            quiet(lambda: self.put('["trouble",%d,%s]\n' % (now(), text_of(text))))

    def leave_out(self, loader):
        """One loader too many; its epochs are not recorded, and the recording says so."""
        if not self.left_out:
            text = "this process has made more than %d different loaders; the later ones are not recorded" % MOST_LOADERS
            self.put('["trouble",%d,%s]\n' % (now(), text_of(text)))
        self.left_out += 1
        self.outlet.lost += 1

    def bye(self):
        if self.outlet.opened:
            if not self.ended:
                self.ended = True
                raised_at_end()
                for _, iterator in list(self.living.values()):
                    quiet(lambda iterator=iterator: iterator.end(now()))
                if self.device is not None:
                    quiet(self.device.collect)
                quiet(lambda: self.put('["bye",%d,%d]\n' % (now(), self.troubles)))
            quiet(self.outlet.flush)

    def end_with_child(self):
        """A process that `multiprocessing` started does not go through `atexit`: it ends by `os._exit`."""
        processes = sys.modules.get("multiprocessing.process")
        if processes is not None and getattr(processes, "parent_process", lambda: None)() is not None:
            from multiprocessing import util

            util.Finalize(None, self.bye, exitpriority=-1000)


class Loader:
    """A DataLoader as far as it is known, or several of which each took the place of the one before."""

    __slots__ = ("number", "epochs", "dataset", "latest", "batches", "living", "is_placed", "plain", "length", "is_counted")

    def __init__(self, number, dataset):
        self.number = number
        self.epochs = 0
        self.now_of(dataset)
        self.latest = None
        # Batches of an epoch, where a sampler of PyTorch's says so.
        self.batches = None
        # Loaders of the program's that it stands for and that are not gone.
        self.living = 0
        # It is known where it was made.
        self.is_placed = False
        # What was plain in its dataset when an epoch began, and what was reported of its length.
        self.plain = None
        self.length = None
        # The Python objects of its dataset were counted.
        self.is_counted = False

    def now_of(self, dataset):
        """Notes the dataset of the latest loader."""
        # Not all objects can be referred to weakly.
        self.dataset = quiet(lambda: weakref.ref(dataset)) or id(dataset)

    def is_of(self, dataset):
        """True if it can have been of this dataset: two that live at the same time are two."""
        if isinstance(self.dataset, int):
            return self.dataset == id(dataset)
        mine = self.dataset()
        return mine is None or mine is dataset

    def can_go_on(self, dataset, whatever_it_is):
        """True if its next epoch may be one of a loader that is like it."""
        if self.latest is not None and self.latest.is_open and not self.latest.count:
            return False
        if whatever_it_is:
            return True
        is_same, is_gone = self.is_of(dataset), not self.living
        return is_same or is_gone if self.is_placed else is_same and is_gone


class Iterator:
    """An iterator of a DataLoader as far as it is known; it holds no reference to it."""

    __slots__ = (
        "number",
        "loader",
        "epoch",
        "is_open",
        "is_ours",
        "is_inside",
        "yields",
        "is_iterable",
        "has_workers",
        "in_order",
        "index",
        "drawn",
        "batch",
        "count",
        "outstanding",
        "sent",
        "arrived",
        "fetching",
        "seeds",
        "expected",
        "stepping",
        "working",
        "yielded",
        "cpu",
        "core_wait",
        "takes_long",
        "thread",
        "tally",
        "pins",
        "outer",
        "received",
        "computed",
        "closing",
        "broke_at",
        "device",
    )

    def __init__(self, number, loader):
        self.number = number
        self.loader = loader
        self.thread = threading.get_ident()
        self.is_ours = True
        self.is_inside = False
        self.yields = False
        self.seeds = None
        self.expected = None
        # What is counted for the program to end; nothing if that does not depend on this loader.
        self.tally = None
        # Its batches are pinned by the thread that fetches them, which may be doing so for another one.
        self.pins = False
        self.outer = None
        # Where it stood when `next` was called.
        self.received = 0
        # What the process had computed when the last fetch of its own was over.
        self.computed = None
        self.begin()

    def begin(self):
        self.epoch = self.loader.epochs
        self.loader.epochs += 1
        self.is_open = True
        self.index = None
        self.drawn = now()
        self.batch = 0
        self.outstanding = set()
        self.sent = {}
        self.arrived = None
        self.fetching = None
        # The batch in which a sample raised StopIteration.
        self.broke_at = None
        # The number of batches yielded, and the batch that the program works on.
        self.count = 0
        self.stepping = None
        # When its workers began to be ended.
        self.closing = None
        # Start of the wait on the device.
        self.device = None
        # The same, also while the program iterates another loader in that step.
        self.working = None
        # When it was yielded, and what the process had computed by then.
        self.yielded = self.cpu = 0
        self.core_wait = None
        self.takes_long = False

    def stepped(self, at):
        """What the step that is over needed of the processor, as the end of a line."""
        cpu = process_time() - self.cpu
        self.stepping = None
        self.takes_long = at - self.yielded > CORE_WAIT_WORTHWHILE
        if self.core_wait is None:
            return ",%d" % cpu
        core_wait, self.core_wait = self.core_wait, None
        return ",%d,%s" % (cpu, between(core_wait, PROBE.core_wait.read()))

    def leave(self):
        """`next` is over."""
        self.is_inside = False
        if self.pins:
            PROBE.here.single = self.outer

    def turned_away(self, at, other_begins):
        """The thread asks another loader. Where an epoch of that one begins, or all batches of this one were yielded, the step on
        the last batch is over; loaders that are asked in turn share their steps."""
        if self.stepping is not None and (other_begins or self.count == self.expected):
            about = (at, self.number, self.epoch, self.stepping, self.stepped(at))
            PROBE.put('["step",%d,%d,%d,%d%s]\n' % about, False)

    def end(self, at):
        if self.is_open:
            if self.working is not None:
                # Ending the workers takes time.
                note_left(self, at if self.closing is None else self.closing)
            self.is_open = False
            self.working = None
            PROBE.put('["end",%d,%d,%d]\n' % (at, self.number, self.epoch))
            end_aside(self)


def turn_to(state, at, begins):
    """This thread asks the iterator `state`, or makes it: steps on batches of others may be over."""
    if len(PROBE.living) < (1 if begins else 2):
        return
    thread = threading.get_ident()
    for _, other in list(PROBE.living.values()):
        if other is not state and other.thread == thread and other.is_open:
            other.turned_away(at, begins)
    if begins:
        begin_aside("loader", state)


def steps_open():
    """The iterators on whose batches this thread works."""
    thread = threading.get_ident()
    return [state for _, state in list(PROBE.living.values()) if state.thread == thread and state.working is not None]


class Device:
    """The accelerator of this process. Events in its current stream, at the start and at the end of a wait, measure the time in which
    it has no work. No call waits for the device, and none initializes it."""

    def __init__(self):
        # Events that can be used again, by device.
        self.free = {}
        # Waits whose second event the device has not reached.
        self.pending = collections.deque()

    def begin(self, at):
        """Returns the start of a wait, or None without a device."""
        module = accelerator()
        if module is None or len(self.pending) >= MOST_PENDING:
            return None
        key = (module, module.current_device())
        return self.event(key), key, at

    def end(self, start, at, state, batch):
        event, key, begun = start
        self.pending.append((event, self.event(key), key, at - begun, (state.number, state.epoch, batch)))

    def event(self, key):
        """Returns an event that was recorded in the current stream."""
        free = self.free.setdefault(key, [])
        event = free.pop() if free else key[0].Event(enable_timing=True)
        event.record()
        return event

    def collect(self):
        """Reports the waits whose events the device has reached."""
        while self.pending:
            wait = self.pending.popleft()
            start, end, key, waited, about = wait
            if not end.query():
                self.pending.appendleft(wait)
                return
            idle = min(max(int(start.elapsed_time(end) * 1e6), 0), waited)
            self.free[key] += (start, end)
            PROBE.put('["device",%d,%d,%d,%d,%d,%d]\n' % (now(), *about, waited, idle), False)


def accelerator():
    """Returns `torch.cuda` or `torch.xpu` if the program has initialized it. During the capture of a graph, returns None."""
    torch = sys.modules.get("torch")
    for name in ACCELERATORS:
        module = getattr(torch, name, None)
        if module is not None and module.is_initialized():
            captures = getattr(module, "is_current_stream_capturing", None)
            return None if captures is not None and captures() else module
    return None


@guarded
def begin_wait(state, at):
    """The wait begins. A device with an error is not asked again: the program sees the error at its own next call."""
    device, PROBE.device = PROBE.device, None
    if device is not None:
        state.device = device.begin(at)
        device.collect()
        PROBE.device = device


@guarded
def end_wait(state, at, batch):
    """The wait is over."""
    start, state.device = state.device, None
    device, PROBE.device = PROBE.device, None
    if device is not None:
        device.end(start, at, state, batch)
        PROBE.device = device


@guarded
def begin_aside(kind, key):
    """The program begins other work in a training step. Work within such work belongs to it."""
    steps = steps_open() if PROBE.living else ()
    if not steps:
        return
    aside = PROBE.here.aside
    if aside is None or all(state.yielded > aside[2] for state in steps):
        PROBE.here.aside = (kind, key, now())


@guarded
def end_aside(key):
    """The work that began with `key` is over."""
    aside = PROBE.here.aside
    if aside is not None and aside[1] is key:
        tell_aside(aside, now())


def tell_aside(aside, at):
    PROBE.here.aside = None
    kind, _, start = aside
    if at - start < ASIDE_WORTHWHILE:
        return
    for state in steps_open():
        # The steps of a loader that is iterated meanwhile are not interrupted.
        if state.yielded <= start:
            about = (at, state.number, state.epoch, state.working, start, kind)
            PROBE.put('["aside",%d,%d,%d,%d,%d,"%s"]\n' % about, False)


def acquainted(iterator, loader, started, seeds):
    """A loader that was not seen before. Programs make a new one for every validation: one that is made at the same line with the
    same options goes on with the next epoch of the one before, unless that one is being iterated, or lives with another dataset.
    Without a line, the one before must be gone, and its order must not have begun anew."""
    about = describe(loader, iterator, seeds)
    dataset = quiet(lambda: loader.dataset)
    place = place_of(loader)
    # Seeds differ from one to the next where a program draws them. How the process starts others is known once it did.
    alike = {name: value for name, value in about.items() if name not in ("seed", "global_seed", "start_method")}
    kinds = [None]
    if place is not None:
        # Where there are very many loaders, those of one line are one.
        kinds = [(place[:2], as_json(alike)), (place[:2], None)]
    elif about["sampler"] == "SequentialSampler":
        kinds = [(None, as_json(alike))]
    elif quiet(lambda: loader.generator) is None:
        kinds = [(None, as_json({**alike, "global_seed": about.get("global_seed")}))]
    record = None
    for position, kind in enumerate(kinds):
        if kind is None or position > 0 and PROBE.loaders < MOST_LOADERS:
            continue
        record = next((one for one in PROBE.alike.get(kind, ()) if one.can_go_on(dataset, position > 0)), None)
        if record is not None:
            break
    if record is None:
        if PROBE.loaders >= MOST_LOADERS and place is None:
            PROBE.leave_out(loader)
            return None
        record = Loader(PROBE.loaders, dataset)
        record.batches = about.get("batches")
        PROBE.loaders += 1
        for kind in kinds:
            if kind is not None:
                PROBE.alike.setdefault(kind, []).append(record)
        if place is not None:
            about["file"], about["line"], about["place"] = place
        PROBE.put('["loader",%d,%d,%s]\n' % (started, record.number, as_json(about)), False)
    record.is_placed = place is not None
    record.now_of(dataset)
    record.living += 1
    key = id(loader)

    def gone(reference):
        record.living -= 1
        if PROBE.known.get(key, (None,))[0] is reference:
            del PROBE.known[key]

    PROBE.known[key] = (weakref.ref(loader, gone), record)
    return PROBE.known[key]


@guarded
def begin_iterator(iterator, loader, started, seeds):
    if not PROBE.has_listener():
        return
    known = PROBE.known.get(id(loader))
    if known is None or known[0]() is not loader:
        known = acquainted(iterator, loader, started, seeds)
        if known is None:
            return
    number = PROBE.iterators
    PROBE.iterators += 1
    state = Iterator(number, known[1])
    known[1].latest = state
    state.is_iterable = getattr(iterator, "_dataset_kind", 0) == 1
    state.has_workers = bool(getattr(iterator, "_num_workers", 0))
    state.pins = not state.has_workers and bool(getattr(iterator, "_pin_memory", False))
    state.in_order = quiet(lambda: bool(getattr(loader, "in_order", True)), True)
    state.expected = expected_of(loader, known[1])
    if state.is_iterable and state.expected is not None:
        tell_length(known[1], state.expected)
    turn_to(state, started, True)
    if PROBE.until is not None:
        state.tally = PROBE.until.tally(place_of(loader), known[1].number)

    def gone(_):
        PROBE.living.pop(number, None)
        quiet(lambda: state.end(now()))

    PROBE.living[number] = (weakref.ref(iterator, gone), state)
    iterator.__dict__["_loadscope"] = state
    del PROBE.forks[:]
    del PROBE.sent[:]
    del PROBE.left[:]
    look_at_end()
    tell_changes(known[1], loader)
    PROBE.put('["epoch",%d,%d,%d,%d]\n' % (started, known[1].number, number, state.epoch))


def expected_of(loader, record):
    """The number of batches of an epoch, where that is known without asking an object of the user's: the program asked `len(loader)`
    itself, or the sampler is one of PyTorch's."""
    reference, length = PROBE.lengths.get(id(loader), (None, None))
    return length if reference is not None and reference() is loader else record.batches


@guarded
def told_length(loader, length):
    """The program asked `len(loader)`: it may stop there without asking for one batch more."""
    key = id(loader)
    known = PROBE.lengths.get(key)
    if known is not None and known[1] == length and known[0]() is loader:
        return
    if len(PROBE.lengths) < MOST_LENGTHS:
        reference = weakref.ref(loader, lambda gone: PROBE.lengths.pop(key, None))
        PROBE.lengths[key] = (reference, length)
    known = PROBE.known.get(key)
    if known is not None and known[0]() is loader and known[1].latest is not None:
        known[1].latest.expected = length
        if known[1].latest.is_iterable:
            tell_length(known[1], length)


def tell_length(record, length):
    """What `len(loader)` says of a stream, which nothing else knows."""
    if record.length != length and type(length) is int and 0 <= length < 1 << 63:
        record.length = length
        PROBE.put('["length",%d,%d,%d]\n' % (now(), record.number, length))


def inner_datasets(dataset):
    """A dataset, and those that it is made of one inside the other."""
    for _ in range(MOST_INSIDE):
        if dataset is None:
            return
        yield dataset
        dataset = getattr(dataset, "__dict__", {}).get("dataset")


@guarded
def tell_changes(record, loader):
    """Says which plain attributes of the dataset the program changed since the epoch before: workers that live on would not learn of it."""
    plain = {}
    for inner in inner_datasets(loader.__dict__.get("dataset")):
        for name, value in list(getattr(inner, "__dict__", {}).items())[:MOST_ATTRIBUTES]:
            if type(value) in (int, float, str, bool) and type(name) is str:
                plain.setdefault(name, value)
    before, record.plain = record.plain, plain
    if before is None or not record.is_of(loader.__dict__.get("dataset")):
        return
    changed = [name[:100] for name, value in plain.items() if name in before and before[name] != value]
    if changed:
        PROBE.put('["changed",%d,%d,%s]\n' % (now(), record.number, as_json(changed[:16])))


def seeds_of(loader):
    """Seeds of the generator of the loader and of the default generator, as far as nothing was drawn from them yet."""
    if id(loader) in PROBE.known:
        return None
    torch = sys.modules["torch"]

    def seed_of(generator):
        seed = generator.initial_seed()
        unused = torch.Generator().manual_seed(seed).get_state()
        return seed if torch.equal(unused, generator.get_state()) else None

    generator = getattr(loader, "generator", None)
    if generator is None:
        return (None, quiet(lambda: seed_of(torch.default_generator)))
    return (quiet(lambda: seed_of(generator)), None)


def describe(loader, iterator, seeds):
    """The arguments of a loader, under PyTorch's names."""
    data = sys.modules["torch.utils.data"]
    sampler = quiet(lambda: loader.sampler)
    batches = quiet(lambda: loader.batch_sampler)
    if batches is not None and quiet(lambda: loader.batch_size) is None:
        # A loader that was given batches of indices has a sampler that it does not use.
        sampler = quiet(lambda: batches.sampler)
    kind = plain_class(sampler, data)
    # Of torch's own batch sampler the loader would have made the same; one that was given is the program's.
    makes_batches = batches is not None and quiet(lambda: loader.batch_size) is None
    if makes_batches and is_remade(loader):
        makes_batches = plain_class(batches, data) is not data.BatchSampler
    is_iterable = getattr(iterator, "_dataset_kind", 0) == 1
    distributed = kind is getattr(sys.modules.get("torch.utils.data.distributed"), "DistributedSampler", None)
    # These ask for the length of the dataset anyway; others may not want to be asked.
    plain = kind in (data.SequentialSampler, data.RandomSampler, data.SubsetRandomSampler) or distributed
    dataset = quiet(lambda: loader.dataset)
    workers = number_of(lambda: loader.num_workers) or 0
    about = {
        "dataset": type(dataset).__name__,
        "class": type(loader).__name__,
        "iterable": is_iterable,
        "batch_size": batch_size_of(loader),
        "num_workers": workers,
        "prefetch_factor": number_of(lambda: loader.prefetch_factor) if workers else None,
        "drop_last": drops_last(loader, batches),
        "in_order": flag_of(lambda: getattr(loader, "in_order", True)),
        "pin_memory": flag_of(lambda: loader.pin_memory),
        "pins": flag_of(lambda: iterator._pin_memory),
        "persistent_workers": flag_of(lambda: loader.persistent_workers),
        "timeout": quiet(lambda: min(max(float(loader.timeout), 0.0), 1e9)),
        "sampler": kind.__name__,
        "batch_sampler": type(batches).__name__ if makes_batches else None,
    }
    context = quiet(lambda: loader.multiprocessing_context)
    if context is not None:
        about["multiprocessing_context"] = quiet(lambda: str(context.get_start_method()))
    about["start_method"] = about.get("multiprocessing_context") or quiet(start_method)
    if about["start_method"] != "forkserver" or not preloads_main():
        about["import_ns"] = FINDER.import_ns
    if plain and not is_iterable:
        about["dataset_len"] = number_of(lambda: len(dataset))
        if batches is None or not makes_batches or plain_class(batches, data) is data.BatchSampler:
            about["batches"] = number_of(lambda: len(batches if batches is not None else sampler))
    if kind is data.RandomSampler:
        about["shuffle"] = True
        about["replacement"] = flag_of(lambda: sampler.replacement)
        about["num_samples"] = number_of(lambda: sampler._num_samples)
    if distributed:
        about["replicas"] = number_of(lambda: sampler.num_replicas)
        about["replica"] = number_of(lambda: sampler.rank)
        about["shuffle"], about["seed"] = flag_of(lambda: sampler.shuffle), seed_from(lambda: sampler.seed)
        about["sampler_drop_last"] = flag_of(lambda: sampler.drop_last)
    elif seeds is not None:
        about["seed"], about["global_seed"] = (seed_from(lambda seed=seed: seed) for seed in seeds)
    about["role"] = quiet(lambda: PROBE.role_of(loader)) if PROBE.role_of is not None else None
    about["arguments"] = quiet(lambda: other_arguments(loader)) or None
    about["rank"], about["world_size"] = place_in_job()
    about["classes"] = quiet(lambda: classes_of(dataset))
    about.update(settled(loader)[1])
    return {name: value for name, value in about.items() if value is not None}


def other_arguments(loader):
    """Functions that the program gave, as they stand in a call."""
    collate = sys.modules["torch.utils.data._utils.collate"]
    usual = (None, collate.default_collate, collate.default_convert)
    given = []
    for name in ("collate_fn", "worker_init_fn"):
        function = quiet(lambda name=name: getattr(loader, name))
        if not any(function is one for one in usual):
            inner = function.func if isinstance(function, functools.partial) else function
            called = getattr(inner, "__name__", None)
            called = called if isinstance(called, str) and called.isidentifier() else type(inner).__name__
            given.append("%s=%s" % (name, called[:60]))
    return given


def plain_class(sampler, data):
    """The class of a sampler; of torchdata's copies of PyTorch's own samplers that of the original."""
    kind = type(sampler)
    if kind.__module__.startswith("torchdata."):
        return getattr(data, kind.__name__, kind)
    return kind


def place_in_job():
    """The rank and the number of ranks. A program that starts ranks by itself, as `torch.multiprocessing.spawn` does, puts them into no
    environment."""
    distributed = sys.modules.get("torch.distributed")
    if not quiet(lambda: distributed.is_initialized()):
        return (None, None)
    return (number_of(lambda: distributed.get_rank()), number_of(lambda: distributed.get_world_size()))


def number_of(ask):
    """A whole number, be it one of NumPy's."""
    number = quiet(lambda: int(ask()))
    return number if number is not None and 0 <= number < 1 << 64 else None


def seed_from(ask):
    """PyTorch takes a seed below zero for the one that has the same bits."""
    number = quiet(lambda: int(ask()))
    return number % (1 << 64) if number is not None and -(1 << 63) <= number < 1 << 64 else None


def flag_of(ask):
    return quiet(lambda: bool(ask()))


def classes_of(dataset):
    classes = getattr(dataset, "__dict__", {}).get("classes")
    if isinstance(classes, (list, tuple)) and len(classes) <= 10_000:
        return [str(name)[:200] for name in classes]
    return None


def drops_last(loader, batches):
    """A loader that was given batches of indices leaves it to their sampler, which mostly has a flag of that name."""
    if batches is not None and quiet(lambda: loader.batch_size) is None:
        return flag_of(lambda: batches.drop_last) or False
    return flag_of(lambda: loader.drop_last)


def batch_size_of(loader):
    """A loader that was given batches of indices has no size of its own, but they mostly have."""
    size = number_of(lambda: loader.batch_size)
    if size is None:
        size = number_of(lambda: loader.batch_sampler.batch_size)
    return size if size and size < 1 << 32 else None


@guarded
def begin_epoch(iterator, first, loader):
    """`_reset`: of an iterator that lives on a new epoch begins; of a new one the workers run."""
    state = iterator.__dict__.get("_loadscope")
    if state is None and not first and loader is not None:
        # It was there before the recording began, and so were its workers, who tell nothing.
        begin_iterator(iterator, loader, now(), quiet(lambda: seeds_of(loader)))
        state = iterator.__dict__.get("_loadscope")
        if state is not None:
            tell_workers(iterator, state)
            workers = len(getattr(iterator, "_workers", None) or ())
            if workers:
                PROBE.put('["earlier",%d,%d,%d]\n' % (now(), state.number, workers))
        return
    if state is None or not state.is_ours:
        return
    if first:
        # A thread that has ended leaves its number to a new one.
        pins = getattr(getattr(iterator, "_pin_memory_thread", None), "ident", None)
        PROBE.pinned.pop(pins, None)
        tell_workers(iterator, state)
        return
    if not PROBE.has_listener():
        return
    at = now()
    state.end(at)
    del PROBE.left[:]
    state.begin()
    turn_to(state, at, True)
    if loader is not None:
        tell_changes(state.loader, loader)
    PROBE.put('["epoch",%d,%d,%d,%d]\n' % (at, state.loader.number, state.number, state.epoch))


def tell_workers(iterator, state):
    workers = getattr(iterator, "_workers", None)
    if workers:
        seed = getattr(iterator, "_base_seed", None)
        told = [[w.pid, None if seed is None else seed + i] for i, w in enumerate(workers)]
        if len(PROBE.forks) == len(told):
            told = [worker + [at] for worker, at in zip(told, PROBE.forks)]
        PROBE.put('["workers",%d,%d,%s]\n' % (now(), state.number, json.dumps(told)))
        if len(PROBE.sent) == len(told):
            tell_sent(iterator, state)
        elif len(PROBE.forks) == len(told):
            tell_objects(iterator, state)


@guarded
def tell_sent(iterator, state):
    """Reports what was pickled for the workers of an iterator."""
    at, sent = now(), PROBE.sent
    most = max(size for _, _, size, _ in sent)
    named = None
    if most >= LARGE_PICKLE:
        largest = quiet(lambda: Estimate(PICKLED).largest_in(iterator._dataset))
        # An estimate that is far from the measured size proves nothing.
        if largest is not None and 0.5 * most <= largest[1] <= 1.25 * most:
            named = largest
    name, size = ("null", "null") if named is None else (text_of(named[0], 200), "%d" % min(named[1], most))
    pickling = sum(end - start for start, end, _, _ in sent)
    about = (at, state.number, sent[0][0], len(sent), sent[0][3], most, pickling, name, size)
    PROBE.put('["sent",%d,%d,%d,%d,"%s",%d,%d,%s,%s]\n' % about)


@guarded
def tell_objects(iterator, state):
    """Reports the attribute with most of the dataset's Python objects, whose memory forked workers share."""
    if state.loader.is_counted:
        return
    state.loader.is_counted = True
    at, estimate = now(), Estimate(OBJECTS)
    largest = quiet(lambda: estimate.largest_in(iterator._dataset))
    if largest is not None and estimate.is_complete and largest[1] >= max(MANY_OBJECTS, estimate.total / 2):
        PROBE.put('["objects",%d,%d,%s,%d]\n' % (at, state.number, text_of(largest[0], 200), largest[1]))


PICKLED, OBJECTS = range(2)
CONTAINERS = (list, tuple, dict, set, frozenset)


class TooMany(Exception):
    """The estimate would look at too many objects."""


class Estimate:
    """Estimates, for the attributes of a dataset, the bytes that pickling gives or the number of Python objects. Nothing is pickled, and no
    method of the program's is called."""

    def __init__(self, what):
        self.what = what
        self.left = MOST_OBJECTS
        self.is_complete = True
        # Of all attributes of the dataset.
        self.total = 0
        self.tensor = sys.modules["torch"].Tensor
        # Without NumPy there are no arrays.
        self.array = getattr(sys.modules.get("numpy"), "ndarray", TooMany)

    def largest_in(self, dataset):
        """The name of the largest attribute, such as `dataset.images` for a `Subset`, and its estimate. `None` if there is none."""
        path, found, owner = [], None, dataset
        while len(path) < MOST_INSIDE and self.is_known(owner):
            name, estimate, value = self.largest_of(owner, not path)
            if name is None or found is not None and estimate < 0.8 * found[1]:
                break
            path.append(name)
            found, owner = (".".join(path), estimate), value
        return found

    def largest_of(self, owner, is_dataset):
        largest = (None, 0, None)
        try:
            for name, value in list(attributes_of(owner).items())[:MOST_ATTRIBUTES]:
                estimate = self.of(value, 0)
                if is_dataset:
                    self.total += estimate
                if type(name) is str and estimate > largest[1]:
                    largest = (name, estimate, value)
        except TooMany:
            self.is_complete = False
        return largest

    def is_known(self, value):
        """True for an object whose attributes are all that it has; all that is pickled, if that is estimated."""
        kind = type(value)
        if issubclass(kind, (types.ModuleType, self.tensor, self.array)) or type(attributes_of(value)) is not dict:
            return False
        if self.what == OBJECTS:
            return True
        state = getattr(kind, "__getstate__", None)
        is_plain = state is None or state is getattr(object, "__getstate__", None)
        return is_plain and kind.__reduce__ is object.__reduce__ and kind.__reduce_ex__ is object.__reduce_ex__

    def of(self, value, level):
        self.left -= 1
        if self.left < 0:
            raise TooMany
        if level > 0 and sys.getrefcount(value) > FEW_REFERENCES:
            return 0 if self.what == OBJECTS else 3
        # `isinstance` would ask an object for its class.
        kind = type(value)
        if issubclass(kind, self.array):
            return self.of_array(value, level)
        if issubclass(kind, CONTAINERS) and level < MOST_LEVELS:
            return self.of_container(value, level)
        if level < MOST_LEVELS and self.is_known(value):
            attributes = list(attributes_of(value).values())[:MOST_ATTRIBUTES]
            return 2 + sum(self.of(one, level + 1) for one in attributes)
        if self.what == OBJECTS:
            return 1
        if kind is str:
            return 3 + len(value) * (1 if value.isascii() else 2)
        # A tensor is sent as a handle of shared memory.
        return 3 + len(value) if kind in (bytes, bytearray) else 9 if kind is float else 5

    def of_array(self, value, level):
        """One that inherits from NumPy's array is pickled like it, also one that is mapped from a file."""
        size = self.array.size.__get__(value)
        if self.array.dtype.__get__(value).hasobject and type(value) is self.array and value.ndim == 1:
            return 1 + self.scaled([value[i] for i in evenly(size, level)], size, level)
        return 1 if self.what == OBJECTS else self.array.nbytes.__get__(value)

    def of_container(self, value, level):
        kind = next(one for one in CONTAINERS if issubclass(type(value), one))
        size = kind.__len__(value)
        places = evenly(size, level)
        if kind is dict:
            few = itertools.chain.from_iterable(itertools.islice(dict.items(value), len(places)))
            return 1 + self.scaled(list(few), 2 * size, level)
        if kind in (list, tuple):
            return 1 + self.scaled([kind.__getitem__(value, i) for i in places], size, level)
        return 1 + self.scaled(list(itertools.islice(kind.__iter__(value), len(places))), size, level)

    def scaled(self, few, size, level):
        """The estimate for all entries, from a few of them."""
        if not few:
            return 0
        return int(sum(self.of(one, level + 1) for one in few) * size / len(few))


def attributes_of(value):
    """The `__dict__` of an object, without code of its class."""
    return quiet(lambda: object.__getattribute__(value, "__dict__"))


def evenly(size, level):
    """Positions at even distances."""
    most = FEW_ENTRIES if level else MOST_ENTRIES
    return range(0, size, max(1, -(-size // most)))


def dispatched(iterator, before):
    try:
        state = iterator.__dict__.get("_loadscope")
        if state is None or not state.is_open:
            return
        after = iterator._send_idx
        if before == after and state.index is None and not state.is_iterable:
            # The sampler gave nothing more: these are all batches of this epoch.
            state.expected = after
        for batch in range(before, after):
            worker = iterator._task_info[batch][0]
            count = state.sent.get(worker, 0)
            state.sent[worker] = count + 1
            state.outstanding.add(batch)
            indices = indices_of(state)
            about = (state.drawn, state.number, state.epoch, batch, worker, count, indices)
            PROBE.outlet.lines.append('["dispatch",%d,%d,%d,%d,%d,%d,"%s"]\n' % about)
            if not (state.is_inside and state.yields):
                PROBE.outlet.press(state.drawn)
    except Exception as error:
        if is_not_ours(error):
            raise


def arrived(iterator, what):
    try:
        state = iterator.__dict__.get("_loadscope")
        if state is None or not state.is_open or not isinstance(what, tuple) or len(what) != 2:
            return
        batch, data = what
        pin = '"",0,0'
        if getattr(iterator, "_pin_memory", False) and type(data).__name__ != "ExceptionWrapper":
            spans = PROBE.pinned.get(iterator._pin_memory_thread.ident)
            if spans:
                pin = '"pin",%d,%d' % spans.popleft()
        if type(batch) is not int or len(iterator._task_info.get(batch, ())) != 1:
            return
        state.outstanding.discard(batch)
        if isinstance(data, tuple) and len(data) == 3 and hasattr(iterator, "_worker_snapshots"):
            data = data[0]
        if type(data).__name__ == "_IterableDatasetStopIteration":
            how = "end"
        else:
            if type(data).__name__ == "ExceptionWrapper" and data.exc_type is StopIteration:
                state.broke_at = batch
            state.arrived = batch
            its_turn = batch == iterator._rcvd_idx or not state.in_order
            how = "ready" if its_turn else "held"
        state.yields = how == "ready"
        at = now()
        line = '["arrive",%d,%d,%d,%d,"%s",%s]\n'
        PROBE.outlet.lines.append(line % (at, state.number, state.epoch, batch, how, pin))
        # Where it is about to return, what is sent of that goes with what is sent then. Else it waits on, no one knows how long.
        if not (state.is_inside and state.yields):
            PROBE.outlet.press(at)
    except Exception as error:
        if is_not_ours(error):
            raise


def asked(iterator):
    """`next` was called. Answers what is known of the iterator, unless that is not told of."""
    try:
        state = iterator.__dict__.get("_loadscope")
        if state is None or not state.is_open or state.is_inside:
            return None
        state.is_inside = True
        state.arrived = state.fetching = None
        waits = False
        if state.has_workers:
            state.received = received = iterator._rcvd_idx
            info = iterator._task_info.get(received)
            # What lies ready is not waited for, and what is fetched here says so itself.
            waits = info is None or len(info) == 1
        else:
            # The fetcher is the iterator's own, and so is what this thread pins.
            fetcher = iterator.__dict__.get("_dataset_fetcher")
            if fetcher is not None and "_loadscope" not in fetcher.__dict__:
                fetcher.__dict__["_loadscope"] = Fetches(state, 0, state.is_iterable)
            if state.pins:
                state.outer = PROBE.here.single
                PROBE.here.single = state
        state.yields = not waits
        at = now()
        if state.working is not None:
            aside = PROBE.here.aside
            if aside is not None and state.yielded <= aside[2]:
                tell_aside(aside, at)
            state.working = None
        step = state.stepped(at) if state.stepping is not None else ""
        if len(PROBE.living) > 1:
            turn_to(state, at, False)
        PROBE.outlet.lines.append('["wait",%d,%d%s]\n' % (at, state.number, step))
        begin_wait(state, at)
        if waits:
            PROBE.outlet.press(at)
        return state
    except Exception as error:
        if is_not_ours(error):
            raise
        return None


def outside(iterator):
    state = iterator.__dict__.get("_loadscope")
    if state is not None:
        state.leave()


def answered(iterator, state):
    """`next` returned a batch."""
    try:
        at, outlet = now(), PROBE.outlet
        state.is_inside = False
        if state.pins:
            PROBE.here.single = state.outer
        if state.tally is not None:
            state.tally[0] += 1
            state.tally[1] = state.tally[1] or at
        if state.has_workers:
            tasks = iterator._task_info
            after = iterator._rcvd_idx
            batch = state.arrived
            if batch is None or batch in tasks:
                batch = after - 1
            cpu = None
            if after - state.received > 1:
                outlet.lines.append(given_up(state, state.received, after, at))
            line = '["yield",%d,%d,%d,%d]\n' % (at, state.number, state.epoch, batch)
            if state.in_order and len(tasks.get(after, ())) == 2:
                line += '["ready",%d,%d,%d,%d]\n' % (at, state.number, state.epoch, after)
        else:
            batch = state.batch - 1
            cpu, state.computed = state.computed, None
            line = '["yield",%d,%d,%d,%d]\n' % (at, state.number, state.epoch, batch)
        outlet.lines.append(line)
        if state.device is not None:
            end_wait(state, at, batch)
        # A step begins.
        state.count += 1
        state.stepping = state.working = batch
        state.yielded = at
        if state.takes_long:
            state.core_wait = PROBE.core_wait.read()
        if at >= outlet.due or outlet.keeper is None:
            outlet.press(at)
        # Nothing was computed since the fetch was over.
        state.cpu = process_time() if cpu is None or state.pins else cpu
    except Exception as error:
        if is_not_ours(error):
            raise


def given_up(state, received, after, at):
    """Tasks that were passed over: their workers have ended and will not answer."""
    lines = ""
    for batch in range(received, after):
        if batch in state.outstanding:
            state.outstanding.discard(batch)
            lines += '["gone",%d,%d,%d,%d]\n' % (at, state.number, state.epoch, batch)
    return lines


@guarded
def is_enough(iterator):
    """True if the program is to end here. Another thread than the main one cannot end it: the main one is interrupted."""
    state = iterator.__dict__.get("_loadscope")
    if state is None or not state.is_ours or state.tally is None or not PROBE.until.is_reached(state.tally):
        return False
    at = now()
    PROBE.put('["stop",%d,%d,%d]\n' % (at, state.number, state.epoch))
    state.end(at)
    if threading.current_thread() is not threading.main_thread() and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    return True


@guarded
def stopped(state):
    """`next` raised StopIteration. That of a sample looks to the program like the end of the epoch."""
    state.leave()
    if state.broke_at is not None:
        PROBE.put('["fail",%d,%d,%d,%d,"StopIteration"]\n' % (now(), state.number, state.epoch, state.broke_at))
    state.end(now())


@guarded
def failed(iterator, state, error):
    """`next` raised an error."""
    at = now()
    state.leave()
    batch = state.fetching
    if state.has_workers:
        batch = state.arrived
        if batch is None or batch in iterator._task_info:
            after = iterator._rcvd_idx
            batch = after - 1 if after > state.received and after - 1 not in state.outstanding else None
    where = "null" if batch is None else batch
    about = (at, state.number, state.epoch, where, text_of(error_text(error)))
    PROBE.put('["fail",%d,%d,%d,%s,%s]\n' % about)
    remember_error(error, None)
    if batch is None and state.has_workers:
        tell_left(iterator, state)


def error_text(error):
    """The class of an error, and the last line of its text."""
    text = str(quiet(lambda: str(error), "")).strip()
    last = text.splitlines()[-1] if text else ""
    name = type(error).__name__
    return last if last.startswith(name) else "%s: %s" % (name, last) if last else name


def remember_error(error, step):
    """By its id: a reference would keep the frames of the program alive."""
    PROBE.errors[id(error)] = step
    while len(PROBE.errors) > MOST_ERRORS:
        PROBE.errors.popitem(last=False)


@guarded
def note_left(state, at):
    """An iterator ends in a step: the loop was left. If an error leaves it, the frames that run now are in the traceback. What catches
    the error may end the iterator, and raise the error again."""
    step = (at, state.number, state.epoch, state.working)
    error = sys.exc_info()[1]
    if error is not None and id(error) not in PROBE.errors:
        remember_error(error, step)
    frames, frame = [], sys._getframe()
    while frame is not None and len(frames) < MOST_LEFT_FRAMES:
        if frame.f_code.co_filename not in OURS:
            frames.append((id(frame), frame.f_code, frame.f_lasti))
        frame = frame.f_back
    if len(PROBE.left) < MOST_ERRORS:
        PROBE.left.append((step, frames))


def steps_left_by(chain):
    """Steps that one of these errors left. The innermost frame that is in the traceback stood at the same instruction then."""
    places = {}
    for error in chain:
        tb = error.__traceback__
        while tb is not None:
            places.setdefault((id(tb.tb_frame), tb.tb_frame.f_code), set()).add(tb.tb_lasti)
            tb = tb.tb_next
    steps = []
    for step, frames in PROBE.left:
        known = [(place, places[frame, code]) for frame, code, place in frames if (frame, code) in places]
        if known and known[0][0] in known[0][1]:
            steps.append(step)
    return steps


def look_at_end():
    """Registered with the first iterator, so it runs before what the program registered earlier, which may take long."""
    if not PROBE.looks_at_end:
        PROBE.looks_at_end = True
        atexit.register(raised_at_end)


@guarded
def raised_at_end():
    """The program ends. If an error ended it in a training step, says so."""
    error = sys.exc_info()[1]
    # A notebook continues after errors.
    if error is None and not hasattr(sys, "ps1"):
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    chain = []
    while error is not None and len(chain) < MOST_ERRORS and not any(one is error for one in chain):
        chain.append(error)
        error = error.__cause__ or error.__context__
    # A process that was started for a function ends by SystemExit once it has reported the error.
    named = [one for one in chain if not isinstance(one, (SystemExit, KeyboardInterrupt, GeneratorExit))]
    if not named or isinstance(chain[0], KeyboardInterrupt):
        return
    steps = [PROBE.errors[id(one)] for one in chain if id(one) in PROBE.errors]
    steps = steps or steps_left_by(chain)
    if not steps:
        at = now()
        steps = [(at, state.number, state.epoch, state.working) for state in steps_open() if state.is_open]
    for step in steps:
        if step is not None:
            PROBE.put('["raised",%d,%d,%d,%d,%s]\n' % (step + (text_of(error_text(named[0])),)))
    # It is reported once.
    for one in chain:
        remember_error(one, None)


def tell_left(iterator, state):
    """Workers that have ended, and how."""
    codes = [(i, quiet(lambda w=w: w.exitcode)) for i, w in enumerate(iterator._workers)]
    left = [list(ended) for ended in codes if ended[1] is not None]
    if left:
        PROBE.put('["left",%d,%d,%s]\n' % (now(), state.number, json.dumps(left)))


def begin_shut_down(iterator):
    """Answers whether that was done before."""
    state = iterator.__dict__.get("_loadscope")
    if state is not None and state.closing is None:
        state.closing = now()
    return getattr(iterator, "_shutdown", True)


@guarded
def shut_down(iterator):
    state = iterator.__dict__.get("_loadscope")
    if state is not None and state.is_ours and iterator._shutdown:
        tell_left(iterator, state)


class Ticking:
    """The indices of a task. Iterating them notes the time at each, and once more after the last. So the fetcher's own loop
    times its samples, and no frame of ours is around the user's code."""

    __slots__ = ("index", "fetch")

    def __init__(self, index, fetch):
        self.index = index
        self.fetch = fetch

    def __len__(self):
        return len(self.index)

    def __iter__(self):
        return ticks_of(self.index, self.fetch)


def ticks_of(index, fetch):
    return ticks(index, fetch) if fetch.cpus is None else cpu_ticks(index, fetch)


def ticks(index, fetch):
    clock, note = now, fetch.times.append
    try:
        for i in index:
            fetch.is_staged = False
            note(clock())
            yield i
    except GeneratorExit:
        # A stream of samples ended before the batch was full.
        fetch.stopped_at = clock()
        fetch.is_staged = True
        raise
    at = clock()
    note(at)
    fetch.is_staged = True
    if at - fetch.started > SLOW_BATCH:
        tell_collating(fetch, at)


def cpu_ticks(index, fetch):
    clock, note = now, fetch.times.append
    cpu, spent = thread_time, fetch.cpus.append
    try:
        for i in index:
            fetch.is_staged = False
            spent(cpu())
            note(clock())
            yield i
    except GeneratorExit:
        fetch.stopped_at = clock()
        fetch.is_staged = True
        raise
    at = clock()
    note(at)
    spent(cpu())
    fetch.is_staged = True
    if at - fetch.started > SLOW_BATCH:
        tell_collating(fetch, at)


@guarded
def tell_collating(fetch, at):
    fetch.told = True
    PROBE.put('["collate",%d,%s]\n' % (at, fetch.where))


class Fetch:
    """One batch that is being fetched."""

    # What most never have otherwise.
    cpus = collate = stages = core_wait = outer = None
    collating = stopped_at = 0
    told = is_slow = is_digested = False
    # True while no stage may begin: in another one, and once the samples are there.
    is_staged = False

    def stage(self, name, took):
        """A named step of the sample that is being fetched took so many nanoseconds."""
        at = len(self.times) - 1
        if self.stages is None:
            self.stages = {}
        walls = self.stages.get(name)
        if walls is None:
            # A program may make up a name for each sample.
            if name not in PROBE.stages and len(PROBE.stages) >= MOST_STAGES:
                return
            PROBE.stages.add(name)
            walls = self.stages[name] = []
        walls.extend([0] * (at + 1 - len(walls)))
        walls[at] += took


class Fetches:
    """What a fetcher did so far."""

    __slots__ = ("iterator", "generation", "count", "cpu", "is_iterable", "takes_long", "beside", "usual", "is_undivided")

    def __init__(self, iterator, generation, is_iterable):
        self.iterator = iterator
        self.generation = generation
        self.count = 0
        self.cpu = False
        self.is_iterable = is_iterable
        self.takes_long = False
        # What other threads of this process had computed when the last fetch ended.
        self.beside = None
        # What a batch took on average.
        self.usual = 0
        self.is_undivided = False


def takes_whole_batches(dataset):
    """True if a dataset that has `__getitems__` is asked for a batch at once. A Subset is, but goes through the indices itself if
    what it is part of has none."""
    subset = sys.modules["torch.utils.data"].Subset
    is_plain = type(dataset) is subset and not hasattr(dataset.dataset, "__getitems__")
    return not is_plain


@unseen
def collating(fetch, data):
    """In the place of the fetcher's `collate_fn`."""
    fetch.collating = now()
    fetch.is_staged = True
    if fetch.collating - fetch.started > SLOW_BATCH:
        tell_collating(fetch, fetch.collating)
    try:
        return fetch.collate(data)
    except BaseException as error:
        clean(error)
        raise


def begin_fetch(fetcher, fetches, index):
    """Answers what is noted, and what the fetcher gets as its indices."""
    try:
        state, outlet = fetches.iterator, PROBE.outlet
        if state is None:
            task, where = "", "null,%d,%d" % (fetches.generation, fetches.count)
            count = fetches.count
            fetches.count += 1
        else:
            if not state.is_open:
                return None
            state.fetching = batch = count = state.batch
            state.batch += 1
            where = "%d,%d,%d" % (state.number, state.epoch, batch)
            task = '["dispatch",%d,%s,null,%d,"%s"]\n' % (state.drawn, where, batch, indices_of(state))
        fetch = Fetch()
        fetch.where = where
        fetch.is_digested = count < PROBE.digests
        fetch.times = times = []
        # A dataset may iterate a loader of its own.
        fetch.outer = PROBE.here.fetch
        PROBE.here.fetch = fetch
        dataset = fetcher.dataset
        asks_for_all = not fetches.is_iterable and hasattr(dataset, "__getitems__")
        whole = asks_for_all and takes_whole_batches(dataset)
        given = index
        fetch.started = started = now()
        if fetcher.auto_collation and not whole:
            if fetches.cpu:
                fetch.cpus = []
            # Datasets are asked for one index after the other; only what is asked for all of them may want to know how many there are.
            given = Ticking(index, fetch) if asks_for_all or fetches.is_iterable else ticks_of(index, fetch)
        else:
            fetch.collate = fetcher.collate_fn
            fetcher.__dict__["collate_fn"] = functools.partial(collating, fetch)
            if not fetcher.auto_collation:
                times.append(started)
        outlet.lines.append('%s["begin",%d,%s]\n' % (task, started, where))
        if started >= outlet.due or outlet.keeper is None:
            outlet.press(started)
        if fetches.takes_long:
            fetch.core_wait = PROBE.core_wait.read()
        fetch.cpu = cpu = thread_time()
        if state is not None:
            # Without workers the trainer's own threads compute between fetches.
            fetches.beside = process_time() - cpu
        return fetch, given
    except Exception as error:
        if is_not_ours(error):
            raise
        return None


def end_fetch(fetcher, fetches, fetch, outcome):
    """A batch was fetched (0), its sample failed (1), there is none any more (2), or a signal ends the process (3)."""
    try:
        end = now()
        cpu = thread_time()
        computed = process_time()
        beside = computed - cpu
        core_wait = "null" if fetch.core_wait is None else between(fetch.core_wait, PROBE.core_wait.read())
        fetches.takes_long = end - fetch.started > CORE_WAIT_WORTHWHILE
        before, fetches.beside = fetches.beside, beside
        PROBE.here.fetch = fetch.outer
        times, collating = fetch.times, fetch.collating
        if fetch.collate is not None:
            fetcher.__dict__["collate_fn"] = fetch.collate
            if times and collating:
                times.append(collating)
        if outcome == 3 and fetches.iterator is None:
            # The worker did not finish this batch.
            return end
        count = len(times) - 1
        if outcome == 0 and count > 0 and fetch.collate is None:
            # What a stream needs to find out that it has ended is no collating.
            collating = fetch.stopped_at or times[-1]
            took = times[-1] - times[0]
            fetches.cpu = took > CPU_WORTHWHILE * count
            if not fetches.is_iterable:
                usual = fetches.usual
                fetch.is_slow = took > SLOW_FILE and took > 2 * usual
                fetches.usual = usual + (min(took, 4 * usual) - usual) // 8 if usual else took
        elif outcome in (1, 3) and not collating:
            # The sample that failed is the last one that was begun.
            count = len(times)
        cpus = packed(fetch.cpus) if fetch.cpus else ""
        stages = stages_of(fetch, count) if fetch.stages else "[]"
        if fetch.told:
            collating = 0
        beside = "null" if before is None else max(beside - before, 0)
        outlet = PROBE.outlet
        outlet.lines.append(
            '["fetch",%d,%s,%d,%d,%d,"%s","%s",%s,%d,%s,%s]\n'
            % (fetch.started, fetch.where, collating, end, 1 if outcome == 3 else outcome, packed(times), cpus, stages, cpu - fetch.cpu, core_wait, beside)
        )
        if fetches.iterator is not None:
            fetches.iterator.computed = computed
        elif end >= outlet.due or outlet.keeper is None:
            outlet.press(end)
        return end
    except Exception as error:
        if is_not_ours(error):
            raise
        return 0


@guarded
def tell_undivided(fetches):
    """The stream of a worker has ended, and nothing in the worker has asked which one it is."""
    if PROBE.sees_asking and not PROBE.asked and fetches.iterator is None and not fetches.is_undivided:
        fetches.is_undivided = True
        PROBE.put('["undivided",%d,%d]\n' % (now(), fetches.generation), False)


@guarded
def tell_file(dataset, fetch, index):
    """Names the file of the slowest sample of a batch that took long."""
    times = fetch.times
    if PROBE.named >= MOST_NAMES or type(index) not in PLAIN or len(times) != len(index) + 1:
        return
    walls = [after - before for before, after in zip(times, times[1:])]
    slowest = max(walls)
    position = walls.index(slowest)
    if len(walls) > 1 and slowest < 5 * (sum(walls) - slowest) // (len(walls) - 1):
        return
    name = file_of_sample(dataset, index[position])
    if name:
        PROBE.named += 1
        PROBE.put('["file",%d,%s,%d,%s]\n' % (now(), fetch.where, position, text_of(name, 400)), False)


def file_of_sample(dataset, index):
    """The file of a sample, as its dataset keeps it in a list. Nothing of the dataset is called."""
    if type(index) is not int:
        return None
    for _ in range(MOST_INSIDE):
        attributes = getattr(dataset, "__dict__", None)
        if type(attributes) is not dict:
            return None
        sizes, parts = attributes.get("cumulative_sizes"), attributes.get("datasets")
        if type(sizes) is list and type(parts) is list and len(sizes) == len(parts):
            part = next((at for at, size in enumerate(sizes) if index < size), None)
            if part is None:
                return None
            index -= sizes[part - 1] if part else 0
            dataset = parts[part]
            continue
        chosen = attributes.get("indices")
        if "dataset" in attributes and type(chosen) in (list, tuple, range) and 0 <= index < len(chosen) and type(chosen[index]) is int:
            index, dataset = chosen[index], attributes["dataset"]
            continue
        found = file_in(attributes, index)
        if found or "dataset" not in attributes:
            return found
        dataset = attributes["dataset"]
    return None


def file_in(attributes, index):
    """The entry that looks like a file, of the lists among these attributes; those with usual names come first."""
    names = [name for name in LISTS_OF_FILES if name in attributes]
    names += [name for name in itertools.islice(attributes, MOST_ATTRIBUTES) if name not in LISTS_OF_FILES]
    for name in names:
        values = attributes[name]
        if type(values) not in (list, tuple) and type(values).__name__ != "ndarray":
            continue
        # Lists that are not of samples are mostly shorter.
        if getattr(values, "ndim", 1) != 1 or not 0 <= index < len(values):
            continue
        found = file_named(values[index])
        if found:
            return found
    return None


def file_named(entry):
    """The first text in an entry that looks like the name of a file."""
    entries = entry if type(entry) in (tuple, list) else dict.values(entry) if type(entry) is dict else (entry,)
    for part in itertools.islice(entries, 8):
        text = str(part) if isinstance(part, (str, os.PathLike)) else ""
        if text and len(text) < 4096 and "\n" not in text and ("/" in text or os.sep in text or os.path.splitext(text)[1]):
            return text
    return None


@guarded
def note_break(fetches, error):
    """A sample that raises StopIteration in this process ends the epoch, and no error is seen."""
    state = fetches.iterator
    if state is not None and isinstance(error, StopIteration):
        state.broke_at = state.fetching


@guarded
def tell_misfit(fetch, index, error, code):
    """Says which sample does not fit to the others of its batch, if collating failed for that."""
    data = samples_of(error, code)
    if data is None or len(data) < 1:
        return
    if fetch.collate is None and not fetch.stopped_at and quiet(lambda: len(index)) != len(data):
        # A stream failed before the batch was full.
        return
    found = first_misfit(data)
    if found is None:
        return
    position, field, by, got, usual, alike = found
    about = (now(), fetch.where, position, text_of(field, 200), by, text_of(got, 200), text_of(usual, 200), alike)
    PROBE.put('["misfit",%d,%s,%d,%s,"%s",%s,%s,%d]\n' % about, False)


def samples_of(error, code):
    """The samples that were to be collated when an error was raised: the fetcher has them. `None` if it was raised elsewhere."""
    tb, data, collates = error.__traceback__, None, False
    while tb is not None:
        frame = tb.tb_frame
        if frame.f_code is code:
            data = frame.f_locals.get("data")
        elif data is not None:
            collates = collates or frame.f_globals.get("__name__") == "torch.utils.data._utils.collate"
        tb = tb.tb_next
    if type(data) not in (list, tuple):
        return None
    said = str(error) if isinstance(error, (RuntimeError, ValueError, TypeError, KeyError)) else ""
    return data if collates or any(words in said for words in DOES_NOT_FIT) else None


def first_misfit(data):
    """The first part of the samples in which they differ, and the sample that has another value than most: its position, the part,
    in what it differs, its value, that of most, and how many have that."""
    parts = [list(itertools.islice(parts_of_sample(sample, "", 0), MOST_PARTS)) for sample in data]
    for at in range(max(len(one) for one in parts)):
        values = [one[at] if at < len(one) else ("", "type", "nothing") for one in parts]
        counts = collections.Counter(values)
        if len(counts) == 1:
            continue
        usual, alike = counts.most_common(1)[0]
        position = next(place for place, value in enumerate(values) if value != usual)
        field, by, got = values[position]
        if by == usual[1]:
            return position, field, by, got, usual[2], alike
        return position, field or usual[0], "type", type_of(values[position]), type_of(usual), alike
    # All are alike: of a kind that cannot be collated.
    strange = next((one for one in parts[0] if one[1] == "type" and one[2] not in COLLATED), None)
    return None if strange is None else (0, strange[0], "type", strange[2], "", len(data))


def type_of(value):
    """The type of a part, which is reported by its name or by what it differs in."""
    return {"shape": "Tensor", "length": "list", "keys": "dict"}.get(value[1], value[2])


# Names of types that PyTorch's `default_collate` takes.
COLLATED = ("int", "float", "bool", "str", "bytes", "complex")


def parts_of_sample(sample, name, depth):
    """The parts of a sample: the name of each, in what it may differ, and its value."""
    kind = type(sample)
    if hasattr(sys.modules["torch"], "Tensor") and isinstance(sample, sys.modules["torch"].Tensor) or kind.__name__ == "ndarray":
        yield name, "shape", str(list(sample.shape))
    elif isinstance(sample, dict) and depth < 4:
        keys = [quiet(lambda key=key: str(key)[:100], "?") for key in itertools.islice(dict.keys(sample), MOST_FIELDS)]
        yield name, "keys", ", ".join(sorted(keys))
        for key, value in itertools.islice(dict.items(sample), MOST_FIELDS):
            yield from parts_of_sample(value, "%s[%s]" % (name, as_json(quiet(lambda key=key: str(key)[:100], "?"))), depth + 1)
    elif isinstance(sample, (list, tuple)) and depth < 4:
        entries = list(itertools.islice(list.__iter__(sample) if isinstance(sample, list) else tuple.__iter__(sample), MOST_FIELDS))
        yield name, "length", str(len(sample))
        for position, value in enumerate(entries):
            yield from parts_of_sample(value, "%s[%d]" % (name, position), depth + 1)
    else:
        yield name, "type", "None" if sample is None else kind.__name__


def stages_of(fetch, count):
    for walls in fetch.stages.values():
        walls.extend([0] * (count - len(walls)))
    return as_json([[name, packed(walls)] for name, walls in fetch.stages.items()])


@guarded
def tag_fetcher(fetcher, generation, is_iterable):
    fetcher.__dict__["_loadscope"] = Fetches(None, generation, is_iterable)


@guarded
def next_generation():
    PROBE.generation += 1
    more = "," + as_json(generators()) if PROBE.generation == 0 else ""
    PROBE.put('["fetcher",%d,%d%s]\n' % (now(), PROBE.generation, more))
    return PROBE.generation


def generators():
    """Digests of the states of the random generators that PyTorch seeds in every worker, beside its own. Reading a state draws nothing."""
    digests = {}
    numpy = getattr(sys.modules.get("numpy"), "random", None)
    if numpy is not None:
        digests["numpy"] = quiet(lambda: binascii.crc32(repr([x.tolist() if hasattr(x, "tolist") else x for x in numpy.get_state()]).encode()))
    python = sys.modules.get("random")
    if python is not None:
        digests["python"] = quiet(lambda: binascii.crc32(repr(python.getstate()).encode()))
    return {name: value for name, value in digests.items() if value is not None}


def look_into(data, fetch, at):
    """Names, types and shapes of a batch now and then; small pictures of it if they were asked for."""
    PROBE.looked = at
    fields = []
    leaves(data, "", fields, 0)
    if fetch.is_digested:
        digest = quiet(lambda: digest_of(data))
        if digest is not None:
            fields.append({"name": "", "dtype": "loadscope.digest", "shape": [1], "data": {"numbers": [digest]}})
    if fields:
        PROBE.put('["content",%d,%s,%s]\n' % (at, fetch.where, as_json(fields)))


def leaves(data, name, fields, depth):
    """The leaves of a batch: names, types and shapes of tensors, and what they hold if contents were asked for."""
    most = MOST_FIELDS_KEPT if PROBE.previews else MOST_FIELDS
    if len(fields) >= most or depth > 4:
        return
    torch = sys.modules["torch"]
    if type(data) is not torch.Tensor and type(data).__module__.startswith("torchvision.tv_tensors"):
        data = quiet(lambda: plain(data, torch), data)
    if type(data) is torch.Tensor:
        fields.append(field_of(data, name, torch, pictures_of))
        if PROBE.previews:
            fields.extend(quiet(lambda: waves_of(data, name, torch), ()))
    elif isinstance(data, dict):
        # Its own `items` may do anything; these are what it holds.
        for key, value in itertools.islice(dict.items(data), most):
            key = as_json(quiet(lambda key=key: str(key)[:100], type(key).__name__))
            leaves(value, "%s[%s]" % (name, key), fields, depth + 1)
    elif type(data) in (list, tuple) or isinstance(data, tuple) and hasattr(data, "_fields"):
        parts = list.__iter__(data) if type(data) is list else tuple.__iter__(data)
        parts = list(itertools.islice(parts, max(most, MOST_TEXTS)))
        if PROBE.previews and parts and all(type(part) is str for part in parts):
            fields.append(texts_of(parts, name, [len(data)]))
            return
        single = PROBE.previews and depth > 0 and quiet(lambda: are_pictures(parts, torch), False)
        for position, value in enumerate(parts[:most]):
            if single and len(fields) < most:
                pictures = one_picture if position < PROBE.previews else None
                fields.append(field_of(plain(value, torch), "%s[%d]" % (name, position), torch, pictures))
            else:
                leaves(value, "%s[%d]" % (name, position), fields, depth + 1)
    elif PROBE.previews and type(data) is str:
        fields.append(texts_of([data], name, []))


def digest_of(data):
    """The CRC-32 of the shapes of a batch and of values at even distances; `None` if there is nothing that can be compared."""
    parts = list(parts_of(data, 0))
    return binascii.crc32(repr(parts).encode("utf-8", "replace")) if parts else None


def parts_of(data, depth):
    """What is compared of a batch."""
    torch = sys.modules["torch"]
    if isinstance(data, collections.UserDict):
        data = data.data
    if isinstance(data, torch.Tensor):
        data = data.detach().as_subclass(torch.Tensor)
        if data.device.type == "cpu" and data.layout == torch.strided and not data.is_quantized:
            yield some_of(data)
    elif type(data).__module__ == "numpy" and hasattr(data, "dtype"):
        if data.dtype.kind in "biufc":
            yield some_of(data)
    elif depth > 4:
        return
    elif isinstance(data, dict):
        for key, value in itertools.islice(dict.items(data), MOST_FIELDS):
            for part in parts_of(value, depth + 1):
                yield text_of(key), part
    elif isinstance(data, (list, tuple)):
        for value in list(data)[:MOST_TEXTS]:
            yield from parts_of(value, depth + 1)
    elif type(data) in (str, bytes):
        yield data[:MOST_CHARACTERS]
    elif type(data) in (bool, int, float):
        yield data


def some_of(data):
    """The shape of a tensor or an array, and values of it from all rows and columns."""
    values = data.reshape(-1)
    count = len(values)
    step = max(1, count // DIGESTED)
    # A common divisor with the width would leave out columns.
    while gcd(step, count) > 1:
        step += 1
    return list(data.shape), values[::step][:DIGESTED].tolist()


def texts_of(texts, name, shape):
    return {"name": name, "dtype": "str", "shape": shape, "data": {"text": [text[:MOST_CHARACTERS] for text in texts[:MOST_TEXTS]]}}


def plain(data, torch):
    """What torchvision knows to be boxes or a mask, as a tensor; boxes by their corners."""
    if type(data) is torch.Tensor:
        return data
    form = getattr(getattr(data, "format", None), "name", "")
    data = data.as_subclass(torch.Tensor)
    if form == "XYWH":
        return torch.cat([data[..., :2], data[..., :2] + data[..., 2:]], -1)
    if form == "CXCYWH":
        return torch.cat([data[..., :2] - data[..., 2:] / 2, data[..., :2] + data[..., 2:] / 2], -1)
    return data


def field_of(data, name, torch, pictures):
    """A leaf; `pictures` answers those that are in it. Without it, no values are kept either."""
    field = {"name": name, "dtype": str(data.dtype), "shape": list(data.shape), "data": "omitted"}
    if PROBE.previews and pictures is not None:
        look = masks_of if name.endswith(MASKS) and len(data.shape) in (2, 3) else pictures
        found = quiet(lambda: look(data, torch))
        if found is not None:
            field["data"] = {"pictures": found}
        else:
            numbers = quiet(lambda: numbers_of(data, torch))
            if numbers is not None:
                field["data"] = {"numbers": numbers}
    return field


def numbers_of(data, torch):
    """The first values, row by row; `None` for what is elsewhere or has no real numbers."""
    if data.device.type != "cpu" or data.layout != torch.strided or data.dtype.is_complex or data.is_quantized:
        return None
    values = data.detach().reshape(-1)[:MOST_NUMBERS].tolist()
    return [float(value) if value - value == 0 else spelled(value) for value in values]


def spelled(value):
    """JSON has no infinities."""
    return "NaN" if value != value else "inf" if value > 0 else "-inf"


def are_pictures(parts, torch):
    """Whether these are pictures that do not stack: channels first, or last."""

    def is_picture(part):
        shape = part.shape
        sides = shape[1:] if shape[0] in (1, 3) else shape[:2]
        return len(shape) == 3 and (shape[0] in (1, 3) or shape[2] in (1, 3)) and min(sides) >= SMALLEST_PICTURE

    return len(parts) > 0 and all(isinstance(part, torch.Tensor) and len(part.shape) == 3 and is_picture(part) for part in parts)


def one_picture(data, torch):
    return pictures_of(data.unsqueeze(0), torch, LARGEST_ANNOTATED)


def masks_of(data, torch):
    """Masks of objects or of classes: numbers of classes as they are, by leaving pixels out."""
    if data.device.type != "cpu" or data.layout != torch.strided or not data.shape[0]:
        return None
    data = data.detach()
    data = (data.unsqueeze(0) if len(data.shape) == 2 else data)[:MOST_MASKS]
    if min(data.shape[1:]) < SMALLEST_PICTURE:
        return None
    step = max(1, -(-max(data.shape[1], data.shape[2]) // LARGEST_ANNOTATED))
    data = data[:, ::step, ::step].clamp(0, 255) if data.dtype != torch.bool else data[:, ::step, ::step]
    return packed_pictures(data.to(torch.uint8).unsqueeze(3))


def waves_of(data, name, torch):
    """The course of waveforms and their frequencies, as two fields that are not in the batch; nothing for what is none."""
    shape, lowered = data.shape, name.lower()
    named = any(word in lowered for word in WAVEFORMS)
    if data.device.type != "cpu" or data.layout != torch.strided or not (data.dtype.is_floating_point or data.dtype == torch.int16):
        return ()
    if len(shape) == 2 and named:
        data = data.unsqueeze(1)
    elif len(shape) != 3 or not (shape[1] <= 2 or named):
        return ()
    count, channels, frames = data.shape
    if not count or not 0 < channels <= 8 or frames < FEWEST_FRAMES:
        return ()
    data = data.detach()[: PROBE.previews].to(torch.float32)
    each = frames // COLUMNS
    parts = data[:, :, : each * COLUMNS].reshape(data.shape[0], channels, COLUMNS, each)
    parts = parts[..., :: max(1, each // 256)]
    curve = torch.nan_to_num(torch.stack([parts.amin(-1), parts.amax(-1)], -1), 0.0, 0.0, 0.0)
    first = torch.nan_to_num(data[:, 0], 0.0, 0.0, 0.0)
    window = torch.hann_window(WINDOW, dtype=torch.float32, device="cpu")
    places = torch.linspace(0, frames - WINDOW, COLUMNS, dtype=torch.float64, device="cpu").long()
    pieces = torch.stack([first[:, place : place + WINDOW] for place in places.tolist()], 1) * window
    power = torch.fft.rfft(pieces)[..., 1:].abs().square().clamp_min(1e-20).log10() * 10.0
    strongest = power.amax(dim=(1, 2), keepdim=True)
    light = ((1.0 - (strongest - power) / RANGE_DB).clamp(0.0, 1.0) * 255.0).to(torch.uint8)
    picture = light.transpose(1, 2).flip(1).unsqueeze(3)
    values = curve.reshape(-1).tolist()
    return (
        {"name": name + ".envelope", "dtype": "loadscope.envelope", "shape": list(curve.shape), "data": {"numbers": values}},
        {
            "name": name + ".spectrogram",
            "dtype": "loadscope.spectrogram",
            "shape": list(picture.shape[:3]),
            "data": {"pictures": packed_pictures(picture)},
        },
    )


def packed_pictures(data):
    """Bytes by batch, row, column, channel."""
    pixels = bytes(data.contiguous().view(-1).tolist())
    return {
        "width": data.shape[2],
        "height": data.shape[1],
        "channels": data.shape[3],
        "pixels": binascii.b2a_base64(pixels, newline=False).decode("ascii"),
    }


def pictures_of(data, torch, largest=LARGEST_PREVIEW):
    """The first pictures of a batch, scaled down by leaving pixels out; `None` if it has none."""
    if data.device.type != "cpu" or data.layout != torch.strided:
        return None
    data = as_pictures(data.detach(), torch)
    if data is None:
        return None
    data = data[: PROBE.previews]
    step = max(1, -(-max(data.shape[1], data.shape[2]) // largest))
    data = data[:, ::step, ::step, :]
    if data.dtype != torch.uint8:
        data = data.to(torch.float32)
        low, high = float(data.min()), float(data.max())
        if not high - low < float("inf"):
            return None
        if low < 0.0 or high > 1.0:
            data = (data - low) / ((high - low) or 1.0)
        data = (data * 255.0).to(torch.uint8)
    return packed_pictures(data)


def as_pictures(data, torch):
    """The same values as batch, row, column, channel, if they look like pictures: grey or colored, channels first or last. Grey
    ones without a channel are bytes; as other numbers they would be sequences of vectors."""
    shape = data.shape
    if data.dtype != torch.uint8 and not data.dtype.is_floating_point:
        return None
    if len(shape) == 3 and data.dtype == torch.uint8:
        data = data.unsqueeze(3)
    elif len(shape) == 4 and shape[1] in (1, 3) and min(shape[2:]) >= SMALLEST_PICTURE:
        data = data.permute(0, 2, 3, 1)
    elif len(shape) != 4 or shape[3] not in (1, 3):
        return None
    return data if shape[0] and min(data.shape[1:3]) >= SMALLEST_PICTURE else None


look_into_guarded = guarded(look_into)


def once(owner, name):
    """The attribute to be wrapped; None if it is not there or was wrapped before."""
    original = vars(owner).get(name) if isinstance(owner, type) else getattr(owner, name, None)
    if isinstance(original, staticmethod):
        original = original.__func__
    if original is None or getattr(original, "_loadscope", False):
        return None
    return original


# What was put in the place of what: the owner, the name, ours, and what was there.
PLACED = []


def place(owner, name, ours):
    PLACED.append((owner, name, ours, vars(owner).get(name)))
    setattr(owner, name, ours)


def put_back():
    """Everything is as it was, except where another has put something in our place."""
    while PLACED:
        owner, name, ours, before = PLACED.pop()
        if vars(owner).get(name) is ours:
            setattr(owner, name, before)


def put_in(owner, name, wrapper, original, static=False):
    unseen(wrapper)
    wrapper._loadscope = True
    for part in ("__module__", "__name__", "__qualname__", "__doc__"):
        quiet(lambda part=part: setattr(wrapper, part, getattr(original, part)))
    wrapper.__wrapped__ = original
    place(owner, name, staticmethod(wrapper) if static else wrapper)


def passing(owner, name, before=None, after=None):
    """Wraps a method: `before(self, args, kwargs)` answers what `after(self, that, result)` is given."""
    original = once(owner, name)
    if original is None:
        return

    def wrapper(self, *args, **kwargs):
        noted = before(self, args, kwargs) if before is not None else None
        try:
            result = original(self, *args, **kwargs)
        except BaseException as error:
            clean(error)
            raise
        if after is not None:
            try:
                after(self, noted, result)
            except BaseException as error:
                clean(error)
                raise
        return result

    put_in(owner, name, wrapper, original)


def hook_next(owner):
    original = once(owner, "__next__")
    if original is None:
        return

    def __next__(self):
        try:
            if PROBE.until is not None and is_enough(self):
                # Everything that stands in a `finally` or a `with` is done, `except Exception` does not stop it, and there is no
                # traceback. A shell takes the code for Ctrl-C, and does not go on.
                raise SystemExit(130)
            noted = asked(self)
        except BaseException as error:
            # A signal struck before the iterator was asked.
            outside(self)
            clean(error)
            raise
        try:
            data = original(self)
        except StopIteration as error:
            clean(error)
            if noted is not None:
                try:
                    stopped(noted)
                except BaseException as struck:
                    # A signal struck while the end was reported.
                    clean(struck)
                    raise
            raise
        except BaseException as error:
            clean(error)
            if noted is not None:
                try:
                    failed(self, noted, error)
                except BaseException as struck:
                    # A second signal struck while the first was reported.
                    clean(struck)
                    raise
            raise
        if noted is not None:
            try:
                answered(self, noted)
            except BaseException as error:
                # A signal struck while the batch was reported.
                clean(error)
                raise
        return data

    put_in(owner, "__next__", __next__, original)


def hook_index(owner):
    original = once(owner, "_next_index")
    if original is None:
        return

    def _next_index(self, *args, **kwargs):
        try:
            index = original(self, *args, **kwargs)
        except BaseException as error:
            clean(error)
            raise
        state = self.__dict__.get("_loadscope")
        if state is not None and state.is_open:
            state.index = index
            # Before it is put into the queue, so that no worker can have it earlier.
            state.drawn = now()
        return index

    put_in(owner, "_next_index", _next_index, original)


def hook_put(owner):
    original = once(owner, "_try_put_index")
    if original is None:
        return

    def _try_put_index(self, *args, **kwargs):
        before = self.__dict__.get("_send_idx", 0)
        try:
            result = original(self, *args, **kwargs)
        except BaseException as error:
            clean(error)
            raise
        dispatched(self, before)
        return result

    put_in(owner, "_try_put_index", _try_put_index, original)


def hook_get(owner):
    original = once(owner, "_try_get_data")
    if original is None:
        return

    def _try_get_data(self, *args, **kwargs):
        try:
            result = original(self, *args, **kwargs)
        except BaseException as error:
            clean(error)
            raise
        if result[0]:
            arrived(self, result[1])
        return result

    put_in(owner, "_try_get_data", _try_get_data, original)


# By name of a file as code has it: whose it is, its whole path, and what it is called.
FILES = {}
OF_PROGRAM, OF_PACKAGE, PASSED_OVER = range(3)


def file_of(frame):
    """Whose the file is that a frame runs, its whole path, and what it is called."""
    name = frame.f_code.co_filename
    known = FILES.get(name)
    if known is None:
        if len(FILES) >= MOST_FILES:
            FILES.clear()
        known = FILES[name] = judged(name, str(frame.f_globals.get("__name__", "")))
    return known


def cell_of(name):
    """The cell of a notebook with this file name: `In [3]`. `None` for every other file."""
    shell = quiet(lambda: sys.modules["IPython"].get_ipython())
    number = quiet(lambda: int(shell.compile._filename_map[name])) if shell is not None else None
    return None if number is None else "In [%d]" % number


def judged(name, module):
    cell = cell_of(name)
    if cell is not None:
        return (OF_PROGRAM, name, cell)
    if name in OURS or name.startswith("<frozen ") or module.partition(".")[0] in FRAMEWORKS:
        return (PASSED_OVER, name, name)
    if name.startswith("<"):
        # What is typed in, or given with `-c`.
        return (OF_PROGRAM, name, name)
    path = os.path.abspath(name)
    folder, short = os.path.split(path)
    if short in ("__init__.py", "__main__.py"):
        short = os.path.basename(folder) + "/" + short
    parts = folder.split(os.sep)
    if "site-packages" in parts or "dist-packages" in parts:
        return (OF_PACKAGE, path, short)
    library = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
    return (PASSED_OVER if path.startswith(library) else OF_PROGRAM, path, short)


def makes_itself(frame, loader):
    """True of the `__init__` of a class that is derived from DataLoader, while it makes this one."""
    code = frame.f_code
    return code.co_name == "__init__" and code.co_argcount > 0 and frame.f_locals.get(code.co_varnames[0]) is loader


@guarded
def place_of_call(loader, frame):
    """Where a loader is being made: the file, the line, and both in short, `train.py:42`. The innermost line of the program's
    own; without one, of a package that is no framework. A loader that a framework makes anew is where the one before was."""
    nearest = None
    for _ in range(MOST_FRAMES):
        if frame is None:
            break
        whose, path, short = file_of(frame)
        if whose == PASSED_OVER:
            if "dataloader" in frame.f_code.co_varnames:
                before = frame.f_locals.get("dataloader")
                if place_of(before) is not None:
                    remade(loader, before)
                    return place_of(before)
        elif not makes_itself(frame, loader):
            place = (path, frame.f_lineno, "%s:%d" % (short, frame.f_lineno))
            if whose == OF_PROGRAM:
                return place
            nearest = nearest or place
        frame = frame.f_back
    return nearest


def remade(loader, before):
    """A framework makes a loader from another one. It hands the batch sampler on that PyTorch had made from the arguments of the
    program, which gave none."""
    batches = quiet(lambda: before.batch_sampler)
    if quiet(lambda: before.batch_size) is not None or is_remade(before):
        if type(batches) is sys.modules["torch.utils.data"].BatchSampler:
            key = id(loader)
            PROBE.remade[key] = weakref.ref(loader, lambda gone: PROBE.remade.pop(key, None))


def is_remade(loader):
    """The program gave no batch sampler, whatever the loader has."""
    known = PROBE.remade.get(id(loader))
    return known is not None and known() is loader


def place_of(loader):
    """Where a loader was made: file, line, and both in short. `None` if that is unknown: of a copy, say."""
    return settled(loader)[0]


def settled(loader):
    """Where a loader was made, and what was set in it."""
    known = PROBE.places.get(id(loader))
    return known[1:] if known is not None and known[0]() is loader else (None, {})


@guarded
def settle(loader, place, what_was_set):
    """Remembers where a loader was made. It has no attribute for that: programs show, compare and pickle theirs."""
    if place is None and not what_was_set:
        return
    places, key = PROBE.places, id(loader)

    def gone(reference):
        if places.get(key, (None,))[0] is reference:
            del places[key]

    places[key] = (weakref.ref(loader, gone), place, what_was_set or {})


# What DataLoader does without these arguments.
DEFAULTS = {
    "num_workers": 0,
    "prefetch_factor": None,
    "persistent_workers": False,
    "pin_memory": False,
    "in_order": True,
    "multiprocessing_context": None,
    "timeout": 0,
}
# Without workers these are refused.
OF_WORKERS = ("prefetch_factor", "persistent_workers", "multiprocessing_context", "timeout")


@guarded
def arguments_set(original, args, kwargs, place):
    """The arguments that a loader is to get instead of its own, and which of them are others than before, in words. `None` if
    no others were asked for. What this release of PyTorch does not know is left out."""
    if not is_meant(PROBE.set, place):
        return None
    code = original.__code__
    positional = code.co_varnames[1 : code.co_argcount]
    names = positional + code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    if len(args) > len(positional):
        return None
    given = dict(zip(positional, args))
    if not given.keys().isdisjoint(kwargs):
        return None
    given.update(kwargs)
    others = dict(given)
    others.update((name, value) for name, value in PROBE.set["set"].items() if name in names and name in DEFAULTS)
    if not others.get("num_workers"):
        for name in OF_WORKERS:
            others.pop(name, None)
    changed = []
    for name, default in DEFAULTS.items():
        before, after = given.get(name, default), others.get(name, default)
        if before is not after and before != after:
            changed.append("%s=%s (it was %s)" % (name, told_value(after), told_value(before)))
    return others, ", ".join(changed)


def told_value(value):
    if value is None or type(value) in (bool, int, float, str):
        return repr(value)
    return quiet(lambda: repr(value.get_start_method())) or type(value).__name__


@unseen
def make_otherwise(loader, original, args, kwargs, place):
    """Makes a loader with the arguments that are set. Answers what to say of that; `None` if it is not made yet. One that cannot be
    made like that gets the arguments of the program."""
    instead = arguments_set(original, args, kwargs, place)
    if instead is None:
        return None, None
    others, changed = instead
    if not changed:
        return None, None
    before = dict(loader.__dict__)
    try:
        original(loader, **others)
    except Exception as error:
        if is_of_signal(error):
            clean(error)
            raise
        loader.__dict__.clear()
        loader.__dict__.update(before)
        said = quiet(lambda: str(error), "").strip().split("\n")[0][:300]
        return False, {"not_set": "%s: %s" % (type(error).__name__, said)}
    return True, {"set": changed}


def hook_construction(owner):
    """`DataLoader(…)`."""
    original = once(owner, "__init__")
    if original is None:
        return

    def __init__(self, *args, **kwargs):
        place = place_of_call(self, sys._getframe(1))
        is_made = what_was_set = None
        try:
            if PROBE.set is not None:
                is_made, what_was_set = make_otherwise(self, original, args, kwargs, place)
            if not is_made:
                original(self, *args, **kwargs)
        except BaseException as error:
            clean(error)
            raise
        settle(self, place, what_was_set)

    put_in(owner, "__init__", __init__, original)
    # Some ask for the arguments in a way that does not look behind wrappers.
    quiet(lambda: setattr(__init__, "__signature__", sys.modules["inspect"].signature(original)))


def hook_base_init(owner):
    original = once(owner, "__init__")
    if original is None:
        return

    def __init__(self, loader, *args, **kwargs):
        started = now()
        seeds = quiet(lambda: seeds_of(loader))
        try:
            original(self, loader, *args, **kwargs)
        except BaseException as error:
            clean(error)
            raise
        begin_iterator(self, loader, started, seeds)

    put_in(owner, "__init__", __init__, original)


def hook_fetch(owner, is_iterable):
    original = once(owner, "fetch")
    if original is None:
        return

    def fetch(self, possibly_batched_index):
        fetches = self.__dict__.get("_loadscope")
        begun = begin_fetch(self, fetches, possibly_batched_index) if fetches is not None else None
        if begun is None:
            return original(self, possibly_batched_index)
        noted, given = begun
        try:
            data = original(self, given)
        except BaseException as error:
            ended = is_iterable and isinstance(error, StopIteration)
            try:
                if ended:
                    tell_undivided(fetches)
                else:
                    note_break(fetches, error)
                    tell_misfit(noted, possibly_batched_index, error, original.__code__)
            except BaseException as struck:
                clean(struck)
                raise
            end_fetch(self, fetches, noted, 2 if ended else 1 if isinstance(error, Exception) else 3)
            clean(error)
            raise
        try:
            end = end_fetch(self, fetches, noted, 0)
            if noted.is_slow:
                tell_file(self.dataset, noted, possibly_batched_index)
            if end - PROBE.looked >= LOOK_EVERY or noted.is_digested:
                look_into_guarded(data, noted, end)
        except BaseException as error:
            clean(error)
            raise
        return data

    put_in(owner, "fetch", fetch, original)


def hook_create_fetcher(owner):
    original = once(owner, "create_fetcher")
    if original is None:
        return

    def create_fetcher(kind, *args, **kwargs):
        in_worker = sys._getframe(1).f_code.co_name == "_worker_loop"
        generation = next_generation() if in_worker else None
        try:
            fetcher = original(kind, *args, **kwargs)
        except BaseException as error:
            clean(error)
            raise
        if in_worker:
            tag_fetcher(fetcher, generation, kind == 1)
        return fetcher

    put_in(owner, "create_fetcher", create_fetcher, original, static=True)


def hook_pin(module):
    original = once(module, "pin_memory")
    if original is None:
        return
    inside = threading.local()

    def pin_memory(data, *args, **kwargs):
        # It calls itself for what is inside a batch.
        if getattr(inside, "yes", False):
            return original(data, *args, **kwargs)
        inside.yes = True
        start = now()
        try:
            result = original(data, *args, **kwargs)
        except BaseException as error:
            inside.yes = False
            clean(error)
            raise
        inside.yes = False
        pinned_one(start, now())
        return result

    put_in(module, "pin_memory", pin_memory, original)


@guarded
def pinned_one(start, end):
    state = PROBE.here.single
    if state is not None:
        about = (start, state.number, state.epoch, state.batch - 1, end)
        PROBE.put('["pin",%d,%d,%d,%d,%d]\n' % about, False)
        return
    thread = threading.get_ident()
    spans = PROBE.pinned.get(thread)
    if spans is None:
        if len(PROBE.pinned) > 64:
            PROBE.pinned.pop(next(iter(PROBE.pinned)))
        spans = PROBE.pinned[thread] = collections.deque(maxlen=100_000)
    spans.append((start, end))


def first_of(args, kwargs):
    return bool(args[1] if len(args) > 1 else kwargs.get("first_iter", False))


def hook_workers(owner):
    """An iterator with workers: PyTorch's, or torchdata's, which has a copy of everything."""
    hook_put(owner)
    hook_get(owner)
    passing(
        owner,
        "_shutdown_workers",
        lambda self, args, kwargs: begin_shut_down(self),
        lambda self, was, result: None if was else shut_down(self),
    )


def hook_worker_info(module):
    """`get_worker_info`, under all names that PyTorch has for it."""
    worker = module._utils.worker
    original = once(worker, "get_worker_info")
    if original is None:
        return
    data = sys.modules.get("torch.utils.data")
    # Before PyTorch's own package has it, no program has.
    PROBE.sees_asking = not hasattr(data, "get_worker_info")

    def get_worker_info():
        # `default_collate` calls it for each batch of tensors. That does not divide a stream.
        if sys._getframe(1).f_globals.get("__name__") != "torch.utils.data._utils.collate":
            PROBE.asked = True
        return original()

    put_in(worker, "get_worker_info", get_worker_info, original)
    for owner in (module, data):
        if vars(owner).get("get_worker_info") is original:
            place(owner, "get_worker_info", get_worker_info)


def hook_dataloader(module):
    """torch.utils.data.dataloader"""
    hook_construction(module.DataLoader)
    base = module._BaseDataLoaderIter
    hook_base_init(base)
    hook_next(base)
    passing(base, "_reset", lambda self, args, kwargs: begin_epoch(self, first_of(args, kwargs), args[0] if args else kwargs.get("loader")))
    hook_index(base)
    passing(module.DataLoader, "__len__", None, lambda self, noted, result: told_length(self, result))
    hook_workers(module._MultiProcessingDataLoaderIter)
    hook_create_fetcher(module._DatasetKind)
    fetch = module._utils.fetch
    hook_fetch(fetch._MapDatasetFetcher, False)
    hook_fetch(fetch._IterableDatasetFetcher, True)
    hook_pin(module._utils.pin_memory)
    hook_worker_info(module)
    if sys.version_info < (3, 11):
        hook_old_tracebacks()
    greet()


def greet():
    """Says at once that this process is reached, if there is a listener."""
    if ASKED.get("LOADSCOPE_PROBE_TO", "").startswith(("unix:", "tcp:")):
        quiet(lambda: PROBE.put(""))


def hook_stateful(module):
    """torchdata.stateful_dataloader.stateful_dataloader"""
    hook_construction(module.StatefulDataLoader)
    hook_workers(module._StatefulMultiProcessingDataLoaderIter)


def hook_module(module):
    """torch.nn.modules.module"""

    def begins(self, args, kwargs):
        if self.__dict__.get("training", False):
            begin_aside("evaluation", self)

    def ends(self, args, kwargs):
        if PROBE.here.aside is not None and (args[0] if args else kwargs.get("mode", True)):
            end_aside(self)

    passing(module.Module, "eval", guarded(begins))
    passing(module.Module, "train", guarded(ends))


def hook_grad_mode(module):
    """torch.autograd.grad_mode"""
    for owner in (module.inference_mode, module.no_grad):
        passing(owner, "__enter__", enters_without_gradients)
        passing(owner, "__exit__", lambda self, args, kwargs: end_aside(self))


@guarded
def enters_without_gradients(context, args, kwargs):
    """Training code, too, does without gradients: in an optimizer, for a metric. Evaluations mostly are in a function called so."""
    if PROBE.living and (type(context).__name__ == "inference_mode" or is_in_evaluation(sys._getframe(1))):
        begin_aside("evaluation", context)


def is_in_evaluation(frame):
    while frame is not None and frame.f_code.co_filename in OURS:
        frame = frame.f_back
    if frame is None:
        return False
    name = frame.f_code.co_name
    if name == "decorate_context":
        name = getattr(frame.f_locals.get("func"), "__name__", "")
    name = name.lower()
    return any(word in name for word in EVALUATIONS) or "val" in name.split("_")


def hook_saving(module, *names):
    """Functions that write checkpoints."""
    package = sys.modules.get(module.__name__.rpartition(".")[0])
    for name in names:
        original = once(module, name)
        if original is None:
            continue
        save = saving(original)
        put_in(module, name, save, original)
        if vars(package).get(name) is original:
            place(package, name, save)


def saving(original):
    def save(*args, **kwargs):
        key = object()
        begin_aside("checkpoint", key)
        try:
            result = original(*args, **kwargs)
        except BaseException as error:
            end_aside(key)
            clean(error)
            raise
        end_aside(key)
        return result

    return save


def hook_start_method(module):
    """multiprocessing.popen_spawn_posix, multiprocessing.popen_forkserver: they pickle what a process gets into a buffer, and ask once
    for its contents, to send them."""
    original = module.io
    if getattr(original, "_loadscope", False):
        return
    method = module.Popen.method

    class BytesIO(io.BytesIO):
        def __init__(self, *args):
            try:
                super().__init__(*args)
                self.started = now()
            except BaseException as error:
                clean(error)
                raise

        def getbuffer(self):
            try:
                contents = super().getbuffer()
                note_sent(self.started, contents.nbytes, method)
            except BaseException as error:
                clean(error)
                raise
            return contents

    place(module, "io", types.SimpleNamespace(**dict(vars(original), BytesIO=BytesIO, _loadscope=True)))


@guarded
def note_sent(started, size, method):
    if len(PROBE.sent) < MOST_FORKS:
        PROBE.sent.append((started, now(), size, method))


def hook_old_tracebacks():
    """Before Python 3.11 a frame that raises again what it caught cannot leave the traceback by itself."""
    utils = sys.modules["torch._utils"]
    original = once(utils.ExceptionWrapper, "__init__")
    if original is not None:

        def __init__(self, exc_info=None, *args, **kwargs):
            if exc_info is None:
                exc_info = sys.exc_info()
            if exc_info[2] is not None:
                quiet(lambda: spliced(exc_info[2]))
            original(self, exc_info, *args, **kwargs)

        put_in(utils.ExceptionWrapper, "__init__", __init__, original)
    before = sys.excepthook

    def excepthook(kind, value, tb):
        seen = value
        for _ in range(100):
            if seen is None:
                break
            quiet(lambda: spliced(seen.__traceback__))
            seen = seen.__cause__ or seen.__context__
        before(kind, value, tb)

    place(sys, "excepthook", excepthook)


def begin_stage():
    """Answers the fetch whose sample is in a stage from now on, the place of that sample, and when the stage began; `None` if no
    sample is fetched here, or it is in a stage already."""
    fetch = PROBE.here.fetch
    if fetch is None or fetch.is_staged or not fetch.times:
        return None
    fetch.is_staged = True
    return fetch, len(fetch.times), now()


def leave_stage(begun):
    """Answers whether its sample is still the one that is fetched: a generator may be left in the middle of a stage."""
    if begun is None or len(begun[0].times) != begun[1]:
        return False
    begun[0].is_staged = False
    return True


def end_stage(begun, name):
    """The stage that `begin_stage` began is over; `loadscope.stage` of the Python package calls it, too."""
    at = now()
    if leave_stage(begun):
        begun[0].stage(name, at - begun[2])


def hook_stage(owner, name, stage, is_due=None):
    """A method whose time is that of a stage, unless it is called inside of another one. `is_due`: whether the object still has this
    work before it. Functions of modules stay as they are: a program that keeps one could not pickle it after the recording."""
    original = once(owner, name)
    if original is None:
        return

    def wrapper(self, *args, **kwargs):
        begun = None
        if PROBE.here.fetch is not None and (is_due is None or is_due(self)):
            begun = begin_stage()
        try:
            result = original(self, *args, **kwargs)
        except BaseException as error:
            if begun is not None:
                end_stage(begun, stage)
            clean(error)
            raise
        if begun is not None:
            end_stage(begun, stage)
        return result

    put_in(owner, name, wrapper, original)


def hook_pillow_files(module):
    """PIL.ImageFile"""
    hook_stage(module.ImageFile, "load", "Image.load", guarded(has_tiles))


def has_tiles(picture):
    """False for a picture that was decoded."""
    return bool(picture.tile)


class StandIn:
    """A Compose whose steps are timed while its own code goes through them."""

    def __init__(self, compose, fetch):
        self._compose = compose
        self.transforms = timed_steps(compose.transforms, fetch)

    def __getattr__(self, name):
        return getattr(self._compose, name)


def timed_steps(transforms, fetch):
    for transform in transforms:
        start = now()
        yield transform
        fetch.stage(type(transform).__name__, now() - start)


def hook_compose(owner, name):
    original = once(owner, name)
    if original is None:
        return

    def wrapper(self, *args, **kwargs):
        # One that is a step of another one is that step.
        begun = begin_stage()
        try:
            result = original(self if begun is None else StandIn(self, begun[0]), *args, **kwargs)
        except BaseException as error:
            leave_stage(begun)
            clean(error)
            raise
        leave_stage(begun)
        return result

    put_in(owner, name, wrapper, original)


# Libraries that load data without a DataLoader, and what they are called.
OTHERS = {
    "torchdata.nodes": "torchdata.nodes",
    "nvidia.dali.plugin.pytorch": "NVIDIA DALI",
    "ffcv.loader": "FFCV",
    "spdl.pipeline": "SPDL",
    "grain": "Grain",
    "streaming.base.dataset": "MosaicML Streaming",
    "litdata.streaming.dataset": "LitData",
}

HOOKS = {
    # At once: PyTorch takes seconds to be imported, and the listener wonders about processes that load its libraries.
    "torch.version": lambda module: greet(),
    "multiprocessing.popen_spawn_posix": hook_start_method,
    "multiprocessing.popen_forkserver": hook_start_method,
    "torch.utils.data.dataloader": hook_dataloader,
    "torchdata.stateful_dataloader.stateful_dataloader": hook_stateful,
    "torch.nn.modules.module": hook_module,
    "torch.autograd.grad_mode": hook_grad_mode,
    "torch.serialization": lambda module: hook_saving(module, "save"),
    "torch.distributed.checkpoint.state_dict_saver": lambda module: hook_saving(module, "save"),
    "safetensors.torch": lambda module: hook_saving(module, "save_file", "save_model"),
    "torchvision.transforms.transforms": lambda module: hook_compose(module.Compose, "__call__"),
    "torchvision.transforms.v2._container": lambda module: hook_compose(module.Compose, "forward"),
    "PIL.Image": lambda module: hook_stage(module.Image, "convert", "Image.convert"),
    "PIL.ImageFile": hook_pillow_files,
    # These formats decode before the method of all formats is called.
    "PIL.WebPImagePlugin": lambda module: hook_stage(module.WebPImageFile, "load", "Image.load"),
    "PIL.AvifImagePlugin": lambda module: hook_stage(module.AvifImageFile, "load", "Image.load"),
    "PIL.TiffImagePlugin": lambda module: hook_stage(module.TiffImageFile, "load", "Image.load"),
}


def hook(module, name):
    try:
        HOOKS[name](module)
    except Exception as error:
        PROBE.trouble(error)


class Finder:
    """Hooks modules once they have been imported."""

    def __init__(self):
        # CPU time from here to the start of the last import that PyTorch itself makes. None if PyTorch was imported before.
        self.import_ns = None
        self.begun = time.process_time_ns()
        self.measures = True

    def measure(self):
        """Measures the import of PyTorch. A hook of its own would be in the traceback of an import that fails."""
        torch = sys.modules.get("torch")
        if torch is None:
            return
        if getattr(getattr(torch, "__spec__", None), "_initializing", False):
            self.import_ns = time.process_time_ns() - self.begun
        else:
            self.measures = False

    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            self.begun = time.process_time_ns()
        elif self.measures:
            quiet(self.measure)
        if name in OTHERS:
            quiet(lambda: PROBE.put('["other",%d,%s]\n' % (now(), text_of(OTHERS[name]))))
            return None
        if name not in HOOKS:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is None:
                continue
            self.follow(spec, name)
            return spec
        return None

    @staticmethod
    def follow(spec, name):
        loader = spec.loader
        execute = getattr(loader, "exec_module", None)
        if execute is None:
            return

        @unseen
        def exec_module(module):
            quiet(lambda: loader.__dict__.pop("exec_module"))
            execute(module)
            hook(module, name)

        # The loader of a file is made for this module alone.
        quiet(lambda: loader.__dict__.__setitem__("exec_module", exec_module))


PROBE = Probe()
FINDER = Finder()


def install():
    """Puts the hooks in; also again, after `leave`, with what the environment says then."""
    PROBE.asks()
    PROBE.fresh()
    for name in HOOKS:
        if name in sys.modules:
            hook(sys.modules[name], name)
    sys.meta_path.insert(0, FINDER)
    atexit.register(PROBE.bye)


def leave():
    """Ends the stream of this process and takes the hooks out; the program goes on without them."""
    put_back()
    if FINDER in sys.meta_path:
        sys.meta_path.remove(FINDER)
    atexit.unregister(PROBE.bye)
    PROBE.leave()
    ASKED.clear()


try:
    from socket import MSG_NOSIGNAL as NO_SIGNAL
except ImportError:
    NO_SIGNAL = 0
from socket import timeout as socket_timeout

if hasattr(os, "register_at_fork"):
    # They stay, for what is registered there cannot be taken back.
    os.register_at_fork(before=PROBE.before_fork, after_in_parent=PROBE.after_fork, after_in_child=PROBE.forked)
install()
