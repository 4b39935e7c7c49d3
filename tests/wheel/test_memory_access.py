"""Under Yama, a process that Loadscope did not start allows the recorder to read its memory. Other processes are left alone."""

import os
import socket
import subprocess
import sys
import tempfile
import unittest

from loadscope._recording import PROBE

# Connects to a recorder, and prints the calls of prctl.
PROGRAM = """
import os, socket, sys
sys.path.insert(0, sys.argv[1])
import ctypes
import loadscope_probe as probe

calls = []

class Library:
    def prctl(self, *arguments):
        calls.append(arguments)

ctypes.CDLL = lambda name: Library()
probe.PTRACE_SCOPE = sys.argv[2]
connected = socket.socket(socket.AF_UNIX)
connected.connect(sys.argv[3])
probe.quiet(lambda: probe.allow_reading(connected))
print(calls)
"""


class MemoryAccess(unittest.TestCase):
    def calls(self, scope, is_child):
        with tempfile.TemporaryDirectory() as folder:
            setting, address = os.path.join(folder, "scope"), os.path.join(folder, "socket")
            with open(setting, "w") as file:
                file.write(scope + "\n")
            # The recorder is the process that listens: the parent, or another child of it.
            ready = "import socket, sys, time; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print(1, flush=True); time.sleep(60)"
            other = None
            if is_child:
                listener = socket.socket(socket.AF_UNIX)
                listener.bind(address)
                listener.listen()
                recorder = os.getpid()
            else:
                other = subprocess.Popen([sys.executable, "-c", ready, address], stdout=subprocess.PIPE)
                other.stdout.readline()
                recorder = other.pid
            try:
                program = [sys.executable, "-c", PROGRAM, PROBE, setting, address]
                printed = subprocess.run(program, capture_output=True, text=True, timeout=60, check=True)
            finally:
                if other is not None:
                    other.kill()
                    other.communicate()
                else:
                    listener.close()
            return recorder, eval(printed.stdout)

    def test_the_recorder_is_allowed_if_it_is_no_ancestor(self):
        recorder, calls = self.calls("1", is_child=False)
        self.assertEqual(calls, [(0x59616D61, recorder, 0, 0, 0)])

    def test_an_ancestor_and_other_settings_need_no_permission(self):
        for scope, is_child in (("1", True), ("0", False), ("2", False)):
            self.assertEqual(self.calls(scope, is_child)[1], [], (scope, is_child))


if __name__ == "__main__":
    unittest.main()
