"""Waits for a request to record, in programs of an environment with ``python -m loadscope install``.

It is loaded by programs that import PyTorch, and by no others. Then it looks, when an iterator of a ``DataLoader`` is made, whether there is a file
in a folder of the user's; ``loadscope attach`` and ``loadscope record`` put it there. The file says where to tell. No code is taken from it, and
nothing in it is believed unless folder, file and socket belong to this user and no one else can write to them.

Nothing is put around PyTorch's functions: the two methods are found through a descriptor, which looks and returns the original. So there is no
frame of ours in any traceback.
"""

import os
import stat
import sys
import time

FOLDER = os.path.join(".local", "share", "loadscope", "attach")
MODULE = "torch.utils.data.dataloader"
METHODS = ("__init__", "_reset")
# Bytes that a request has at most.
MOST = 16384
# Seconds between two looks, and nanoseconds after which the time of a folder tells whether it has changed.
EVERY = 0.05
SETTLED = 2_000_000_000
# Processes above this one that are asked for.
MOST_ABOVE = 32


def home():
    """That of the password database: a wrapper may have cleared the environment."""
    try:
        import pwd

        return pwd.getpwuid(os.geteuid()).pw_dir
    except (ImportError, KeyError):
        return os.environ.get("HOME", "")


def process(pid):
    """The process above, and when this one began."""
    with open("/proc/%d/stat" % pid, "rb") as file:
        # The name before it may hold anything.
        words = file.read(4096).rpartition(b")")[2].split()
    return int(words[1]), int(words[19])


def boot():
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def is_mine(found):
    """It belongs to this user, and no one else can write to it."""
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022


def told(path, pid, began, boot_id):
    """What a request says, if it is about this process."""
    import json

    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or not is_mine(found):
            return None
        said = json.loads(os.read(descriptor, MOST).decode("utf-8"))
    finally:
        os.close(descriptor)
    if (said["loadscope_attach"], said["pid"], said["start"], said["boot"]) != (1, pid, began, boot_id):
        return None
    to, token, previews = said["to"], said["token"], said["previews"]
    if not (isinstance(to, str) and isinstance(token, str) and isinstance(previews, int) and to.startswith("unix:/")):
        return None
    # The listener may be gone, and its folder another one's.
    if not is_mine(os.lstat(os.path.dirname(to[len("unix:") :]))):
        return None
    return to, token, previews


class Dormant:
    """What waits in this process."""

    def __init__(self):
        self.folder = os.path.join(home(), FOLDER)
        # By name what stands in the place of a method.
        self.looks = {}
        # Variables that were set, and what they were.
        self.before = {}
        # When to look again, and what the folder was like when nothing for this process was in it.
        self.due = 0.0
        self.seen = None

    def asked(self):
        """Where this process is to tell, if it is asked to."""
        try:
            found = os.lstat(self.folder)
        except OSError:
            return None
        if found.st_mtime_ns == self.seen:
            return None
        if not stat.S_ISDIR(found.st_mode) or not is_mine(found) or found.st_mode & 0o077:
            return None
        names = os.listdir(self.folder)
        said = self.found(names) if names else None
        # A clock of coarse ticks may give the next request the same time.
        if said is None and abs(time.time_ns() - found.st_mtime_ns) > SETTLED:
            self.seen = found.st_mtime_ns
        return said

    def found(self, names):
        """What one of these requests says to this process, or to one above it."""
        boot_id = boot()
        pid = os.getpid()
        for _ in range(MOST_ABOVE):
            above, began = process(pid)
            name = "%s-%d.json" % (boot_id[:8], pid)
            if name in names:
                said = told(os.path.join(self.folder, name), pid, began, boot_id)
                if said is not None:
                    return said
            if above <= 1:
                break
            pid = above
        return None

    def look(self):
        """Begins to tell if it is asked for. Whatever goes wrong, the program goes on."""
        now = time.monotonic()
        if now < self.due:
            return
        self.due = now + EVERY
        try:
            said = self.asked()
            if said is not None and "LOADSCOPE_PROBE_TO" not in os.environ:
                self.begin(*said)
        except Exception:
            pass

    def begin(self, to, token, previews):
        from ._recording import probe_module

        self.disarm()
        values = ("LOADSCOPE_PROBE_TO", to), ("LOADSCOPE_PROBE_TOKEN", token), ("LOADSCOPE_PROBE_PREVIEWS", str(previews))
        for name, value in values:
            self.before[name] = os.environ.get(name)
            os.environ[name] = value
        try:
            probe_module().PROBE.when_unheard = self.end
        except BaseException:
            self.end()
            raise

    def end(self):
        """The listener has gone: waits again."""
        for name, value in self.before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self.before.clear()
        probe = sys.modules.get("loadscope_probe")
        if probe is not None:
            probe.PROBE.when_unheard = None
            probe.leave()
        self.arm()

    def arm(self):
        """Looks from now on."""
        module = sys.modules.get(MODULE)
        owner = getattr(module, "_BaseDataLoaderIter", None)
        for name in METHODS if owner is not None else ():
            original = vars(owner).get(name)
            if callable(original) and not isinstance(original, Look):
                self.looks[name] = Look(self, name, original)
                setattr(owner, name, self.looks[name])

    def disarm(self):
        """Everything is as PyTorch has it."""
        owner = getattr(sys.modules.get(MODULE), "_BaseDataLoaderIter", None)
        for name, look in self.looks.items():
            if vars(owner).get(name) is look:
                setattr(owner, name, look.original)
        self.looks.clear()


class Look:
    """In the place of a method: looks when it is about to be called, and returns what is to be called."""

    def __init__(self, dormant, name, original):
        self.dormant = dormant
        self.name = name
        self.original = original

    def __get__(self, instance, owner=None):
        if instance is None:
            return self.original
        self.dormant.look()
        # If it was asked for, that is the probe's by now.
        now = vars(sys.modules[MODULE]._BaseDataLoaderIter).get(self.name)
        method = self.original if now is None or now is self else now
        return method.__get__(instance, owner)

    def __call__(self, *args, **kwargs):
        """For those that take it from the class by themselves."""
        return self.original(*args, **kwargs)


class Finder:
    """Arms once PyTorch's module has been imported."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != MODULE:
            return None
        if Finder in sys.meta_path:
            sys.meta_path.remove(Finder)
        import importlib.util

        spec = importlib.util.find_spec(name)
        loader = getattr(spec, "loader", None)
        execute = getattr(loader, "exec_module", None)
        if execute is None or DORMANT is None:
            return None
        waiting = DORMANT

        def exec_module(module):
            loader.__dict__.pop("exec_module", None)
            execute(module)
            waiting.arm()

        loader.__dict__["exec_module"] = exec_module
        return spec


DORMANT = None


def mark():
    """Maps this file, so that ``loadscope attach`` sees from outside that this process waits. Nothing reads what is mapped."""
    import mmap

    with open(__file__, "rb") as file:
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ, trackfd=False)
        except TypeError:
            # Before Python 3.13 it keeps a descriptor of its own.
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


MARK = None


def wake():
    """PyTorch is about to be imported. It may be so again, if that fails."""
    global DORMANT, MARK
    if DORMANT is not None:
        return
    if os.environ.get("LOADSCOPE_PROBE_TO"):
        # It is recorded from outside, and something kept the probe's folder out of the path.
        from ._recording import probe_module

        if "loadscope_probe" not in sys.modules:
            probe_module()
        return
    DORMANT = Dormant()
    try:
        MARK = mark()
    except Exception:
        pass
    DORMANT.look()
    if not DORMANT.before:
        sys.meta_path.insert(0, Finder)
