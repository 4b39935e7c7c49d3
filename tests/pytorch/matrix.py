"""Records PyTorch programs with and without Loadscope, over releases of PyTorch and ways of starting workers.

    python matrix.py --loadscope EXECUTABLE [--fast] [--kills N] [--only WORD] [--examples FOLDER] [--results FILE] PYTHON…

PYTHON: interpreters that have a PyTorch. What must hold: the program's output, its error and its exit code are the same; every fetch of
a worker is joined with its task; whatever the program or anybody else does, the recording opens. FILE keeps what it says of
releases that are not tried this time. Ends with 1 if something does not hold.
"""

import argparse
import collections
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import ends
import looks
import real
from recording import HERE, Missing, Recording, Wrong, check_joined, must, recorded, run, steady
from results import Results

STARTS = ("none", "fork", "spawn", "forkserver")
KINDS = {"Numbers": "map", "Stream": "iterable"}
HEAD = """# Recording across PyTorch releases

Written by `cargo xtask probe-matrix`, release by release. `matrix.py` explains each check. A failed check says FAILED.

Every program ran with and without recording. Batches (bit by bit), random numbers, output and exit code must be equal.

- Loaders (*map…*, *iterable…*): the share of fetched samples that the recording has in the right batch.
- Kills at random times (seed %d). *sent*: the largest time between the end of the recording and the kill. It can be below 0, because a
  kill takes a moment and clocks are compared by program output.
- A name with a colon belongs to a program of others. "—": not run, because the release lacks the option or the library, or for lack of
  time. "†": run with an earlier probe."""
SEED = 1


def check_loaders(loadscope, python, start, folder):
    """All kinds of loaders: the same output, and every sample that was fetched is in the recording."""
    script = str(HERE / "loaders.py")
    bare = run([python, script, start, os.path.join(folder, "bare")])
    must(bare.returncode == 0, "the bare program fails: " + bare.stderr[-500:])
    log, counts = os.path.join(folder, "log.jsonl"), os.path.join(folder, "counts")
    came = recorded(loadscope, log, [python, script, start, counts])
    must(came.returncode == 0, "the exit code is %d: %s" % (came.returncode, came.stderr[-500:]))
    must(came.stdout == bare.stdout, "the output differs:\n%s\n%s" % (bare.stdout, came.stdout))
    must(steady(came.stderr) == steady(bare.stderr), "stderr differs:\n%s\n%s" % (bare.stderr, came.stderr))
    recording = Recording(log)
    recording.whole()
    names = [line.split()[0] for line in bare.stdout.splitlines() if "persistent" in line]
    must(len(recording.runs) == len(names), "%d loaders of %d were seen" % (len(recording.runs), len(names)))
    real = collections.Counter(pathlib.Path(counts).read_text().split())
    outcomes = {}
    for run_id, name in zip(sorted(recording.runs), names):
        _, samples = check_joined(recording.runs[run_id], name)
        # A stream whose last batch is not full has fetched its samples all the same.
        must(samples == real[name], "%s: %d samples were fetched, the recording knows %d" % (name, real[name], samples))
        outcomes[label_of(name)] = "%d of %d" % (samples, real[name])
    return outcomes


def label_of(name):
    """A loader in PyTorch's words."""
    kind, *options = name.split(",")
    said = {"persistent=True": "persistent_workers", "in_order=False": "in_order=False"}
    return ", ".join([KINDS[kind]] + [said[option] for option in options if option in said])


def check_pinned(loadscope, python, start, folder):
    """Batches that are pinned go through the pin thread, each at its time."""
    for workers in ("0", "2"):
        log = os.path.join(folder, "log.jsonl")
        came = recorded(loadscope, log, [python, str(HERE / "pinned.py"), workers])
        must(came.stdout == "2340.0\n2340.0\n", came.stdout + came.stderr)
        recording = Recording(log)
        events = recording.runs[0]
        check_joined(events, "pinned")
        pinned = sum(e["e"] == "entered" and e["stage"] == "pinning" for e in events)
        must(pinned == 20, "%d of 20 batches were pinned, with %s workers" % (pinned, workers))
        must("pinning" in recording.info(0)["measured"], "pinning is not said to be measured")
    return "20 of 20"


# As Slurm starts them, which is not here: each in its own process, told its rank in variables of Slurm's.
SRUN = 'for rank in 0 1; do SLURM_PROCID=$rank SLURM_LOCALID=$rank SLURM_NTASKS=2 "$@" & done; wait'


def check_ranks(loadscope, python, start, folder, launcher):
    """Several ranks with two loaders each are one recording, whatever starts them."""
    script = [str(HERE / "ranks.py"), launcher]
    launch, count = {
        "torchrun": ([python, "-m", "torch.distributed.run", "--nproc_per_node", "4", "--standalone", *script], 4),
        "srun": (["sh", "-c", SRUN, "sh", python, *script, folder], 2),
        "spawn": ([python, *script, folder], 2),
    }[launcher]
    log = os.path.join(folder, "log.jsonl")
    came = recorded(loadscope, log, launch)
    if "No module named" in came.stderr:
        raise Missing("torchrun does not run here")
    must(came.returncode == 0, came.stderr[-500:])
    recording = Recording(log)
    recording.whole()
    infos = [recording.info(run) for run in recording.runs]
    ranks = sorted(info["rank"] for info in infos)
    must(ranks == sorted([*range(count)] * 2), "ranks %s" % ranks)
    must(all(info["world_size"] == count for info in infos), "the size of the world is not known")
    seen = collections.Counter()
    for run_id in recording.runs:
        check_joined(recording.runs[run_id], "rank")
        if recording.info(run_id)["options"]["sampler"] == "distributed":
            first = [e for e in recording.runs[run_id] if e["e"] == "dispatched" and e["epoch"] == 0]
            seen.update(index for e in first for index in e["indices"])
    must(sorted(seen) == list(range(64)) and set(seen.values()) == {1}, "the ranks do not share the samples: %s" % seen)
    return "%d ranks, %d loaders" % (count, len(infos))


def check_stateful(loadscope, python, start, folder):
    """torchdata's loader: the same batches and the same saved state; what goes on in mid-epoch goes on."""
    script = str(HERE / "stateful.py")
    bare = run([python, script, os.path.join(folder, "bare")])
    if bare.returncode == 42:
        raise Missing("there is no torchdata")
    must(bare.returncode == 0, "the bare program fails: " + bare.stderr[-500:])
    log, counts = os.path.join(folder, "log.jsonl"), os.path.join(folder, "counts")
    came = recorded(loadscope, log, [python, script, counts])
    must(came.returncode == 0, "the exit code is %d: %s" % (came.returncode, came.stderr[-500:]))
    must(came.stdout == bare.stdout, "the output differs:\n%s\n%s" % (bare.stdout, came.stdout))
    must(steady(came.stderr) == steady(bare.stderr), "stderr differs:\n%s\n%s" % (bare.stderr, came.stderr))
    recording = Recording(log)
    recording.whole()
    samples = sum(check_joined(events, "stateful")[1] for events in recording.runs.values())
    real = pathlib.Path(counts).read_text().count("\n")
    must(samples == real, "%d samples were fetched, the recording knows %d" % (real, samples))
    return "%d of %d, resumed" % (samples, real)


def check_deaf(loadscope, python, start, folder):
    """No listener; a reader stops reading; a full disk: the program runs on."""
    script = [python, str(HERE / "loaders.py"), "none", os.path.join(folder, "counts")]
    bare = run(script)
    probe = os.path.join(folder, "probe")
    os.makedirs(probe)
    pathlib.Path(probe, "loadscope_probe.py").write_text(run([loadscope, "probe"]).stdout)
    site = pathlib.Path(probe, "sitecustomize.py")
    site.write_text("import loadscope_probe\n")
    path = os.pathsep.join([probe, *filter(None, [os.environ.get("PYTHONPATH")])])
    base = {**os.environ, "PYTHONPATH": path, "LOADSCOPE_PROBE_TOKEN": "x"}
    for to in ("unix:%s/absent" % folder, "tcp:127.0.0.1:9", "tcp:10.0.0.1:9", "nonsense"):
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
    # A device that is full from the beginning, and a file that may not become larger.
    never = recorded(loadscope, "/dev/full", script)
    must(never.returncode == 2, "exit code %d with a full disk: %s" % (never.returncode, never.stderr[-300:]))
    must("program not started" in never.stderr, "it does not say so: " + never.stderr[-300:])
    command = [loadscope, "record", "-o", os.path.join(folder, "full.jsonl"), "--", *script]
    full = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # The program imports PyTorch meanwhile; what the recorder prepares is larger than this.
    time.sleep(1)
    resource.prlimit(full.pid, resource.RLIMIT_FSIZE, (4096, 4096))
    _, errors = full.communicate(timeout=600)
    must(full.returncode == 0, "exit code %d with a full disk: %s" % (full.returncode, errors[-300:]))
    must("recording stopped" in errors.lower(), "the full disk is not told: " + errors[-300:])
    return "%s lost and counted" % heard.stdout.split()[-1]


def check_unharmed(loadscope, python, start, folder):
    """Programs that do what is not expected do it with the probe, too."""
    came = run([python, str(HERE.parent / "unharmed.py")])
    must(came.returncode == 0, came.stderr[-2000:])
    return came.stderr.splitlines()[-3].split(" in ")[0].lower().replace("ran ", "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--loadscope", required=True)
    parser.add_argument("--fast", action="store_true", help="two ways of starting workers, a few kills")
    parser.add_argument("--kills", type=int, default=50, help="how often a program is killed")
    parser.add_argument("--examples", help="a checkout of github.com/pytorch/examples")
    parser.add_argument("--results", help="write a table to this file")
    parser.add_argument("--only", default="", help="only checks whose name has this in it")
    parser.add_argument("pythons", nargs="+")
    options = parser.parse_args()
    # Started in the background we ignore Ctrl-C, and so would all that we start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    loadscope = os.path.abspath(options.loadscope)
    results = Results(options.results, HEAD % SEED, run([loadscope, "probe"]).stdout, order)
    tried = failed = 0
    for python in options.pythons:
        asked = run([python, "-c", "import sys, torch; print(sys.version.split()[0], torch.__version__)"])
        must(asked.returncode == 0, "%s has no PyTorch: %s" % (python, asked.stderr[-300:]))
        release = "%s, Python %s" % tuple(reversed(asked.stdout.split()))
        for start, name, check in checks(options):
            if options.only not in "%s, %s" % (name, start):
                continue
            outcomes = tried_once(check, loadscope, python, start, name)
            tried += 1
            failed += any(outcome.startswith("FAILED") for outcome in outcomes.values())
            for label, outcome in outcomes.items():
                print("PyTorch %s: %s, %s: %s" % (release, label, start, outcome), flush=True)
            results.note(release, start, name, {k: v for k, v in outcomes.items() if not v.startswith("not tried")})
    print("%d checks, %d failed" % (tried, failed))
    return 1 if failed else 0


def order(check, start):
    """Where the outcome of a check stands in the table."""
    known = list(dict.fromkeys(name for _, name, _ in checks(argparse.Namespace(fast=False, kills=1, examples=None))))
    name = "loaders" if check.split(",")[0] in KINDS.values() else check
    return (known + [name]).index(name), check, (STARTS + (start,)).index(start)


def tried_once(check, loadscope, python, start, name):
    """What came of it, by the names under which it stands in the table."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        try:
            came = check(loadscope, python, start, folder)
        except Missing as what:
            came = "not tried: %s" % what
        except (Wrong, subprocess.TimeoutExpired) as error:
            came = "FAILED: %s" % error
        except Exception as error:
            traceback.print_exc()
            came = "FAILED: %s: %s" % (type(error).__name__, error)
    print("%s, %s took %.1f s" % (name, start, time.monotonic() - began), flush=True)
    return came if isinstance(came, dict) else {name: came}


def checks(options):
    fast = options.fast
    for start in STARTS[:2] if fast else STARTS:
        yield start, "loaders", check_loaders
    yield "fork", "StatefulDataLoader", check_stateful
    for start in ("fork",) if fast else ("none", "fork"):
        yield start, "previews", looks.check_previews
    yield "fork", "contents", looks.check_contents
    two = ("fails", "killed")
    for start, some in (("fork", two),) if fast else (("none", list(ends.ENDS)[:-1]), ("fork", ends.ENDS), ("spawn", two)):
        for end in some:
            name = {"killed": "a worker is killed", "interrupted": "interrupts itself"}.get(end, end)
            yield start, name, lambda l, p, s, f, end=end: ends.check_end(l, p, s, end, f)
    yield "fork", "pinned", check_pinned
    launchers = {"torchrun": "torchrun", "srun": "ranks as by srun", "spawn": "ranks by mp.spawn"}
    for launcher, name in launchers.items():
        yield "fork", name, lambda l, p, s, f, launcher=launcher: check_ranks(l, p, s, f, launcher)
    yield "fork", "Ctrl-C", ends.check_ctrl_c
    times = 3 if fast else options.kills
    rng = random.Random(SEED)
    yield "fork", "kill -9", lambda l, p, s, f: ends.check_kill(l, p, s, f, times, rng)
    few = 2 if fast else 10
    yield "fork", "kill -9 of the recorder", lambda l, p, s, f: ends.check_kill(l, p, s, f, few, rng, "recorder")
    yield "none", "no reader", check_deaf
    yield "none", "odd programs", check_unharmed
    if not fast:
        yield from real.checks(options)


if __name__ == "__main__":
    sys.exit(main())
