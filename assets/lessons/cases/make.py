"""Records the programs of the detective cases with `loadscope record` and real PyTorch, and writes what the program needs of that.

    python make.py LOADSCOPE [NAME…]

LOADSCOPE is the program. This Python needs PyTorch and the package zstandard. What is left out of the recordings: what they say of this
host, contents of batches, and gauges of memory.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import zstandard

HERE = pathlib.Path(__file__).resolve().parent
# Each program with two arguments, so that another seed can give another recording.
RECORDINGS = {
    "no_workers": ["8", "15"],
    "late_workers": ["0.8", "0.5"],
    "slow_samples": ["37", "53"],
    "few_workers": ["1", "2"],
}
DEADLINE = 120
LEFT_OUT = {"gauge", "content"}


def short(file):
    """Returns a path without the folders of this host. Files of Python and its packages keep the path from `/lib/python` on."""
    _, lib, rest = file.partition("/lib/python")
    return lib + rest if lib else pathlib.PurePath(file).name


def without_host(line):
    event = json.loads(line)
    if event.get("e") in LEFT_OUT:
        return None
    info = event.get("info")
    if info:
        info.pop("host", None)
        info["made_at"]["file"] = pathlib.PurePath(info["made_at"]["file"]).name
        info["started_unix_ns"] = 0
    event.pop("os_id", None)
    event["functions"] = [[name, short(file)] for name, file in event.pop("functions", [])]
    if not event["functions"]:
        event.pop("functions")
    source = event.get("fact", {}).get("source")
    if source:
        source["file"] = short(source["file"])
    return json.dumps(event, separators=(",", ":"))


def record(loadscope, name, argument, folder):
    log = pathlib.Path(folder) / "run.jsonl"
    log.unlink(missing_ok=True)
    command = [loadscope, "record", "-o", str(log), "--", sys.executable, str(HERE / (name + ".py")), argument]
    subprocess.run(command, check=True, timeout=DEADLINE, stdin=subprocess.DEVNULL)
    lines = [without_host(line) for line in log.read_text().splitlines()]
    text = "".join(line + "\n" for line in lines if line)
    return zstandard.ZstdCompressor(level=19).compress(text.encode())


def main():
    loadscope, names = sys.argv[1], sys.argv[2:]
    for name, arguments in RECORDINGS.items():
        if names and name not in names:
            continue
        for number, argument in enumerate(arguments):
            with tempfile.TemporaryDirectory() as folder:
                packed = record(loadscope, name, argument, folder)
            (HERE / ("%s_%d.jsonl.zst" % (name, number))).write_bytes(packed)


if __name__ == "__main__":
    main()
