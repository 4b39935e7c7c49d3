"""Programs that wait to be recorded: `loadscope install`, `loadscope attach`, and `loadscope record` where the environment is lost."""

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

import loadscope
from loadscope import _dormant, _install
from support import DEADLINE, Program, batches

# Runs a program as if the file had been installed: the same line, gone through by Python's own code.
ENVIRONMENT = """
import runpy, site, sys
sys.path.insert(0, %r)
site.addsitedir(%r)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""

LOOK = """
from torch.utils.data import dataloader as pytorch
def state():
    probe = sys.modules.get("loadscope_probe")
    return bool(probe and probe.PLACED)
"""


class Attach(Program):
    def setUp(self):
        super().setUp()
        place = os.path.join(self.folder, "packages")
        os.mkdir(place)
        with open(os.path.join(place, _install.NAME), "w", encoding="utf-8") as file:
            file.write(_install.LINE)
        package = os.path.dirname(os.path.dirname(os.path.abspath(loadscope.__file__)))
        with open(self.file("as_installed.py"), "w", encoding="utf-8") as file:
            file.write(ENVIRONMENT % (package, place))

    def waiting(self, text, **kwargs):
        """A program that says `ready`, and goes on when its standard input says so."""
        self.write(LOOK + text)
        running = subprocess.Popen(
            [sys.executable, self.file("as_installed.py"), self.file("train.py")], cwd=self.folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", **kwargs,
        )  # fmt: skip
        self.addCleanup(running.communicate)
        self.addCleanup(running.kill)
        self.assertEqual(running.stdout.readline(), "ready\n")
        return running

    def go_on(self, running):
        running.stdin.write("\n")
        running.stdin.flush()
        return running.stdout.readline().strip()

    def attach(self, running, name):
        """Attaches, and waits until the process is asked."""
        attached = subprocess.Popen(
            [loadscope.binary(), "attach", str(running.pid), "-o", self.file(name)], stderr=subprocess.PIPE, encoding="utf-8"
        )
        self.addCleanup(attached.communicate)
        self.addCleanup(attached.kill)
        self.assertIn("from its next DataLoader iterator", attached.stderr.readline())
        return attached

    def let_go(self, attached):
        attached.send_signal(signal.SIGINT)
        return attached.communicate(timeout=30)[1], attached.returncode

    def test_attach_begins_at_the_next_iterator_and_is_removed(self):
        running = self.waiting(
            """
loader = DataLoader(Slow(), batch_size=4, num_workers=2)
count(loader)
print("ready", flush=True)
for _ in range(4):
    input()
    print(count(loader), state(), "LOADSCOPE_PROBE_TO" in os.environ, flush=True)
"""
        )
        attached = self.attach(running, "first.jsonl")
        self.assertEqual(self.go_on(running), "6 True True")
        said, code = self.let_go(attached)
        self.assertEqual(code, 0, said)
        self.assertIn("1 loader, 6 batches in", said)
        self.assertEqual(batches(self.file("first.jsonl")), 6)
        # What went on is no crash.
        self.assertEqual(loadscope.read(self.file("first.jsonl")).errors.rows, 0)
        self.assertEqual(self.go_on(running), "6 False False")
        again = self.attach(running, "second.jsonl")
        self.assertEqual(self.go_on(running), "6 True True")
        self.assertEqual(self.let_go(again)[1], 0)
        self.assertEqual(batches(self.file("second.jsonl")), 6)
        self.assertEqual(self.go_on(running), "6 False False")
        self.assertEqual(running.wait(timeout=30), 0)

    def test_persistent_workers_are_recorded_until_the_end(self):
        running = self.waiting(
            """
loader = DataLoader(Slow(), batch_size=4, num_workers=2, persistent_workers=True)
count(loader)
print("ready", flush=True)
input()
print(count(loader) + count(loader), flush=True)
"""
        )
        attached = self.attach(running, "run.jsonl")
        self.assertEqual(self.go_on(running), "12")
        said = attached.communicate(timeout=30)[1]
        self.assertIn("1 loader, 12 batches in", said)
        self.assertEqual(batches(self.file("run.jsonl")), 12)

    def test_child_processes_are_recorded(self):
        child = self.write("print('ready', flush=True)\ninput()\nprint(count(DataLoader(Slow(), batch_size=4)), flush=True)", name="rank.py")
        running = self.waiting(
            "import subprocess\nsubprocess.run([sys.executable, %r, %r], env={'RANK': '1', 'WORLD_SIZE': '2'})"
            % (self.file("as_installed.py"), child)
        )
        attached = self.attach(running, "run.jsonl")
        self.assertEqual(self.go_on(running), "6")
        said = attached.communicate(timeout=30)[1]
        self.assertIn("rank 1", said)
        self.assertEqual(batches(self.file("run.jsonl")), 6)

    def test_errors_contain_no_frame_of_loadscope(self):
        running = self.waiting(
            """
import traceback
print("ready", flush=True)
input()
try:
    iter(DataLoader(Slow(), batch_size=4, num_workers=1, multiprocessing_context="spawn", worker_init_fn=lambda _: None))
except Exception:
    text = traceback.format_exc()
    print("ickle" in text and not any(ours in text for ours in ("_dormant", "loadscope_probe", "_recording")), flush=True)
"""
        )
        self.assertEqual(self.go_on(running), "True")

    def test_record_works_without_its_environment_variables(self):
        program = self.write("print(count(DataLoader(Slow(), batch_size=4, num_workers=2)))")
        command = [sys.executable, self.file("as_installed.py"), program]
        for name, lost in (("a.jsonl", ["env", "-i"]), ("b.jsonl", ["env", "PYTHONPATH=."]), ("c.jsonl", ["env", "-u", "PYTHONPATH"])):
            asked = subprocess.run(
                [loadscope.binary(), "record", "-o", self.file(name), "--", *lost, *command],
                cwd=self.folder, capture_output=True, encoding="utf-8", timeout=DEADLINE,
            )  # fmt: skip
            self.assertEqual((asked.returncode, asked.stdout), (0, "6\n"), asked.stderr)
            self.assertNotIn("is not recorded", asked.stderr)
            self.assertEqual(batches(self.file(name)), 6)

    def test_a_missing_process_is_refused(self):
        asked = subprocess.run([loadscope.binary(), "attach", "4194303"], capture_output=True, encoding="utf-8", timeout=30)
        self.assertEqual(asked.returncode, 2)
        self.assertIn("process 4194303 does not exist", asked.stderr)
        self.assertNotIn("run.jsonl.zst", os.listdir("."))

    def test_a_process_without_the_installed_line_is_reported(self):
        running = subprocess.Popen([sys.executable, "-c", "print(flush=True); import sys; sys.stdin.read()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(running.communicate)
        running.stdout.readline()
        said, code = self.let_go(self.attach(running, "run.jsonl"))
        self.assertEqual(code, 1)
        self.assertIn("python -m loadscope install", said.replace("`", "").replace("  ", " "))
        self.assertFalse(os.path.exists(self.file("run.jsonl")))


class Requests(unittest.TestCase):
    """What is believed of a file that asks for a recording."""

    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = os.path.join(made.name, "attach")
        os.mkdir(self.folder, 0o700)
        self.place = os.path.join(made.name, "listener")
        os.mkdir(self.place, 0o700)
        self.dormant = _dormant.Dormant()
        self.dormant.folder = self.folder

    def put(self, mode=0o600, **other):
        pid = os.getpid()
        said = {"loadscope_attach": 1, "pid": pid, "start": _dormant.process(pid)[1], "boot": _dormant.boot(), "to": "unix:%s/socket" % self.place}
        said.update({"token": "word", "previews": 0}, **other)
        self.path = os.path.join(self.folder, "%s-%d.json" % (_dormant.boot()[:8], pid))
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(said, file)
        os.chmod(self.path, mode)
        self.dormant.seen = None

    def test_a_valid_request_is_accepted(self):
        self.assertIsNone(self.dormant.asked())
        self.put()
        self.assertEqual(self.dormant.asked(), ("unix:%s/socket" % self.place, "word", 0))

    def test_invalid_requests_are_ignored(self):
        for other in ({"start": 1}, {"boot": "another"}, {"pid": 1}, {"loadscope_attach": 2}, {"to": "tcp:10.0.0.1:80"}, {"to": 3}, {"token": None}):
            self.put(**other)
            self.assertIsNone(self.dormant.asked(), other)

    def test_requests_that_others_can_write_are_ignored(self):
        self.put(mode=0o622)
        self.assertIsNone(self.dormant.asked())
        self.put()
        os.chmod(self.folder, 0o755)
        self.assertIsNone(self.dormant.asked())
        os.chmod(self.folder, 0o700)
        os.chmod(self.place, 0o777)
        self.assertIsNone(self.dormant.asked())
        os.chmod(self.place, 0o700)
        self.assertIsNotNone(self.dormant.asked())
        aside = self.path + ".aside"
        os.rename(self.path, aside)
        os.symlink(aside, self.path)
        self.dormant.seen = None
        with self.assertRaises(OSError):
            self.dormant.asked()

    def test_malformed_requests_are_ignored(self):
        self.put()
        for text in ("", "{", "[]", '"a"', "{}" * 9000):
            with open(self.path, "w", encoding="utf-8") as file:
                file.write(text)
            self.dormant.seen, self.dormant.due = None, 0.0
            self.dormant.look()
            self.assertFalse(self.dormant.before)

    def test_the_request_folder_is_private(self):
        running = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
        self.addCleanup(running.communicate)
        attached = subprocess.Popen([loadscope.binary(), "attach", str(running.pid)], stderr=subprocess.PIPE, cwd=self.place)
        attached.stderr.readline()
        folder = os.path.join(_dormant.home(), _dormant.FOLDER)
        self.assertEqual(stat.S_IMODE(os.stat(folder).st_mode), 0o700)
        path = os.path.join(folder, "%s-%d.json" % (_dormant.boot()[:8], running.pid))
        self.assertTrue(os.path.isfile(path))
        attached.send_signal(signal.SIGTERM)
        attached.communicate(timeout=30)
        self.assertFalse(os.path.exists(path))


class Install(Program):
    def test_the_installed_line_is_harmless_without_the_package(self):
        place = self.file("packages")
        os.mkdir(place)
        with open(os.path.join(place, "loadscope.pth"), "w", encoding="utf-8") as file:
            file.write(_install.LINE)
        with open(os.path.join(place, "torch.py"), "w", encoding="utf-8") as file:
            file.write("found = True")
        code = "import site; site.addsitedir(%r); import sys; sys.path.insert(0, %r); import torch; print(torch.found)" % (place, place)
        said = subprocess.run([sys.executable, "-E", "-s", "-c", code], capture_output=True, encoding="utf-8", cwd=self.folder, timeout=60)
        self.assertEqual((said.stdout, said.stderr), ("True\n", ""))

    def test_install_adds_the_line_and_uninstall_removes_it(self):
        environment = self.file("environment")
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True, timeout=120)
        python = os.path.join(environment, "bin", "python")
        asked = subprocess.run([loadscope.binary(), "install", "--python", python], capture_output=True, encoding="utf-8", timeout=60)
        self.assertEqual(asked.returncode, 0, asked.stderr)
        path = asked.stdout.splitlines()[0]
        self.assertTrue(path.startswith(environment), path)
        look = [python, "-c", "import sys; print(sum(type(f).__name__ == 'SimpleNamespace' for f in sys.meta_path), 'loadscope' in sys.modules)"]
        self.assertEqual(subprocess.check_output(look, encoding="utf-8").split()[1], "False")
        self.assertNotEqual(subprocess.check_output(look, encoding="utf-8"), "0 False\n")
        asked = subprocess.run([python, "-m", "loadscope", "uninstall"], capture_output=True, encoding="utf-8", timeout=60)
        self.assertEqual(asked.stdout.split(), [path])
        self.assertEqual(subprocess.check_output(look, encoding="utf-8"), "0 False\n")


if __name__ == "__main__":
    unittest.main()
