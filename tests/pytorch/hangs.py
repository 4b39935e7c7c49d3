"""Checks `loadscope dump` on random programs that hang, and `record --alarm` on slow programs that do not.

    python hangs.py --loadscope EXECUTABLE [--programs N] [--first SEED] [--healthy MINUTES] [--results FILE] [--keep FOLDER] [PYTHON]

Each program hangs in a known way at a known line. One `dump --json` must name the cause, the process, the line, and the line at which the
main process waits, within 5 s. With `--healthy`, slow trainings run under `record --alarm 5s`, and no alarm may be raised.
The program and the output of each wrong answer are kept in a folder.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from hangs_programs import HEALTHY, generate

LIMIT = 5.0  # s, of a dump
AT_ONCE = 4
RUNNING = set()
HEAD = """# Programs that hang

Written by `cargo xtask hangs`. Each program hangs at a random batch, in a function at a random depth, with random workers, start methods and
threads (`hangs_programs.py`). One `loadscope dump PID --json` must name the *cause*, and the process and *line* that hang. *stack of main*:
the line at which the main process waits. *in a thread*: the function runs in a thread of the worker or of the process, which waits for it.

- Pin-memory threads run with a simulated accelerator.
- The file system in FUSE is mounted by the program itself, and answers only the first request.
- *SharedMemory*: a child dies from SIGBUS. *torch tensor in a queue*, *collate without shared memory*: PyTorch prints an error, and the tensor
  is lost. `default_collate` raises an error in the main process, which does not hang.

Python %s, PyTorch %s, %d cores, load average %.0f, at most %d programs at once.

| kind | variant | programs | cause | line | stack of main | within 5 s | longest dump |
|---|---|---|---|---|---|---|---|"""


class Failed(Exception):
    """Reason why a program could not be checked."""


def run_group(command, **options):
    """Starts a program in a process group of its own."""
    program = subprocess.Popen([str(one) for one in command], start_new_session=True, stdin=subprocess.DEVNULL, **options)
    RUNNING.add(program)
    return program


def kill(program):
    """Kills a program with all processes that it started."""
    # The group has processes even if its first one has ended.
    try:
        os.killpg(program.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    program.wait()
    RUNNING.discard(program)


def marks(folder, name):
    """Returns the process and the thread of each line of a file that the program writes."""
    file = folder / name
    lines = file.read_text().splitlines(keepends=True) if file.exists() else []
    return [tuple(map(int, line.split())) for line in lines if line.endswith("\n")]


def switches(pid, tid):
    """Returns the number of context switches and the state of a thread. `None` if it has ended."""
    try:
        lines = pathlib.Path("/proc/%d/task/%d/status" % (pid, tid)).read_text().splitlines()
    except OSError:
        return None
    return [line for line in lines if "ctxt_switches" in line or line.startswith("State")]


def wait_for_hang(program, folder, wanted):
    """Waits for the marks, and until the threads that hang and the main thread of another process execute nothing for a second."""
    end = time.monotonic() + 120
    before, since = None, time.monotonic()
    while time.monotonic() < end:
        if program.poll() is not None:
            raise Failed("the program ended with %s" % program.returncode)
        found = marks(folder, "hangs")
        # A thread that waits for the GIL executes code.
        main = [] if any(pid == program.pid for pid, _ in found) else [(program.pid, program.pid)]
        now = [found] + [switches(*node) for node in main + found]
        if now != before:
            before, since = now, time.monotonic()
        elif len(found) >= wanted and time.monotonic() > since + 1:
            return found
        time.sleep(0.1)
    raise Failed("the program did not hang: %s" % before)


def start(hang, folder, python):
    """Starts the program, in a mount namespace of its own if it needs one."""
    (folder / "program.py").write_text(hang.text)
    os.mkfifo(folder / "fifo")
    command = [python, folder / "program.py", folder]
    if hang.mount:
        as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
        command = ["unshare", "--mount", *as_root, "sh", "-c", hang.mount + ' && exec "$0" "$@"', *command]
    with open(folder / "output", "w") as output:
        return run_group(command, stdout=output, stderr=output, cwd=folder)


def dump(loadscope, pid, folder):
    """Returns the answer of a dump, and its time."""
    with open(folder / "dump.json", "w+") as output:
        began = time.monotonic()
        dumping = run_group([loadscope, "dump", pid, "--json", "--lang", "en"], stdout=output, stderr=output)
        try:
            code = dumping.wait(timeout=60)
        except subprocess.TimeoutExpired:
            raise Failed("the dump took over 60 s") from None
        finally:
            kill(dumping)
        took = time.monotonic() - began
        output.seek(0)
        text = output.read()
    if code != 0:
        raise Failed(text.strip())
    return json.loads(text), took


def user_line(answer, file, node):
    """Returns the line of the innermost frame of the program in a thread."""
    for process in answer["processes"]:
        for thread in process["threads"]:
            if (process["pid"], thread["tid"]) == node:
                frames = [frame for frame in thread["frames"] if frame["is_user"]]
                return frames[0]["line"] if frames and frames[0]["file"] == str(file) else None
    return None


def judged(hang, answer, program, found, folder):
    """Returns whether the cause, the line and the line of the main process are right."""
    lines = hang.text.splitlines()
    here = [at for at, line in enumerate(lines, 1) if line.endswith("# hangs")]
    waits = [at for at, line in enumerate(lines, 1) if line.endswith("# waits")]
    conclusion = answer["conclusion"] or {"cause": {"kind": None}, "at": {"pid": None, "tid": None}}
    cause, at = conclusion["cause"], (conclusion["at"]["pid"], conclusion["at"]["tid"])
    # The item is lost and /dev/shm is empty again, so that its size is the only trace.
    small = ["shared_memory_small"] if hang.cause == "shared_memory_full" else []
    is_right = cause["kind"] in [hang.cause, *small]
    if hang.cause == "unreleased_lock":
        is_right &= cause.get("is_forked") is True and cause.get("is_event") is False
    if hang.cause == "collective":
        is_right &= cause.get("missing") == [pid for pid, _ in marks(folder, "less")]
    file = folder / "program.py"
    main = user_line(answer, file, (program.pid, program.pid))
    if hang.has_ended:
        # An ended process has no stack. For a lost item, the process that waits for it is named.
        is_lost = cause.get("has_died") is False
        pids = [program.pid] if is_lost else [pid for pid, _ in found]
        return is_right, is_right and at[0] in pids, main in waits
    # A signal stops all threads of a process.
    pids = [pid for pid, _ in found]
    is_named = at[0] in pids if hang.cause == "stopped" else at in found
    named = [node for node in found if node[0] == at[0]] or [at]
    is_line = is_named and user_line(answer, file, named[0]) in here
    return is_right, is_line, main in (here if found[0] == (program.pid, program.pid) else waits)


def check(seed, options):
    """Runs the program of a seed. Returns it, the judgment, the cause that was named, and what was wrong."""
    hang = generate(seed)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="hangs-"))
    row, program = (False, False, False, float("inf")), None
    try:
        program = start(hang, folder, options.python)
        found = wait_for_hang(program, folder, hang.marks)
        answer, took = dump(options.loadscope, program.pid, folder)
        row, text = (*judged(hang, answer, program, found, folder), took), answer["text"]
        named = answer["conclusion"]["cause"]["kind"] if answer["conclusion"] else "no cause"
    except Failed as error:
        named, text = "not checked", str(error)
    finally:
        if program:
            kill(program)
    wrong = [what for what, is_right in zip(("cause", "line", "stack of main", "time"), (*row[:3], row[3] <= LIMIT)) if not is_right]
    print(seed, hang.kind, hang.variant, "%.1f s" % row[3], "WRONG %s: %s: %s" % (wrong, named, text) if wrong else "right", flush=True)
    if options.keep and wrong:
        shutil.copytree(folder, options.keep / str(seed), dirs_exist_ok=True, ignore=shutil.ignore_patterns("fifo", "fuse"))
    shutil.rmtree(folder, ignore_errors=True)
    return hang, row, named, ", ".join(wrong)


def slow_training(name, text, end, options):
    """Records a slow training with an alarm. Returns its name, the time it ran, and its alarms."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="healthy-"))
    began = time.monotonic()
    try:
        (folder / "program.py").write_text(text)
        command = [options.loadscope, "record", "--alarm", "5s", "--lang", "en", "-o", folder / "run.jsonl", "--"]
        with open(folder / "output", "w+") as output:
            left = max(20, end - began)
            program = run_group([*command, options.python, folder / "program.py", left], stdout=output, stderr=output)
            try:
                code = program.wait(timeout=left + 180)
            except subprocess.TimeoutExpired:
                code = "none: it did not end"
            finally:
                kill(program)
            output.seek(0)
            lines = output.read().splitlines()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    alarms = [line for line in lines if line.startswith("loadscope: No batch arrived")]
    if code != 0 or "end" not in lines:
        alarms.append("exit code %s: %s" % (code, lines[-3:]))
    batches = lines.count("batch")
    print(name, batches, len(alarms), alarms[:1], flush=True)
    return name, time.monotonic() - began, batches, alarms


def all_of(function, values, at_once):
    """Returns the results of a function in threads. An error or a signal kills all programs."""
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        try:
            return list(pool.map(function, values))
        finally:
            for program in list(RUNNING):
                kill(program)


def table(rows):
    """Returns the rows of a table, one for each kind and variant."""
    groups = collections.defaultdict(list)
    for hang, row, _, _ in rows:
        groups[hang.kind, hang.variant].append(row)
    if rows:
        groups["**all**", ""] = [row for _, row, _, _ in rows]
    lines = []
    for (kind, variant), found in sorted(groups.items(), key=lambda item: (item[0][0] == "**all**", item[0])):
        right = [sum(row[at] for row in found) for at in range(3)]
        in_time = sum(row[3] <= LIMIT for row in found)
        cells = [kind, variant, len(found), *right, in_time, "%.1f s" % max(row[3] for row in found)]
        lines.append("| %s |" % " | ".join(map(str, cells)))
    return lines


def page(rows, trainings, options):
    """Returns the result page."""
    command = [options.python, "-c", "import torch, platform; print(platform.python_version(), torch.__version__)"]
    python, torch = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    lines = [HEAD % (python, torch, len(os.sched_getaffinity(0)), os.getloadavg()[2], AT_ONCE), *table(rows)]
    wrong = collections.Counter((hang.kind, hang.variant, hang.cause, named, wrong) for hang, _, named, wrong in rows if wrong)
    if wrong:
        lines += ["", "## Wrong answers", "", "| kind | variant | expected | answer | wrong | programs |", "|---|---|---|---|---|---|"]
        lines += ["| %s | %d |" % (" | ".join(key), count) for key, count in sorted(wrong.items())]
    if trainings:
        short = "" if options.healthy >= 60 else " An hour was not run."
        lines += ["", "## Slow trainings that do not hang", ""]
        lines += ["All run at once for %g min under `loadscope record --alarm 5s`.%s" % (options.healthy, short), ""]
        lines += ["| training | time | batches | alarms |", "|---|---|---|---|"]
        lines += ["| %s | %.1f min | %d | %d |" % (name, took / 60, batches, len(alarms)) for name, took, batches, alarms in trainings]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loadscope", required=True, type=os.path.abspath)
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--healthy", type=float, default=0, metavar="MINUTES")
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, help="folder for programs with wrong answers, and their dumps")
    parser.add_argument("python", nargs="?", default=sys.executable)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    seeds = range(options.first, options.first + options.programs)
    rows = all_of(lambda seed: check(seed, options), seeds, AT_ONCE)
    end = time.monotonic() + 60 * options.healthy
    jobs = HEALTHY.items() if options.healthy else []
    trainings = all_of(lambda job: slow_training(*job, end, options), jobs, len(HEALTHY))
    text = page(rows, trainings, options)
    print(text)
    if options.results:
        options.results.write_text(text)
    return 0 if not any(wrong for *_, wrong in rows) and not any(alarms for *_, alarms in trainings) else 1


if __name__ == "__main__":
    sys.exit(main())
