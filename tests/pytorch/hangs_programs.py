"""Programs for `hangs.py`: random ones that hang, and slow ones that do not."""

import collections
import random

# Program that hangs. `marks`: least number of threads that hang. `mount`: command in a mount namespace before the program.
Hang = collections.namedtuple("Hang", "kind variant text cause marks mount has_ended")
# Way to hang: its text, the cause, and the object that the processes share.
Way = collections.namedtuple("Way", "variant text cause shared")

HEAD = """
import concurrent.futures, contextlib, ctypes, functools, multiprocessing, os, queue, signal, struct, subprocess, sys, threading, time
{imports}
FOLDER = sys.argv[1]
CTX = multiprocessing.get_context("{method}")
def mark(name="hangs"):
    with open(FOLDER + "/" + name, "a") as file:
        file.write("%d %d\\n" % (os.getpid(), threading.get_native_id()))
def sleeps():
    while True: time.sleep(0.2)
def beats():
    while not threading.Event().wait(0.3): pass
def waits(): threading.Event().wait()
def gets(): queue.Queue().get()
def reads(): os.read(os.pipe()[0], 1)
def counts():
    while True: time.sleep(0.001 * sum(range(5)))
def start_threads(names):
    for name in names:
        threading.Thread(target=globals()[name], name=name, daemon=True).start()
{setup}
def hang(shared):
    {first}
    {hang}
{levels}
"""
THREADS = ["sleeps", "beats", "waits", "gets", "reads", "counts"]

# Functions that call the next one.
LEVELS = [
    "return {inner}(shared)",
    "return [{inner}(shared) for _ in range(1)]",
    "return next(iter(map({inner}, [shared])))",
    "return functools.partial({inner}, shared)()",
    "with contextlib.nullcontext():\n        return {inner}(shared)",
    "try:\n        return {inner}(shared)\n    finally:\n        time.time()",
    "return (lambda: {inner}(shared))()",
    "return {name}(shared, depth - 1) if depth else {inner}(shared)",
]
IN_THREAD = [
    "thread = threading.Thread(target={inner}, args=(shared,))\n    thread.start()\n    thread.join()  # waits",
    "with concurrent.futures.ThreadPoolExecutor(1) as pool:\n        pool.submit({inner}, shared).result()  # waits",
]

HOLDER = """
LOCK, HELD, START = threading.{lock}(), threading.Event(), threading.Event()
def refresh():
    while True:
        with LOCK:
            HELD.set()
            {hold}
        time.sleep(0.01)
"""
HOLDS = ["time.sleep(1000)", "subprocess.run(['sleep', '1000'])", "START.wait()", "START.wait()"]

# The kernel sends FUSE_INIT. The other requests get no answer.
FUSE = """
def mount():
    device = os.open("/dev/fuse", os.O_RDWR)
    os.mkdir(FOLDER + "/fuse")
    options = b"fd=%d,rootmode=40000,user_id=0,group_id=0" % device
    assert ctypes.CDLL(None).mount(b"slow", (FOLDER + "/fuse").encode(), b"fuse", 0, options) == 0
    unique = struct.unpack_from("<IIQ", os.read(device, 1 << 17))[2]
    os.write(device, struct.pack("<IiQIIIIHHI", 80, 0, unique, 7, 31, 0, 0, 1, 1, 4096).ljust(80, bytes(1)))
"""

WAYS = {
    "lock at fork": [
        Way("", "with LOCK:  # hangs\n        pass", "unreleased_lock", "None"),
        Way("", "LOCK.acquire()  # hangs", "unreleased_lock", "None"),
    ],
    "full queue": [
        Way("multiprocessing.Queue", "for item in range(5):\n        shared.put(item)  # hangs", "full_queue", "CTX.Queue(4)"),
        Way("multiprocessing.Queue", "shared.put(shared.put(0))  # hangs", "full_queue", "CTX.JoinableQueue(1)"),
        Way("SimpleQueue", "shared.put(bytes(1 << 22))  # hangs", "full_pipe", "CTX.SimpleQueue()"),
    ],
    # A signal to the process, not to the thread, stops a thread that sends it some lines later.
    "stopped process": [
        Way("", "signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)  # hangs", "stopped", "None"),
        Way("", "signal.raise_signal(signal.SIGSTOP)  # hangs", "stopped", "None"),
    ],
    "pipe or file without an answer": [
        Way("named pipe", "open(FOLDER + '/fifo').read()  # hangs", "fifo", "None"),
        Way("named pipe", "os.open(FOLDER + '/fifo', os.O_WRONLY)  # hangs", "fifo", "None"),
        Way("named pipe", "os.read(os.open(FOLDER + '/fifo', os.O_RDWR), 1)  # hangs", "fifo", "None"),
        Way("FUSE", "open(FOLDER + '/fuse/sample').read()  # hangs", "storage", "mount()"),
        Way("FUSE", "os.stat(FOLDER + '/fuse/sample')  # hangs", "storage", "mount()"),
        Way("FUSE", "os.listdir(FOLDER + '/fuse')  # hangs", "storage", "mount()"),
    ],
    "GIL held in C": [
        Way("", "ctypes.PyDLL(None).sleep(1000)  # hangs", "gil_held", "None"),
        Way("", "ctypes.PyDLL(None).usleep(1000000000)  # hangs", "gil_held", "None"),
        Way("", "ctypes.PyDLL(None).pause()  # hangs", "gil_held", "None"),
        Way("", "ctypes.PyDLL(None).poll(None, 0, -1)  # hangs", "gil_held", "None"),
    ],
    "full /dev/shm": [
        Way("SharedMemory", "memory = SharedMemory(create=True, size=1 << 27)\n    memory.buf[:] = bytes(1 << 27)", "shared_memory_full", "None"),
        Way("torch tensor in a queue", "shared.put(torch.ones(1 << 25))", "shared_memory_full", "None"),
        Way("collate without shared memory", "", "shared_memory_full", "None"),
    ],
    "uneven ranks": [
        Way("all_reduce", "dist.all_reduce(shared)  # hangs", "collective", ""),
        Way("all_gather", "dist.all_gather([shared.clone() for _ in range(WORLD)], shared)  # hangs", "collective", ""),
        Way("all_gather_object", "dist.all_gather_object([None] * WORLD, 'loss')  # hangs", "collective", ""),
        Way("broadcast", "dist.broadcast(shared, LESS)  # hangs", "collective", ""),
        Way("barrier", "dist.barrier()  # hangs", "collective", ""),
        Way("DistributedDataParallel", "MODEL(shared).sum().backward()  # hangs", "collective", ""),
    ],
}

# The pin-memory thread needs an accelerator. The stand-in has none of its functions.
PINNED = """
torch.accelerator.is_available = lambda: True
torch.accelerator.current_accelerator = lambda *_: torch.device("cuda")
torch.accelerator.current_device_index = lambda: 0
torch.accelerator.set_device_index = lambda _: None
torch.Tensor.pin_memory = lambda self, *_: self
"""
SAMPLES = """
class Samples(torch.utils.data.{dataset}):
    def __init__(self, shared):
        self.shared = shared
{methods}
class Collate:
    def __init__(self, shared):
        self.shared = shared
    def __call__(self, samples):
        {collate}
        return torch.tensor(samples)
def started(worker):
    start_threads({child_threads})
if __name__ == "__main__":
    shared = {shared}
    {before}
    start_threads({threads})
    dataset = Samples(shared)
    loader = torch.utils.data.DataLoader(dataset, {arguments})
    batches = iter(loader)
    {after}
    for number, batch in enumerate(batches):  # waits
        {step}
"""
MAP = """
    def __len__(self):
        return 600
    def __getitem__(self, index):
        {sample}
        return index"""
STREAM = """
    def __iter__(self):
        info = torch.utils.data.get_worker_info()
        for index in range(600):
            {sample}
            yield index"""
CHILD = """
def work(shared, *_):
    start_threads({child_threads})
    top(shared)
def initialize(shared):
    start_threads({child_threads})
    global SHARED
    SHARED = shared
def task(number):
    return top(SHARED) if number == {at} else number
if __name__ == "__main__":
    shared = {shared}
    {before}
    start_threads({threads})
    {run}
"""
CHILDREN = [
    "child = CTX.Process(target=work, args=(shared,))\n    child.start()\n    {after}\n    child.join()  # waits",
    "results = CTX.Queue()\n    CTX.Process(target=work, args=(shared, results)).start()\n    {after}\n    results.get()  # waits",
    "end, other = CTX.Pipe()\n    CTX.Process(target=work, args=(shared, other)).start()\n    {after}\n    end.recv()  # waits",
    "pool = CTX.Pool({workers}, initialize, (shared,))\n    {after}\n    pool.map(task, range(60), 1)  # waits",
    "pool = concurrent.futures.ProcessPoolExecutor({workers}, CTX, initialize, (shared,))\n"
    "    futures = [pool.submit(task, number) for number in range(60)]\n    {after}\n"
    "    for future in futures:\n        future.result()  # waits",
]
RANKS = """
WORLD, LESS = {world}, {less}
def train(rank):
    global MODEL
    start_threads({threads})
    dist.init_process_group("gloo", init_method="file://" + FOLDER + "/store", rank=rank, world_size=WORLD)
    {model}
    batches = {batches} - (rank == LESS)
    dataset = torch.utils.data.TensorDataset(torch.ones(600, 8))
    loader = torch.utils.data.DataLoader(dataset, batch_size={size}, num_workers={workers})
    for number, (batch,) in enumerate(loader):
        if number == batches:
            break
        if number == {batches} - 1:
            mark()
        {call}
    mark("less")
    {rest}
if __name__ == "__main__":
    if "RANK" in os.environ:
        train(int(os.environ["RANK"]))
    else:
        variables = {{**os.environ, "WORLD_SIZE": str(WORLD), "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}}
        ranks = [subprocess.Popen([sys.executable, *sys.argv], env={{**variables, "RANK": str(rank)}}) for rank in range(WORLD)]
        for rank in ranks:
            rank.wait()  # waits
"""
RESTS = ["time.sleep(1000)", "while True:\n        time.sleep(0.01)", "subprocess.run(['sleep', '1000'])"]


def levels(rng, in_thread):
    """Returns functions that call one another. The last one is `top`."""
    texts, inner = [], "hang"
    number = rng.randint(0, 6)
    thread = rng.randint(0, number) if in_thread else None
    for at in range(number + 1):
        name = "top" if at == number else "level_%d" % at
        body = rng.choice(IN_THREAD if at == thread else LEVELS)
        texts.append("def %s(shared, depth=%d):\n    %s\n" % (name, rng.randint(1, 20), body.format(inner=inner, name=name)))
        inner = name
    return "".join(texts)


def generate(seed):
    """Returns the program of a seed."""
    rng = random.Random(seed)
    kind = list(WAYS)[seed % len(WAYS)]
    way = rng.choice(WAYS[kind])
    some = lambda most: rng.sample(THREADS, rng.randint(0, most))
    is_fork = kind == "lock at fork"
    method = "fork" if is_fork else rng.choice(["fork", "fork", "spawn", "forkserver"])
    given = dict(
        threads=some(4),
        # A thread that works can release a lock. Then no cause is stated.
        child_threads=[] if is_fork else some(3),
        shared="None" if way.shared == "mount()" else way.shared,
        workers=rng.randint(1, 5 if method == "fork" else 2),
        before="threading.Thread(target=refresh, daemon=True).start()\n    HELD.wait()" if is_fork else way.shared if way.shared == "mount()" else "",
        after="START.set()" if is_fork else "",
        at=rng.randint(0, 40),
    )
    setup = ""
    if is_fork:
        setup = HOLDER.format(lock=rng.choice(["Lock", "RLock", "Condition"]), hold=rng.choice(HOLDS))
    if way.shared == "mount()":
        setup = FUSE
    mount = {"storage": "true", "shared_memory_full": "mount -t tmpfs -o size=%dm tmpfs /dev/shm" % rng.randint(8, 64)}.get(way.cause, "")
    marks = 1
    if kind == "uneven ranks":
        text, marks = ranks(rng, way, given)
        imports = "import torch\nimport torch.distributed as dist"
    elif kind == "full /dev/shm":
        text, imports = shared_memory(rng, way, given)
    elif rng.random() < 0.7:
        pinned = rng.random() < 0.3
        text, imports = loader(rng, given, method, pinned), "import torch" + PINNED * pinned
    else:
        text, imports = CHILD.format(run=rng.choice(CHILDREN).format(**given), **given), ""
    has_thread = kind not in ("full /dev/shm", "uneven ranks") and rng.random() < 0.15
    # Time for the caller of the thread to wait for it.
    first = "pass" if kind == "uneven ranks" else "time.sleep(0.5)\n    mark()" if has_thread else "mark()"
    head = HEAD.format(imports=imports, method=method, setup=setup, first=first, hang=way.text or "pass", levels=levels(rng, has_thread))
    variant = ", ".join(filter(None, [way.variant, "in a thread" * has_thread]))
    return Hang(kind, variant, head + text, way.cause, marks, mount, kind == "full /dev/shm")


def loader(rng, given, method, pinned):
    """Returns the text of a training with a DataLoader. It hangs in a sample, in the collation or in a step."""
    place = rng.choice(["sample", "sample", "stream", "collate", "step"])
    if place == "step" and "START" in given["after"]:
        place = "sample"
    workers = rng.randint(0, 3) if place == "step" else given["workers"]
    size = rng.randint(1, 8)
    arguments = ["batch_size=%d" % size, "num_workers=%d" % workers, "pin_memory=%s" % pinned, "collate_fn=Collate(shared)"]
    if workers:
        arguments += ["multiprocessing_context=%r" % method, "prefetch_factor=%d" % rng.randint(1, 4), "worker_init_fn=started"]
        arguments += ["persistent_workers=%s" % rng.choice([True, False])]
    test = {"sample": "index %s %d" % (rng.choice(["==", ">="]), given["at"]), "stream": "index == %d and info.id == 0" % given["at"]}
    call = "if %s:\n%stop(self.shared)"
    sample = call % (test.get(place, "False"), " " * (16 if place == "stream" else 12))
    return SAMPLES.format(
        dataset="IterableDataset" if place == "stream" else "Dataset",
        methods=(STREAM if place == "stream" else MAP).format(sample=sample),
        collate="%d in samples and top(self.shared)" % given["at"] if place == "collate" else "pass",
        step="number == %d and top(shared)" % given["at"] if place == "step" else "time.sleep(%g)" % rng.choice([0, 0.02]),
        arguments=", ".join(arguments),
        **given,
    )


def shared_memory(rng, way, given):
    """Returns the text of a program that fills /dev/shm, and its imports."""
    if way.variant == "SharedMemory":
        run = rng.choice(CHILDREN[1:3])
        return CHILD.format(run=run.format(**given), **given), "from multiprocessing.shared_memory import SharedMemory"
    if way.variant.startswith("torch"):
        run = "shared = CTX.Queue()\n    " + rng.choice(CHILDREN[1:2]).format(**given).replace("results.get", "shared.get")
        return CHILD.format(run=run, **given), "import torch\nimport torch.multiprocessing as multiprocessing"
    arguments = "batch_size=4, num_workers=%d, collate_fn=Collate(shared)" % given["workers"]
    given = {**given, "arguments": arguments, "step": "pass", "dataset": "Dataset"}
    collate = "mark()\n        return torch.ones(1 << 25)"
    return SAMPLES.format(methods=MAP.format(sample="pass"), collate=collate, **given), "import torch"


def ranks(rng, way, given):
    """Returns the text of a distributed training, and the number of ranks that wait."""
    world, batches = rng.randint(2, 3), rng.randint(2, 12)
    less = rng.randrange(world)
    model = "gradient = torch.zeros(8)"
    call = "top(gradient)"
    if "Parallel" in way.variant:
        model = "MODEL = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))"
        call = "top(batch)"
    text = RANKS.format(
        world=world, less=less, batches=batches, model=model, size=rng.randint(1, 8), call=call, rest=rng.choice(RESTS), **given
    )
    return text, world - 1


TRAINING = """
import sys, time
import torch
from torch.utils.data import DataLoader, Dataset
class Samples(Dataset):
    def __len__(self):
        return 48
    def __getitem__(self, index):
        time.sleep({sample})
        return index
class Sampler(torch.utils.data.Sampler):
    def __iter__(self):
        for index in range(48):
            time.sleep({sampler})
            yield index
    def __len__(self):
        return 48
def started(worker):
    time.sleep({start})
if __name__ == "__main__":
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        loader = DataLoader(Samples(), {size}, sampler=Sampler(), num_workers={workers}, worker_init_fn=started, multiprocessing_context={method})
        for batch in loader:
            print("batch", flush=True)
            time.sleep({step})
            if time.monotonic() > end:
                break
        time.sleep({validation})
    print("end", flush=True)
"""


def training(sample=0.05, sampler=0, start=0, size=4, workers=2, step=0.1, validation=0):
    """Returns the text of a slow training. Times in seconds."""
    method = '"fork"' if workers else None
    return TRAINING.format(**locals())


# In half of them, a batch, a sampler or a start takes longer than the time of the alarm, 5 s.
HEALTHY = {
    "steps of 12 s": training(step=12),
    "validation of 15 s": training(validation=15),
    "16 workers, batches of 3 s": training(sample=1, size=3, workers=16),
    "batches of 4 s, 1 worker": training(sample=1, workers=1),
    "sampler of 4 s per batch": training(sampler=1, workers=1),
    "start of workers in 4 s": training(start=4),
    "batches of 16 s, samples of 1 s, 1 worker": training(sample=1, size=16, workers=1),
    "batches of 12 s, samples of 1 s, no worker": training(sample=1, size=12, workers=0),
    "batches of 8 s, samples of 4 s, 2 workers": training(sample=4, size=2),
    "sampler of 12 s per batch": training(sampler=1, size=12, workers=1),
    "start of workers in 8 s": training(start=8),
}
