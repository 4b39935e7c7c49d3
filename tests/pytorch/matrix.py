"""Records PyTorch programs with and without Loadscope, over releases of PyTorch and ways of starting workers.

    python matrix.py --loadscope EXECUTABLE [--fast] [--results FILE] PYTHON…

PYTHON: interpreters that have a PyTorch. What must hold: the program's output, its error and its exit code are the same; every fetch of
a worker is joined with its task; whatever the program or anybody else does, the recording opens. Ends with 1 if something does not.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent / "programs"
STARTS = ("none", "fork", "spawn", "forkserver")
ENDS = ("fails", "raises", "exits", "interrupted", "killed")


class Wrong(Exception):
    """A sentence about what does not hold."""


def must(holds, text):
    if not holds:
        raise Wrong(text)


def run(command, limit=900, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=limit, **more)


def steady(text):
    """Output without what differs from run to run by itself."""
    # Whether a batch was held or just arrived decides which line of PyTorch's hands it out.
    text = re.sub(r'(dataloader\.py", line )\d+', r"\1…", text)
    text = re.sub(r"pid\(?s?\)? ?\(?[\d, ]+\)?|0x[0-9a-f]+|/mp-\w+|\(pid \d+\)", "…", text)
    lines = [line for line in text.splitlines() if not line.startswith("loadscope: ")]
    # A warning of multiprocessing's that comes or does not come with the moment at which a worker ends.
    return [line for line in lines if "resource_tracker" not in line and "warnings.warn" not in line]


class Recording:
    """What a recording says, by loader."""

    def __init__(self, path):
        self.runs = collections.OrderedDict()
        self.dropped = self.troubles = 0
        self.cut = False
        self.last = 0
        lines = pathlib.Path(path).read_bytes().split(b"\n")
        for number, line in enumerate(lines[1:]):
            if not line:
                continue
            try:
                event = json.loads(line)
            except ValueError:
                must(number == len(lines) - 2, "line %d is damaged" % number)
                self.cut = True
                continue
            self.last = max(self.last, event["t"])
            run = self.runs.setdefault(event.get("run", 0), [])
            run.append(event)
            self.dropped += event["count"] if event["e"] == "dropped" else 0
            self.troubles += event["e"] == "message" and "probe could not" in event["text"]

    def info(self, run):
        return next(event["info"] for event in self.runs[run] if event["e"] == "run_started")

    def messages(self, level):
        return [e["text"] for run in self.runs.values() for e in run if e["e"] == "message" and e["level"] == level]


def check_joined(events, name):
    """Every fetch that a worker did is in the life of a batch, in the right order."""
    order = ["queued", "fetching", "collating", "returning", "pinning", "held", "ready", "training"]
    life = collections.defaultdict(lambda: ["queued"])
    fetched = {}
    for event in events:
        key = (event.get("epoch"), event.get("batch"))
        if event["e"] == "dispatched":
            must(key not in life, "%s: batch %s was dispatched twice" % (name, key))
            life[key]
        elif event["e"] == "entered":
            must(key in life, "%s: batch %s entered %s before it was dispatched" % (name, key, event["stage"]))
            life[key].append(event["stage"])
        elif event["e"] == "fetched":
            fetched[key] = len(event["walls"])
    for key, stages in life.items():
        # What was pinned is on its way back once more.
        once = [stage for before, stage in zip([""] + stages, stages) if (before, stage) != ("pinning", "returning")]
        known = [order.index(stage) for stage in once if stage in order]
        must(known == sorted(known), "%s: batch %s went %s" % (name, key, stages))
        if "training" in stages:
            must("fetching" in stages, "%s: batch %s was trained on and never fetched" % (name, key))
            must(key in fetched, "%s: batch %s was trained on, and nobody knows how long it took" % (name, key))
    return len(life), sum(fetched.values())


def check_loaders(loadscope, python, start, folder):
    """All kinds of loaders: the same output, and every sample that was fetched is in the recording."""
    script = str(HERE / "loaders.py")
    bare = run([python, script, start, os.path.join(folder, "bare")])
    must(bare.returncode == 0, "the bare program fails: " + bare.stderr[-500:])
    log, counts = os.path.join(folder, "log.jsonl"), os.path.join(folder, "counts")
    recorded = run([loadscope, "record", "-o", log, "--", python, script, start, counts])
    must(recorded.returncode == 0, "the exit code is %d: %s" % (recorded.returncode, recorded.stderr[-500:]))
    must(recorded.stdout == bare.stdout, "the output differs:\n%s\n%s" % (bare.stdout, recorded.stdout))
    must(steady(recorded.stderr) == steady(bare.stderr), "stderr differs:\n%s\n%s" % (bare.stderr, recorded.stderr))
    recording = Recording(log)
    must(recording.dropped == 0, "%d records were lost" % recording.dropped)
    must(recording.troubles == 0, "the probe had troubles: %s" % recording.messages("warning"))
    names = [line.split()[0] for line in bare.stdout.splitlines() if "persistent" in line]
    must(len(recording.runs) == len(names), "%d loaders of %d were seen" % (len(recording.runs), len(names)))
    real = collections.Counter(pathlib.Path(counts).read_text().split())
    batches = 0
    for run_id, name in zip(sorted(recording.runs), names):
        events = recording.runs[run_id]
        number, samples = check_joined(events, name)
        batches += number
        # A stream whose last batch is not full has fetched its samples all the same.
        must(samples == real[name], "%s: %d samples were fetched, the recording knows %d" % (name, real[name], samples))
    return "%d loaders, %d batches" % (len(names), batches)


def check_end(loadscope, python, start, end, folder):
    """However the program ends, it ends as it would have, and the recording tells of it."""
    command = [python, str(HERE / "trouble.py"), end, start]
    bare = run(command)
    log = os.path.join(folder, "log.jsonl")
    recorded = run([loadscope, "record", "-o", log, "--", *command])
    must(recorded.returncode == bare.returncode, "exit codes %d and %d" % (bare.returncode, recorded.returncode))
    must(steady(recorded.stdout) == steady(bare.stdout), "the output differs")
    if end not in ("killed", "interrupted"):
        differ = "stderr differs:\n%s\n%s" % (bare.stderr, recorded.stderr)
        must(steady(recorded.stderr) == steady(bare.stderr), differ)
    else:
        # Where the signal strikes is a matter of chance; no line of it may be ours.
        must("loadscope_probe" not in recorded.stderr, "a frame of the probe is seen:\n" + recorded.stderr)
    recording = Recording(log)
    must(recording.dropped == 0 and recording.troubles == 0, "something was lost")
    check_joined(recording.runs[0], end)
    errors = " ".join(recording.messages("error"))
    expected = {"fails": "sample 133 is broken", "killed": "signal 9"}.get(end, "")
    must(expected in errors, "the recording does not say %r, but %r" % (expected, errors))
    if end == "fails":
        said = [e for e in recording.runs[0] if e["e"] == "message" and e["level"] == "error"]
        must(said[0].get("sample") == 133, "the sample is not named: %s" % said)
    return "exit code %d" % bare.returncode


def check_pinned(loadscope, python, start, folder):
    """Batches that are pinned go through the pin thread, each at its time."""
    for workers in ("0", "2"):
        log = os.path.join(folder, "log.jsonl")
        recorded = run([loadscope, "record", "-o", log, "--", python, str(HERE / "pinned.py"), workers])
        if recorded.returncode == 42:
            return "not tried: this release knows no torch.accelerator"
        must(recorded.stdout == "2340.0\n2340.0\n", recorded.stdout + recorded.stderr)
        recording = Recording(log)
        events = recording.runs[0]
        check_joined(events, "pinned")
        pinned = sum(e["e"] == "entered" and e["stage"] == "pinning" for e in events)
        must(pinned == 20, "%d of 20 batches were pinned, with %s workers" % (pinned, workers))
        must("pinning" in recording.info(0)["measured"], "pinning is not said to be measured")
    return "20 of 20 batches"


def check_ranks(loadscope, python, start, folder):
    """Two ranks with two loaders each are one recording."""
    log = os.path.join(folder, "log.jsonl")
    launch = [python, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone", str(HERE / "ranks.py")]
    recorded = run([loadscope, "record", "-o", log, "--", *launch])
    if "No module named" in recorded.stderr:
        return "not tried: torchrun does not run here"
    must(recorded.returncode == 0, recorded.stderr[-500:])
    recording = Recording(log)
    infos = [recording.info(run) for run in recording.runs]
    must(sorted(info["rank"] for info in infos) == [0, 0, 1, 1], "ranks %s" % [info["rank"] for info in infos])
    must(all(info["world_size"] == 2 for info in infos), "the size of the world is not known")
    seen = collections.Counter()
    for run_id in recording.runs:
        check_joined(recording.runs[run_id], "rank")
        if recording.info(run_id)["options"]["sampler"] == "distributed":
            first = [e for e in recording.runs[run_id] if e["e"] == "dispatched" and e["epoch"] == 0]
            seen.update(index for e in first for index in e["indices"])
    must(sorted(seen) == list(range(64)) and set(seen.values()) == {1}, "the ranks do not share the samples: %s" % seen)
    return "2 ranks, %d loaders" % len(infos)


def check_ctrl_c(loadscope, python, start, folder):
    """Ctrl-C at a terminal goes to the whole group; a signal to the recorder goes on to the program."""
    log = os.path.join(folder, "log.jsonl")
    command = [python, str(HERE / "trouble.py"), "endless", start]
    for whole in (True, False):
        with subprocess.Popen([loadscope, "record", "-o", log, "--", *command], start_new_session=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
            program.stdout.readline()
            time.sleep(0.3)
            (os.killpg if whole else os.kill)(program.pid, signal.SIGINT)
            _, errors = program.communicate(timeout=60)
        must("KeyboardInterrupt" in errors, "the program did not hear Ctrl-C: " + errors)
        must(program.returncode in (-2, 130), "exit code %s" % program.returncode)
        recording = Recording(log)
        must(not recording.cut and recording.dropped == 0, "the recording is not whole")
    return "exit code %d" % program.returncode


def check_kill(loadscope, python, start, folder, times, rng):
    """Signal 9 at any moment, for the program or for the recorder: what was told until 200 ms before is there."""
    log = os.path.join(folder, "log.jsonl")
    command = [python, str(HERE / "trouble.py"), "endless", start]
    worst = 0.0
    for number in range(times):
        recorder_dies = number % 2 == 1
        with subprocess.Popen([loadscope, "record", "-o", log, "--", *command],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
            first = program.stdout.readline()
            must(first.startswith("0 "), "the program did not begin: %r" % first)
            # Nothing can be there before the first words were written down.
            time.sleep(rng.uniform(0.4 if recorder_dies else 0.02, 1.2))
            child = child_of(program.pid)
            if recorder_dies:
                killed = time.monotonic_ns()
                program.kill()
                time.sleep(0.2)
                must(os.path.exists("/proc/%d" % child), "the program died with its recorder")
            killed = time.monotonic_ns() if not recorder_dies else killed
            os.kill(child, signal.SIGKILL)
            program.wait(timeout=60)
            said = program.stdout.read().splitlines()
        recording = Recording(log)
        events = recording.runs.get(0, [])
        check_joined(events, "killed")
        begun = int(first.split()[1])
        yields = [e["t"] for e in events if e["e"] == "entered" and e["stage"] == "training"]
        must(yields, "nothing was recorded")
        # The first batch was printed right after it was handed out.
        zero = begun - yields[0]
        missing = (killed - zero - recording.last) / 1e6
        worst = max(worst, missing)
        most = 500 if recorder_dies else 200
        must(missing < most, "the last %.0f ms are missing%s" % (missing, ", recorder killed" * recorder_dies))
        if not recorder_dies:
            must(any("killed" in text for text in recording.messages("warning")), "the cut is not shown")
        must(said is not None, "")
    return "%d times, at most %.0f ms missing" % (times, worst)


def child_of(pid):
    for _ in range(100):
        children = pathlib.Path("/proc/%d/task/%d/children" % (pid, pid)).read_text().split()
        if children:
            return int(children[0])
        time.sleep(0.02)
    raise Wrong("the recorder has no child")


def check_deaf(loadscope, python, start, folder):
    """Nobody listens; a reader stops reading; a full disk: the program runs on."""
    script = [python, str(HERE / "loaders.py"), start, os.path.join(folder, "counts")]
    bare = run(script)
    probe = os.path.join(folder, "probe")
    os.makedirs(probe)
    pathlib.Path(probe, "loadscope_probe.py").write_text(run([loadscope, "probe"]).stdout)
    site = pathlib.Path(probe, "sitecustomize.py")
    site.write_text("import loadscope_probe\n")
    base = {**os.environ, "PYTHONPATH": probe, "LOADSCOPE_PROBE_TOKEN": "x"}
    for to in ("unix:%s/nobody" % folder, "tcp:127.0.0.1:9", "tcp:10.0.0.1:9", "nonsense"):
        heard = run(script, env={**base, "LOADSCOPE_PROBE_TO": to}, cwd=folder)
        must(heard.stdout.splitlines()[:-1] == bare.stdout.splitlines()[:-1], "the output differs with %s" % to)
        must(heard.returncode == 0, "exit code %d" % heard.returncode)
    import socket

    path = os.path.join(folder, "deaf")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen(64)
        # Accepted by the system and never read.
        heard = run([python, str(HERE / "flood.py")], env={**base, "LOADSCOPE_PROBE_TO": "unix:" + path})
        must(heard.returncode == 0, "a reader that does not read stops the program: " + heard.stderr[-300:])
        must(int(heard.stdout.split()[-1]) > 0, "nothing was counted as lost: " + heard.stdout)
    full = limited(loadscope, script, folder)
    must(full.returncode == 0, "exit code %d with a full disk: %s" % (full.returncode, full.stderr[-300:]))
    must("recording has stopped" in full.stderr, "the full disk is not told: " + full.stderr[-300:])
    return "%s records were counted as lost" % heard.stdout.split()[-1]


def check_unharmed(loadscope, python, start, folder):
    """Programs that do what nobody expects do it with the probe, too."""
    came = run([python, str(HERE.parent / "unharmed.py")])
    must(came.returncode == 0, came.stderr[-2000:])
    return came.stderr.splitlines()[-3].split(" in ")[0].lower()


def limited(loadscope, script, folder):
    """Records to a device that is always full."""
    return run([loadscope, "record", "-o", "/dev/full", "--", *script])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--loadscope", required=True)
    parser.add_argument("--fast", action="store_true", help="one way of starting workers, a few kills")
    parser.add_argument("--results", help="write a table to this file")
    parser.add_argument("--only", default="", help="only checks whose name has this in it")
    parser.add_argument("pythons", nargs="+")
    options = parser.parse_args()
    loadscope = os.path.abspath(options.loadscope)
    rng = random.Random(1)
    rows, failed = [], 0
    for python in options.pythons:
        asked = run([python, "-c", "import sys, torch; print(sys.version.split()[0], torch.__version__)"])
        must(asked.returncode == 0, "%s has no PyTorch: %s" % (python, asked.stderr[-300:]))
        python_version, torch_version = asked.stdout.split()
        for start, name, check in checks(options.fast, rng):
            label = "%s, %s" % (name, start)
            if options.only not in label:
                continue
            with tempfile.TemporaryDirectory() as folder:
                began = time.monotonic()
                try:
                    came = check(loadscope, python, start, folder)
                except (Wrong, subprocess.TimeoutExpired) as error:
                    came, failed = "FAILED: %s" % error, failed + 1
            took = time.monotonic() - began
            print("PyTorch %s, Python %s: %s: %s (%.1f s)" % (torch_version, python_version, label, came, took), flush=True)
            rows.append((torch_version, python_version, name, start, came.splitlines()[0]))
    if options.results:
        pathlib.Path(options.results).write_text(table(rows))
    print("%d checks, %d failed" % (len(rows), failed))
    return 1 if failed else 0


def checks(fast, rng):
    starts = STARTS[:2] if fast else STARTS
    for start in starts:
        yield start, "loaders", check_loaders
    for start in ("fork",) if fast else ("none", "fork", "spawn"):
        for end in ("fails", "killed") if fast else ENDS if start != "none" else ENDS[:-1]:
            yield start, end, lambda l, p, s, f, end=end: check_end(l, p, s, end, f)
    yield "fork", "pinned", check_pinned
    yield "fork", "torchrun", check_ranks
    yield "fork", "Ctrl-C", check_ctrl_c
    times = 4 if fast else 50
    yield "fork", "kill -9", lambda l, p, s, f: check_kill(l, p, s, f, times, rng)
    yield "fork", "deaf", check_deaf
    yield "none", "unharmed", check_unharmed


def table(rows):
    text = "# The probe under PyTorch\n\nWritten by `cargo xtask probe-matrix`; what each check means stands in `matrix.py`.\n\n"
    text += "| PyTorch | Python | check | workers | outcome |\n|---|---|---|---|---|\n"
    for row in rows:
        text += "| %s |\n" % " | ".join(str(cell).replace("|", "\\|") for cell in row)
    return text


if __name__ == "__main__":
    sys.exit(main())
