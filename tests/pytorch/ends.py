"""However a program ends, by itself or by force: it ends as it would have, and the recording opens."""

import os
import pathlib
import signal
import subprocess
import time

from recording import HERE, Recording, Wrong, check_joined, must, recorded, run, steady

TROUBLE = str(HERE / "trouble.py")
# By itself, each ends like this; -2 is the signal of Ctrl-C.
ENDS = {"fails": 1, "raises": 1, "exits": 7, "interrupted": -2, "killed": 1}
# Milliseconds before a kill that may be missing. Who kills the recorder kills what it had not written yet.
MOST_LOST = {"program": 200, "recorder": 500}


def check_end(loadscope, python, start, end, folder):
    """The same output, error and exit code, and the reason in the recording."""
    command = [python, TROUBLE, end, start]
    bare = run(command)
    must(bare.returncode == ENDS[end], "the bare program ends with %d: %s" % (bare.returncode, bare.stderr[-500:]))
    log = os.path.join(folder, "log.jsonl")
    came = recorded(loadscope, log, command)
    must(came.returncode == bare.returncode, "exit codes %d and %d" % (bare.returncode, came.returncode))
    must(steady(came.stdout) == steady(bare.stdout), "the output differs")
    if end not in ("killed", "interrupted"):
        differ = "stderr differs:\n%s\n%s" % (bare.stderr, came.stderr)
        must(steady(came.stderr) == steady(bare.stderr), differ)
    else:
        # Where the signal strikes is a matter of chance; no line of it may be ours.
        must("loadscope_probe" not in came.stderr, "a frame of the probe is seen:\n" + came.stderr)
    recording = Recording(log)
    recording.whole()
    check_joined(recording.runs[0], end)
    errors = " ".join(recording.messages("error"))
    expected = {"fails": "sample 133 is broken", "killed": "signal 9"}.get(end, "")
    must(expected in errors, "the recording does not say %r, but %r" % (expected, errors))
    if end == "fails":
        said = [e for e in recording.runs[0] if e["e"] == "message" and e["level"] == "error"]
        must(said[0].get("sample") == 133, "the sample is not named: %s" % said)
    return "exit code %d" % bare.returncode


def check_ctrl_c(loadscope, python, start, folder):
    """Ctrl-C at a terminal goes to the whole group; a signal to the recorder goes on to the program."""
    log = os.path.join(folder, "log.jsonl")
    for whole in (True, False):
        with endless(loadscope, python, start, log, start_new_session=True) as program:
            program.stdout.readline()
            time.sleep(0.3)
            (os.killpg if whole else os.kill)(program.pid, signal.SIGINT)
            _, errors = program.communicate(timeout=600)
        must("KeyboardInterrupt" in errors, "the program did not hear Ctrl-C: " + errors)
        must("loadscope_probe" not in errors, "a frame of the probe is seen:\n" + errors)
        must(program.returncode in (-2, 130), "exit code %s" % program.returncode)
        Recording(log).whole()
    return "exit code %d" % program.returncode


def endless(loadscope, python, start, log, **more):
    pathlib.Path(log).unlink(missing_ok=True)
    command = [loadscope, "record", "-o", log, "--", python, TROUBLE, "endless", start]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def check_kill(loadscope, python, start, folder, times, rng, victim="program"):
    """Signal 9 at any moment, for the program or for the recorder: what was sent until shortly before is there."""
    log = os.path.join(folder, "log.jsonl")
    missing = []
    while len(missing) < times:
        came = one_kill(loadscope, python, start, log, rng, victim)
        missing += [] if came is None else [came]
    worst = max(missing)
    return "%d times, at most %.0f ms lost" % (times, worst)


def one_kill(loadscope, python, start, log, rng, victim):
    """Answers the milliseconds that are missing; `None` if the host stood still, so that nothing could be written."""
    with endless(loadscope, python, start, log) as program:
        first = program.stdout.readline()
        must(first.startswith("0 "), "the program did not begin: %r" % first)
        # Nothing can be there before the first words were written down.
        asked = rng.uniform(0.4 if victim == "recorder" else 0.02, 1.2)
        began = time.monotonic()
        time.sleep(asked)
        child = child_of(program.pid)
        killed = time.monotonic_ns()
        stood_still = killed / 1e9 - began > asked + 0.5
        if victim == "recorder":
            program.kill()
            time.sleep(0.2)
            must(os.path.exists("/proc/%d" % child), "the program died with its recorder")
        os.kill(child, signal.SIGKILL)
        program.wait(timeout=600)
        said = [first, *program.stdout.read().splitlines()]
    recording = Recording(log)
    events = recording.runs.get(0, [])
    check_joined(events, "killed")
    if stood_still:
        return None
    # What the program itself told: the recorder notes its end, and gauges, later than that.
    last = max(event["t"] for event in events if event["e"] in ("dispatched", "fetched"))
    missing = (killed - zero_of(events, said) - last) / 1e6
    must(missing < MOST_LOST[victim], "the last %.0f ms are missing, %s killed" % (missing, victim))
    if victim == "program":
        must(any("killed" in text for text in recording.messages("warning")), "the cut is not shown")
    return missing


def zero_of(events, said):
    """The program's clock at the recording's zero. A batch is printed right after it was yielded, mostly."""
    yields = {e["batch"]: e["t"] for e in events if e["e"] == "entered" and e["stage"] == "training"}
    must(yields, "nothing was recorded")
    printed = (line.split() for line in said)
    printed = ((int(words[0]), int(words[1])) for words in printed if len(words) == 2)
    return min(at - yields[batch] for batch, at in printed if batch in yields)


def child_of(pid):
    """The process id of the program. The recorder has another child, which receives its signals."""
    for _ in range(100):
        for child in pathlib.Path("/proc/%d/task/%d/children" % (pid, pid)).read_text().split():
            if b"trouble.py" in pathlib.Path("/proc/%s/cmdline" % child).read_bytes():
                return int(child)
        time.sleep(0.02)
    raise Wrong("the recorder has no child")
