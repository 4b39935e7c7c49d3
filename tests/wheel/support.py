"""What the tests of the Python package share: programs in processes of their own, and what was recorded of them."""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

# Seconds that a program has.
DEADLINE = 400

# A dataset that takes a little time, and loops over it that count.
PRELUDE = """
import os, sys, time, warnings
import torch
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 24
    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.tensor([float(index), torch.rand(()).item()])

def count(loader):
    return sum(1 for _ in loader)

def main(): pass
"""


class Program(unittest.TestCase):
    """Tests that run programs in a folder of their own."""

    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="loadscope-wheel-")
        self.addCleanup(made.cleanup)
        self.folder = made.name

    def file(self, name):
        return os.path.join(self.folder, name)

    def write(self, text, name="train.py"):
        with open(self.file(name), "w", encoding="utf-8") as file:
            file.write(PRELUDE + textwrap.dedent(text))
        return self.file(name)

    def start(self, text, *options, name="train.py", before=(), **kwargs):
        command = [*before, sys.executable, *options, self.write(text, name)]
        return subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", **kwargs
        )

    def run_program(self, text, *options, code=0, **kwargs):
        """What a program prints, on standard output and standard error."""
        running = self.start(text, *options, **kwargs)
        try:
            out, err = running.communicate(timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            running.kill()
            raise AssertionError("it hangs: %s" % (running.communicate(),))
        self.assertEqual(running.returncode, code, out + err)
        return out, err


def batches(path):
    """How many batches of a recording the program got."""
    import loadscope

    tables = loadscope.read(path)
    return int(sum(stage in ("done", "training") for stage in tables.batches["stage"]))
