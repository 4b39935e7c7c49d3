"""Puts a libtorch together from the wheels of a Python package index, for `cargo xtask`.

The finished library appears under its name in one step or not at all. Started by libtorch.rs.
"""

import argparse
import contextlib
import errno
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import zipfile

from wheels import AGAIN, PLATFORM_TAGS, TORCH, Problem, Progress, get_wheels, require_space, say

STAMP = "setup-stamp"  # libtorch.rs reads it too
STAMP_VERSION = "setup 1"
LEFT_OUT = re.compile(r"cuda|nvrtc|nvshmem|torch_python|shm|global_deps", re.IGNORECASE)


def place_of(member, platform):
    """Where a file of a wheel goes in the libtorch folder; None for what is left out."""
    parts = member.split("/")
    if member.endswith("/") or ".." in parts:
        return None
    name = parts[-1]
    if parts[0] == "nvidia":
        return "lib/" + name if re.fullmatch(r"lib(cudart|cupti)\.so\.13", name) else None
    if parts[0] != "torch":
        return None
    if parts[1] == "include":
        return "/".join(parts[1:])
    if parts[1] != "lib" or len(parts) != 3:
        return None
    if platform == "linux-x86_64":
        keep = re.fullmatch(r"lib(torch_cpu|c10|torch|gomp[^/]*)\.so(\.\d+)*", name)
    else:
        keep = not LEFT_OUT.search(name) and re.search(r"\.(so|dylib|dll|lib)(\.|$)", name)
    return "lib/" + name if keep else None


def needed_files(platform):
    """Without these a library is not complete."""
    names = {
        "linux": ["libtorch.so", "libtorch_cpu.so", "libc10.so"],
        "macos": ["libtorch.dylib", "libtorch_cpu.dylib", "libc10.dylib"],
        "windows": ["torch.lib", "torch_cpu.lib", "c10.lib", "torch_cpu.dll", "c10.dll"],
    }[platform.split("-")[0]]
    if platform == "linux-x86_64":
        names = names + ["libcudart.so.13", "libcupti.so.13"]
    headers = ["torch/csrc/api/include/torch/torch.h", "ATen/ATen.h", "c10/util/Exception.h"]
    return ["lib/" + name for name in names] + ["include/" + name for name in headers]


def complete(folder):
    """Whether the stamp of a finished set-up is there and every file in it has its size."""
    try:
        first, *files = (folder / STAMP).read_text().splitlines()
        sizes = [(folder / line.rpartition(" ")[0], int(line.rpartition(" ")[2])) for line in files]
        return first == STAMP_VERSION and all(f.stat().st_size == size for f, size in sizes)
    except (OSError, ValueError):
        return False


@contextlib.contextmanager
def locked(path):
    """One set-up at a time; the system drops the lock when its holder dies."""
    with open(path, "a+") as file:
        told = False
        while True:
            try:
                if os.name == "nt":
                    import msvcrt
                    msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
                else:
                    import fcntl
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
                    raise
                if not told:
                    say("Another set-up of libtorch is at work; waiting for it.")
                told = True
                time.sleep(0.3)
        yield


def unpack(wheels, platform, folder):
    """Everything libtorch needs of the wheels, written to the disk for good."""
    archives = [zipfile.ZipFile(wheel) for wheel in wheels]
    chosen = [(archive, item, place_of(item.filename, platform))
              for archive in archives for item in archive.infolist()]
    chosen = [(archive, item, place) for archive, item, place in chosen if place]
    total = sum(item.file_size for _, item, _ in chosen)
    require_space(folder, total)
    progress = Progress("Unpacking libtorch", total)
    for archive, item, place in chosen:
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        # Reading to the end also checks the CRC of the file.
        with archive.open(item) as source, open(target, "wb") as sink:
            while block := source.read(1 << 20):
                sink.write(block)
                progress.add(len(block))
            if item.file_size > 1 << 20:
                os.fsync(sink.fileno())
    progress.finish()
    for archive in archives:
        archive.close()
    missing = [name for name in needed_files(platform) if not (folder / name).is_file()]
    if missing:
        raise Problem(f"The wheel {wheels[0].name} lacks {', '.join(missing)}: it is not laid out "
                      f"as expected. Set LIBTORCH to the folder of a libtorch {TORCH} instead.")
    (folder / "build-version").write_text(TORCH + "\n")
    libraries = sorted((folder / "lib").iterdir())
    lines = [f"lib/{file.name} {file.stat().st_size}" for file in libraries]
    (folder / STAMP).write_text("\n".join([STAMP_VERSION, *lines]) + "\n")


def require_loadable(folder):
    script = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    tried = subprocess.run([sys.executable, "-c", script, str(folder / "lib" / "libtorch_cpu.so")],
                           stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if tried.returncode:
        why = (tried.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise Problem(f"libtorch was unpacked but this system cannot load it: {why}. It needs "
                      f"glibc 2.28 or newer and libstdc++ (Debian: apt-get install libstdc++6); "
                      f"or set LIBTORCH to the folder of a libtorch {TORCH} built for this system.")


def sync_to_disk(folder):
    if hasattr(os, "sync"):
        os.sync()  # Ten thousand headers: one call is far faster than one fsync for each.
    if os.name != "nt":
        handle = os.open(folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)


def set_up(platform, into, check_load):
    into.parent.mkdir(parents=True, exist_ok=True)
    with locked(into.parent / (into.name + ".lock")):
        # The last holder of the lock may have died: what it left has no owner.
        for leftover in into.parent.glob(into.name + ".tmp-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        if complete(into):
            return
        downloads = into.parent / (into.name + ".wheels")
        downloads.mkdir(exist_ok=True)
        wheels = get_wheels(platform, downloads)
        fresh = into.parent / f"{into.name}.tmp-{os.getpid()}"
        try:
            fresh.mkdir()
            try:
                unpack(wheels, platform, fresh)
            except (zipfile.BadZipFile, EOFError) as error:
                shutil.rmtree(downloads, ignore_errors=True)
                raise Problem(f"A wheel of libtorch is damaged ({error}) and was removed. Run the "
                              f"same command again to download it anew.") from error
            if check_load and platform.startswith("linux"):
                require_loadable(fresh)
            sync_to_disk(fresh)
            if into.exists():
                # A damaged library stands in the way of the new one.
                into.rename(into.parent / f"{into.name}.tmp-old-{os.getpid()}")
            fresh.rename(into)
            sync_to_disk(into.parent)
        finally:
            for leftover in into.parent.glob(into.name + ".tmp-*"):
                shutil.rmtree(leftover, ignore_errors=True)
        shutil.rmtree(downloads, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(prog="libtorch.py")
    parser.add_argument("--platform", required=True, choices=PLATFORM_TAGS)
    parser.add_argument("--into", required=True, type=pathlib.Path)
    parser.add_argument("--no-load", action="store_true")
    arguments = parser.parse_args()
    try:
        set_up(arguments.platform, arguments.into, not arguments.no_load)
    except KeyboardInterrupt:
        say("\nStopped. What was downloaded is kept; the next call goes on from there.")
        return 130
    except Problem as problem:
        say(str(problem))
        return 1
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        remedy = "Free some space" if full else "Make the folder writable"
        say(f"libtorch could not be written to {arguments.into.parent}: {error}. {remedy} or set "
            f"LOADSCOPE_CACHE to another folder, {AGAIN}.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
