"""Runs the programs of the lessons with this Python's PyTorch and writes what they print beside them.

`run.py` writes NAME.out for each NAME.py. `run.py --check` changes nothing and ends with 1 if one prints something else than is stored.
Names as arguments: only these.
"""

import os
import pathlib
import runpy
import subprocess
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
# A program that hangs is ended after so many seconds.
DEADLINE = 120


def in_a_process(path):
    """Imports everything anew."""
    command = [sys.executable, "-W", "ignore", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, cwd=HERE, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SystemExit("%s ended with code %d:\n%s" % (path.name, done.returncode, done.stderr))
    return done.stdout


def in_a_copy(path):
    """In a copy of this process, which has imported PyTorch: importing it takes longer than all else."""
    import signal

    import torch.utils.data  # noqa: F401

    with tempfile.TemporaryFile("w+") as out:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.dup2(out.fileno(), 1)
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                signal.alarm(DEADLINE)
                warnings.simplefilter("ignore")
                sys.argv = [str(path)]
                runpy.run_path(str(path), run_name="__main__")
                sys.stdout.flush()
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        if status != 0:
            raise SystemExit("%s ended with status %d" % (path.name, status))
        out.seek(0)
        return out.read()


def main():
    arguments = sys.argv[1:]
    check = "--check" in arguments
    names = [name for name in arguments if name != "--check"]
    printed = in_a_copy if hasattr(os, "fork") else in_a_process
    different = []
    for path in sorted(HERE.glob("[0-9]*.py")):
        if names and path.stem not in names:
            continue
        now, stored = printed(path), path.with_suffix(".out")
        if not check:
            stored.write_text(now)
        elif stored.read_text() != now:
            different.append(path.stem)
            print("%s printed:\n%s\nbut stored is:\n%s" % (path.name, now, stored.read_text()))
    if different:
        raise SystemExit("These print something else than is stored: %s. Run run.py to store it." % " ".join(different))


if __name__ == "__main__":
    main()
