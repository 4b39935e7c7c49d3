"""Compares Loadscope with PyTorch, dataloader-rs and the Python readers of data formats. `cargo xtask bench --peers` runs it.

Speeds differ between hosts and from minute to minute. Therefore the programs take turns, and ratios are within a round.
"""

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
OURS, PYTORCH, RUST, MIMALLOC, COUNTERPART = "Loadscope", "PyTorch", "dataloader-rs", "dataloader-rs + mimalloc", "the counterpart"
MOST = 600  # Seconds after which a program counts as failed.
PROGRAMS = [OURS, PYTORCH, RUST, MIMALLOC, COUNTERPART]

# Numbers of workers of PyTorch and of the others, and kinds of recording of Loadscope with 0 and 2 workers.
TRIED = ([0, 2], [0, 1, 2], ["off", "events", "log"])
TWO = ([2], [2], ["off"])
NO_LOADER = ([0], [0], ["off"])
THREADS = ([0], [1, 2], ["off"])

# Goals: a program and the least ratio to its best figure, or most or least with a figure in the unit of the work.
SAME = {PYTORCH: 1, RUST: 1, MIMALLOC: 1.1}
# Goals for the cost of recording: shares of the time while events are received, and while a compressed log is written.
LARGE = {"events": 0.05, "log": 0.08}
SMALL = {"events": 0.05, "log": 0.15}


class Work:
    """Compared work: name, description, names for PyTorch, name for dataloader-rs, numbers of workers, goals, goals of recording."""

    def __init__(self, name, description, pytorch=(), rust=None, workers=NO_LOADER, goals=None, recording=None, unit="items"):
        self.name, self.description, self.pytorch, self.rust = name, description, pytorch, rust
        self.workers, self.goals, self.recording, self.unit = workers, goals or {}, recording or {}, unit
        self.is_format = name.startswith("formats")
        self.turns = {task: [] for task in self.tasks()}
        self.differences = []

    def tasks(self):
        """Returns (program, name, workers, recording) of every turn, alternating between peers and Loadscope."""
        for_pytorch, for_others, recordings = self.workers
        peers = [(PYTORCH, name, number, "off") for name in self.pytorch for number in for_pytorch]
        peers += [(program, self.rust, number, "off") for number in for_others if self.rust for program in (RUST, MIMALLOC)]
        peers += [(COUNTERPART, self.name, 0, "off")] * self.is_format
        ours = [(OURS, self.name, number, kind) for number in for_others for kind in (recordings if number != 1 else ["off"])]
        for peer in peers:
            yield peer
            if ours:
                yield ours.pop(0)
        yield from ours

    def is_called(self, name):
        """Returns true for the name of the work or of its group: `w4` is the group of `w4-random` and others."""
        return name in (self.name, self.name.split("-")[0])

    def ratio(self, one, other):
        """Returns how many times better `one` is than `other`."""
        return one / other if self.unit == "items" else other / one

    def compare_work(self):
        """Checks that all programs loaded the same samples, and that PyTorch and Loadscope loaded them in the same order."""
        sums = {task: (turns[0]["sum"], turns[0]["order"]) for task, turns in self.turns.items() if turns and "sum" in turns[0]}
        ours = next((found for task, found in sums.items() if task[0] == OURS), None)
        for task, found in sums.items() if ours else ():
            if found[0] != ours[0]:
                self.differences.append(title(task) + " loaded other samples.")
            # dataloader-rs shuffles with its own random numbers.
            elif found[1] != ours[1] and task[0] not in (RUST, MIMALLOC):
                self.differences.append(title(task) + " had another order.")

    def best(self, program, workers=None):
        """Returns the turns of the task with the best median, without recording. Returns an empty list if all turns failed."""
        tasks = [turns for task, turns in self.turns.items()
                 if turns and task[0] == program and task[3] == "off" and workers in (None, task[2])]
        return max(tasks, key=lambda turns: self.ratio(statistics.median(turn["value"] for turn in turns), 1), default=[])

    def values(self, program, workers=None):
        return [turn["value"] for turn in self.best(program, workers)]

    def median(self, program, workers=None):
        values = self.values(program, workers)
        return statistics.median(values) if values else None

    def times(self, program):
        """Returns how many times better Loadscope is than a program, for each round in which both succeeded."""
        theirs = {turn["round"]: turn["value"] for turn in self.best(program)}
        return [self.ratio(turn["value"], theirs[turn["round"]]) for turn in self.best(OURS) if turn["round"] in theirs]

    def costs(self, workers, kind):
        return [turn for turn in self.turns.get((OURS, self.name, workers, kind), []) if "cost" in turn]

    def judged(self):
        """Yields (goal in words, measured value, whether the goal is met, its parameters)."""
        for which, least in self.goals.items():
            if which in PROGRAMS:
                times = self.times(which)
                shown = spread(times, lambda value: "%.2f×" % value) if times else ""
                if times and which == RUST and self.times(MIMALLOC):
                    shown += "; %.2f× with mimalloc there, too" % statistics.median(self.times(MIMALLOC))
                yield "at least %g× %s" % (least, which), shown or "–", bool(times) and statistics.median(times) >= least, (which, least)
            else:
                values = self.values(OURS)
                met = bool(values) and (statistics.median(values) <= least if which == "most" else statistics.median(values) >= least)
                shown = spread(values, self.figure) if values else "–"
                yield "at %s %s" % (which, self.figure(least)), shown, met, (which, least)
        for kind, most in self.recording.items():
            for workers in (0, 2):
                costs = [turn["cost"] for turn in self.costs(workers, kind)]
                said = "%s costs at most %.0f %%, %d workers" % (
                    {"events": "event recording", "log": "a compressed log"}[kind], most * 100, workers)
                shown = spread(costs, lambda value: "%.1f %%" % (value * 100)) if costs else "–"
                yield said, shown, bool(costs) and statistics.median(costs) <= most, (kind, most, workers)
        if self.recording:
            lost = sum(turn.get("lost", 0) for turns in self.turns.values() for turn in turns)
            yield "no event is lost", str(lost), lost == 0, (None, None)

    def figure(self, value):
        """Formats a value with its unit."""
        if self.unit != "items":
            digits = 3 if self.unit == "ms" else 1
            return "%.*f %s" % (digits, value, self.unit)
        unit, scale = next((pair for pair in (("M/s", 1e6), ("k/s", 1e3)) if value >= pair[1]), ("/s", 1))
        value /= scale
        # The figure has three significant digits.
        return "%.*f %s" % ((value < 100) + (value < 10), value, unit)

    def section(self):
        """Formats the table: one row per program, number of workers and kind of recording."""
        text = "\n**%s**: %s\n\n" % (self.name, self.description)
        text += "".join("Not the same work: %s\n\n" % difference for difference in self.differences)
        text += "| program | workers | recording | figure |\n|---|---|---|---|\n"
        for task in sorted(self.turns, key=lambda task: (PROGRAMS.index(task[0]), task[1], task[3], task[2])):
            program, name, workers, kind = task
            turns = self.turns[task]
            if not turns:
                continue
            lost = sum(turn.get("lost", 0) for turn in turns)
            kind = "" if kind == "off" else kind + (", %d events lost" % lost if lost else "")
            if name != self.name and "-" in name:
                program += " (%s)" % name.split("-", 1)[1]
            text += "| %s | %d | %s | %s |\n" % (program, workers, kind, spread([turn["value"] for turn in turns], self.figure))
        return text


def loader(name, description, pytorch, goals, recording):
    return Work(name, description, pytorch, name.split("-")[0], TRIED, goals, recording)


def sampler(name, description, least):
    return Work(name, description, [name], goals={PYTORCH: least})


def start(name, description, goals, unit):
    return Work(name, description, [name], name, TWO, goals, unit=unit)


def reader(name, description, least):
    return Work("formats-" + name, description, goals={COUNTERPART: least})


PAIRS = ["w2-tensors", "w2-numbers"]
WORKS = [
    loader("w1", "4,096 pictures uint8 3×224×224 in memory, shuffled, batch 64; two tensors in a TensorDataset, from which Loadscope gathers "
           "batches at once", ["w1"], SAME, LARGE),
    Work("w1-copy", "the same pictures copied into batches by threads, with no loader: what the memory of this host allows", workers=THREADS),
    loader("w1-samples", "the same pictures from a dataset of one's own: views of them fetched one by one, then collated", ["w1"], SAME, LARGE),
    loader("w2", "1,000,000 pairs of float and int, in order, batch 256; two tensors in a TensorDataset, from which Loadscope gathers batches "
           "at once", PAIRS, {PYTORCH: 10, RUST: 1}, SMALL),
    loader("w2-samples", "the same pairs from a dataset of one's own: fetched one by one, then collated", PAIRS, {PYTORCH: 10, RUST: 1}, SMALL),
    loader("w3", "800 JPEGs of about 500×375: read, decode, resize to 224×224, batch 32", ["w3"],
           {PYTORCH: 2.5, RUST: 1.25, MIMALLOC: 1.25}, LARGE),
    Work("w3-decode", "the same JPEGs decoded and nothing else, with no loader; by PyTorch's Pillow, too, whose decoder is libjpeg-turbo",
         ["w3-decode"], workers=THREADS),
    sampler("w4-random", "RandomSampler over 10,000,000", 4),
    sampler("w4-distributed", "DistributedSampler over 10,000,000, rank 0 of 8", 4),
    sampler("w4-weighted", "WeightedRandomSampler, 1,000,000 of 1,000,000 without replacement", 2),
    sampler("w4-replacement", "WeightedRandomSampler, 1,000,000 of 1,000,000 with replacement", 2),
    Work("w4-memory", "growth of the process while RandomSampler goes over 10,000,000", ["w4-memory"], goals={"most": 45}, unit="MB"),
    start("w5-fresh", "from iter() to the first batch, 2 new workers", {"most": 0.3}, "ms"),
    start("w5-persistent", "from iter() to the first batch, 2 persistent workers", {"most": 0.006}, "ms"),
    start("w5-round-trip", "20,000 batches of one sample through the queues of 2 workers", {"least": 2e6}, "items"),
    Work("w5-round-trip-main", "the same batches made in the main thread, with no queue"),
    loader("w6", "262,144 windows of 1,024 tokens of a memory-mapped file, shuffled, batch 32", ["w6"],
           {PYTORCH: 10, RUST: 1, MIMALLOC: 1.1}, SMALL),
    Work("w6-copy", "the same windows copied into batches by threads, with no loader", workers=THREADS),
    Work("event", "recording one event: the cost for its thread", goals={"most": 60}, unit="ns"),
    # Data formats: one core, no workers on either side. In the order of docs/DATASETS.md.
    reader("voc", "200 annotated pictures of about 560×410, boxes and labels; torchvision's VOCDetection, pil_to_tensor", 1.5),
    reader("coco", "400 annotated pictures of about 560×410, boxes and labels; torchvision's CocoDetection, pil_to_tensor", 1.5),
    reader("coco-masks", "the same with masks of polygons and runs; coco.annToMask", 1.5),
    reader("webdataset", '400 pictures and classes in 4 shards; WebDataset(…).decode("torchrgb8").to_tuple("jpg", "cls")', 2),
    reader("webdataset-small", '20,000 arrays of 128 numbers and classes in 4 shards; WebDataset(…).decode().to_tuple("npy", "cls")', 2),
    reader("csv", "40,000 rows of 6 columns, shuffled; pandas, .iloc[i].to_dict()", 3),
    reader("parquet", "the same rows; pyarrow.parquet.read_table, column[i].as_py()", 3),
    reader("arrow", "the same rows; datasets.load_from_disk, by batches (__getitems__)", 3),
    reader("npy", '25,000 windows of 64×8 int32 of a memory-mapped array, shuffled; numpy.load(…, mmap_mode="c"), from_numpy', 10),
    reader("sqlite", "the same rows by key, shuffled; sqlite3, SELECT … WHERE id = ?", 3),
]

# Work that does only a part of another work, and bounds its figure.
COPYING = ("w1-copy", "Copying alone, with no loader,")
PARTS = {
    "w1": COPYING, "w1-samples": COPYING, "w6": ("w6-copy", COPYING[1]),
    "w3": ("w3-decode", "Decoding alone, with no loader, no reading and no resizing,"),
    "w5-round-trip": ("w5-round-trip-main", "Making the same batches in the main thread, with no queue,"),
}

HEADS = {
    "RESULTS.md": """# Loadscope compared with PyTorch and dataloader-rs

Written by `cargo xtask bench --peers`. The programs took turns, and ratios are within a round. Figures are medians, with minimum and \
maximum in brackets. Each program uses its best number of workers. Loadscope uses mimalloc, PyTorch and dataloader-rs the C library's \
allocator. dataloader-rs is also measured with mimalloc. The cost of recording is measured in one process, in which a recorded and an \
unrecorded loader take turns, after the first 0.3 s of content capture.
""",
    "FORMATS.md": """# Data formats compared with Python readers

Written by `cargo xtask bench --peers --only formats`. Both sides use a loader with the same interface around the dataset, without workers, \
in one thread, with equal batches in equal order, checked by sums of the labels. The programs took turns, and ratios are within a round. \
Figures are medians, with minimum and maximum in brackets. Files are in the page cache. Loadscope uses mimalloc, Python the C library's \
allocator. `tests/peers/make_formats.py` writes the data, `tests/peers/formats.py` is the counterpart.
""",
}

RECORDING = """
## What recording needs

Medians, microseconds a batch. *Loading* is what all threads of the loader need of the processor, without recording and with it; *the \
recorder* is the thread that takes the events, and writes and compresses them where there is a log. Where the loader leaves no core free, \
the loader waits for as long as the recorder needs one.

| work | workers | recording | slower | a batch takes | loading | loading, recorded | the recorder | events a batch | ns an event |
|---|---|---|---|---|---|---|---|---|---|
"""


def title(task):
    program, name, workers, kind = task
    return "%s %s, %d workers" % (program, name, workers) + ("" if kind == "off" else ", recording: " + kind)


def spread(values, show):
    return "%s (%s – %s)" % (show(statistics.median(values)), show(min(values)), show(max(values)))


def reason(work, which, least, workers, works):
    """Returns the reason for a missed goal from other figures of the same run, or None."""
    if which in work.recording:
        return reason_of_recording(work.costs(workers, which), least)
    name, subject = PARTS.get(work.name, (None, None))
    part = next((other for other in works if other.name == name), None)
    if which in ("most", COUNTERPART, None) or not part or not part.median(OURS):
        return None
    ours, alone = work.median(OURS), part.median(OURS)
    text = "" if which == "least" else "that would be %s. " % work.figure(least * work.median(which))
    text += "%s reaches %s. Loadscope reaches %s, %.0f %% of it." % (
        subject, work.figure(alone), work.figure(ours), ours / alone * 100)
    if part.median(PYTORCH):
        text += " With one thread the same part reaches %s here, and %s in PyTorch's program." % (
            work.figure(part.median(OURS, 1)), work.figure(part.median(PYTORCH)))
    return text


def medians(costs):
    names = ("cost", "batch", "loading", "recorded_loading", "listening", "batch_events")
    return [statistics.median(turn[name] for turn in costs) for name in names]


def reason_of_recording(costs, most):
    """Compares the allowed slowdown with the time that the events of a batch need."""
    if not costs:
        return None
    _, batch, loading, _, recorder, events = medians(costs)
    more = statistics.median(turn["recorded_loading"] - turn["loading"] for turn in costs)
    # A loader that waits for the recorder does not wait for its own other threads during that time.
    threads = "take the loader's threads no more"
    if more > 0:
        threads = "take the loader's threads %.2f µs more (%.0f ns each)" % (more, more * 1e3 / events)
    room = ", which has a core of its own"
    if loading / batch > os.cpu_count() - 0.5:
        room = "; the loader leaves it no core"
    elif recorder > batch:
        room = ", longer than a batch takes; nothing may be lost, so the loader waits for it"
    return "a batch takes %.2f µs, so that would be %.2f µs. Its %.1f events %s and the recorder %.2f µs (%.0f ns each)%s." % (
        batch, batch * most, events, threads, recorder, recorder * 1e3 / events, room)


def page(head, works, rounds):
    text = "%s\n%s, %d cores; %d rounds.\n\n## Goals\n\n| work | goal | measured | |\n|---|---|---|---|\n" % (
        head, processor(), os.cpu_count(), rounds)
    reasons, recorded = "", ""
    for work in works:
        for said, shown, met, (which, least, *workers) in work.judged():
            text += "| %s | %s | %s | %s |\n" % (work.name, said, shown, "met" if met else "**missed**")
            why = None if met else reason(work, which, least, *workers or [None], works)
            reasons += "- **%s**, %s: %s\n" % (work.name, said, why) if why else ""
        for task in sorted(work.turns, key=lambda task: (task[3], task[2])):
            costs = [turn for turn in work.turns[task] if "cost" in turn]
            if costs:
                slower, batch, loading, more, recorder, events = medians(costs)
                recorded += "| %s | %d | %s | %.1f %% | %.2f | %.2f | %.2f | %.2f | %.1f | %.0f |\n" % (
                    work.name, task[2], task[3], slower * 100, batch, loading, more, recorder, events, recorder * 1e3 / events)
    if reasons:
        text += "\n## Why goals are missed\n\nMedians of the same run.\n\n" + reasons
    if recorded:
        text += RECORDING + recorded
    return text + "\n## Figures\n" + "".join(work.section() for work in works)


def processor():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown processor")


def run(task, options):
    """Runs a task once and returns its figures, the last line of its output."""
    program, name, workers, kind = task
    environment = dict(os.environ)
    if program == OURS:
        command = [options.measure, "recording=" + kind]
        environment["LD_LIBRARY_PATH"] = options.libraries
    else:
        # PyTorch must not load Loadscope's libtorch. The counterpart must not access the network.
        environment.pop("LD_LIBRARY_PATH", None)
        environment["HF_HUB_OFFLINE"] = "1"
        command = {
            PYTORCH: [options.pytorch, "-B", str(HERE / "pytorch.py")],
            RUST: [options.rust],
            MIMALLOC: [options.rust_mimalloc],
            COUNTERPART: [options.formats, "-B", str(HERE / "formats.py")],
        }[program]
    share, seconds = (1 / 16, 0.1) if options.quick else (1, 1.5)
    command += ["work=" + name, "workers=%d" % workers, "share=%s" % share, "seconds=%s" % seconds, "data=" + options.data]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=MOST)
    except BaseException:
        # Ctrl-C does not reach the new session, so it ends here as after a timeout, with the workers of the program.
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    subprocess.CompletedProcess(command, process.returncode).check_returncode()
    found = json.loads(output.splitlines()[-1])
    found["value"]  # A program without a figure has failed.
    return found


def measure(work, options):
    """Runs every program once per round. A program that fails must not discard the figures of the others."""
    for number in range(1, options.rounds + 1):
        for task, turns in work.turns.items():
            print("%s %d/%d: %s" % (work.name, number, options.rounds, title(task)), file=sys.stderr)
            try:
                turns.append({**run(task, options), "round": number})
            except (OSError, subprocess.SubprocessError, ValueError, KeyError, IndexError) as why:
                print("%s: %s" % (title(task), why), file=sys.stderr)
                work.differences.append(title(task) + " failed.")
    work.differences = list(dict.fromkeys(work.differences))
    work.compare_work()


def main():
    parser = argparse.ArgumentParser(prog="cargo xtask bench --peers", description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=lambda text: text.split(","), default=[], metavar="WORK",
                        help="only these works, as in --only w1,w4. --only formats measures the data formats and writes their table")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="repetitions of each program [default: 5]")
    parser.add_argument("--quick", action="store_true", help="run a sixteenth of the work, once, and write nothing")
    for name in ("measure", "libraries", "data", "pytorch", "rust", "rust-mimalloc", "formats"):
        parser.add_argument("--" + name, default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for name in options.only:
        if not any(work.is_called(name) for work in WORKS):
            parser.error("work %s does not exist. Choose one of: %s" % (name, ", ".join(work.name for work in WORKS)))
    options.rounds = 1 if options.quick else max(1, options.rounds)
    failed = False
    for name, head in HEADS.items():
        works = [work for work in WORKS if work.is_format == (name == "FORMATS.md")]
        chosen = [work for work in works if not options.only or any(work.is_called(one) for one in options.only)]
        is_whole = not options.quick and len(chosen) == len(works)
        for number, work in enumerate(chosen, 1):
            measure(work, options)
            # The page is written after every work, because measuring takes long and finished figures must survive an interruption.
            if is_whole:
                (HERE / name).write_text(page(head, chosen[:number], options.rounds), encoding="utf-8")
        if chosen:
            print(page(head, chosen, options.rounds))
            print("Written to %s." % name if is_whole else "Not written, because not all was measured.", file=sys.stderr)
        failed |= any(work.differences for work in chosen)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
