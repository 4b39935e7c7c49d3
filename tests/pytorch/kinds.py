"""Runs the programs of `kinds/`, written as people write them, without and with `loadscope record`, and holds the recording against the truth.

    python kinds.py --loadscope EXECUTABLE [--only NAME]… [--results FILE] [--keep FOLDER]

The Python that runs this needs PyTorch; programs whose library it lacks are not tried. What must hold: output and exit code are the
same, every batch that the program counted is in the recording, each loader once, called by the line that makes it, and the verdict is
one of those in `kinds_expected.py`. Ends with 1 if something does not hold.
"""

import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from kinds_expected import KINDS
from kinds_held import Held
from recording import Missing, Wrong, recorded, run, steady

HERE = pathlib.Path(__file__).resolve().parent
# Seconds that a program has; the slowest needs 15 s, most of them to import its libraries.
MOST = 240
HEAD = """# Recordings of typical programs

Written by `cargo xtask kinds`. Each program in `tests/pytorch/kinds` ran without and with `loadscope record` (Python %s, PyTorch %s).
Compared are output and exit code, the counted and the recorded batches, number and names of the loaders, the verdict and the true cause
(`kinds_expected.py`), and the figures of `report` and its summary.

| program | purpose | batches counted / recorded | loaders | verdict | as expected |
|---|---|---|---|---|---|"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--loadscope", required=True)
    parser.add_argument("--only", action="append", default=[], help="only programs with this in their names; may be given several times")
    parser.add_argument("--results", help="write a table to this file")
    parser.add_argument("--keep", help="keep recordings and reports in this folder")
    parser.add_argument("--again", type=int, default=0, help="try so often again what is not as expected: other programs use the host, too")
    options = parser.parse_args()
    # A shell that starts us in the background lets us ignore Ctrl-C, and so would all that we start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    loadscope = os.path.abspath(options.loadscope)
    rows, wrong, missing = [], 0, []
    for kind in KINDS:
        if options.only and not any(word in kind.name for word in options.only):
            continue
        began = time.monotonic()
        try:
            held = tried(kind, loadscope, options.keep)
            for again in range(options.again):
                if not held.wrong:
                    break
                print("%s, once more: %s" % (kind.name, "; ".join(held.wrong)), flush=True)
                held = tried(kind, loadscope, options.keep)
                held.tries += again + 1
        except Missing as what:
            print("%s: not tried, %s" % (kind.name, what), flush=True)
            missing.append(kind.name)
            continue
        wrong += bool(held.wrong)
        rows.append(held.row())
        said = "as expected" if not held.wrong else "; ".join(held.wrong)
        print("%s (%.0f s): %s" % (kind.name, time.monotonic() - began, said), flush=True)
    print("%d programs, %d not as expected, %d not tried" % (len(rows), wrong, len(missing)))
    if options.results and not options.only:
        write(options.results, rows, missing)
    return 1 if wrong else 0


def write(path, rows, missing):
    import torch

    lines = [HEAD % (sys.version.split()[0], torch.__version__), *rows]
    if missing:
        lines += ["", "Not tried, for want of a library: %s." % ", ".join(missing)]
    pathlib.Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def tried(kind, loadscope, keep):
    """Runs a program twice and answers what was found."""
    if kind.needs:
        came = run([sys.executable, "-c", "import " + ", ".join(kind.needs)])
        if came.returncode != 0:
            raise Missing((came.stderr.strip().splitlines() or ["?"])[-1])
    with tempfile.TemporaryDirectory() as folder:
        # What the shell scripts call `python` is this one, as in an environment that was activated.
        bin = os.path.dirname(sys.executable)
        env = {**os.environ, "PATH": bin + os.pathsep + os.environ.get("PATH", ""), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        env.pop("PYTHONPATH", None)
        command = [str(HERE / word) if word.startswith("kinds/") else word for word in kind.command]
        command = command or ["python", str(HERE / "kinds" / (kind.name + ".py"))]
        held, bare, came = Held(kind, HERE), None, None
        try:
            bare = run(command, limit=MOST, env=env, cwd=folder)
            log = os.path.join(folder, "run.jsonl")
            came = recorded(loadscope, log, command, limit=MOST, env=env, cwd=folder)
            held.same(bare, came, steady)
            held.recording(loadscope, log, came)
        except Wrong as error:
            held.wrong.append(str(error))
        except subprocess.TimeoutExpired:
            held.wrong.append("it did not end within %d s" % MOST)
        if keep:
            kept(folder, os.path.join(keep, kind.name), held, bare, came)
    return held


def kept(folder, to, held, bare, came):
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(folder, to)
    place = pathlib.Path(to)
    for name, ended in (("bare", bare), ("recorded", came)):
        (place / (name + ".txt")).write_text(ended.stdout + ended.stderr if ended else "", encoding="utf-8")
    (place / "reports.txt").write_text("\n\n".join(held.reports), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
