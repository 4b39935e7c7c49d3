"""What the probe must not do to a program, and what it must not lose: `python unharmed.py`, with an interpreter that has a PyTorch.

Each case runs a program of `programs/odd.py` by itself and with the probe, in a folder of its own. Output, error and exit code are the same.
"""

import base64
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROBE = HERE.parent.parent / "assets" / "probe"


class Unharmed(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)

    def run_with(self, name, to, cwd="work", **more):
        (self.folder / cwd).mkdir(exist_ok=True)
        env = {**os.environ, "PYTHONPATH": str(PROBE), "LOADSCOPE_PROBE_TO": to, "LOADSCOPE_PROBE_TOKEN": "abc", **more}
        return self.run_bare(name, env, self.folder / cwd)

    def run_bare(self, name, env=None, cwd=None):
        command = [sys.executable, str(HERE / "programs" / "odd.py"), name]
        cwd = cwd or self.folder
        return subprocess.run(command, capture_output=True, text=True, timeout=300, env=env, cwd=cwd)

    def same(self, name):
        """Runs it twice. Answers the records that the probe wrote, by process."""
        bare = self.run_bare(name)
        self.assertEqual(bare.returncode, 0, bare.stderr)
        out = self.folder / "out"
        probed = self.run_with(name, "dir:%s" % out)
        self.assertEqual((probed.returncode, probed.stdout, probed.stderr), (0, bare.stdout, bare.stderr))
        return [self.read(path) for path in sorted(out.iterdir())]

    def read(self, path):
        # What is not UTF-8, and what is half of a pair, a reader of ours does not understand.
        lines = [json.loads(line) for line in path.read_bytes().decode("utf-8").splitlines()]
        self.assertIsNone(re.search(r"\\\\ud[89a-f]", json.dumps(lines).replace("\\\\\\\\", "")), lines)
        return lines

    def named(self, streams, name):
        return [record for stream in streams for record in stream[1:] if record[0] == name]

    def no_troubles(self, streams):
        self.assertEqual(self.named(streams, "trouble"), [])

    def test_data_sent_to_workers_is_measured(self):
        streams = self.same("sent")
        self.no_troubles(streams)
        sent = self.named(streams, "sent")
        self.assertEqual([record[4:6] + record[8:9] for record in sent], [[2, method, "dataset.images"] for method in ("spawn", "forkserver")])
        for record in sent:
            _, at, _, start, _, _, size, pickling, _, estimate = record
            self.assertTrue(3 << 20 <= estimate <= size < 4 << 20, record)
            self.assertTrue(0 < pickling < at - start, record)
        [(_, _, _, name, count)] = self.named(streams, "objects")
        self.assertEqual(name, "samples")
        self.assertTrue(200_000 <= count <= 310_000, count)

    def test_keys_that_can_be_gone_through_once_are_left_to_the_program(self):
        streams = self.same("iterators")
        self.assertEqual([d[7] for d in self.named(streams, "dispatch")], ["", "", ""])
        self.no_troubles(streams)

    def test_keys_that_are_no_numbers(self):
        streams = self.same("keys")
        last = self.named(streams, "dispatch")[-1]
        self.assertEqual(struct.unpack("<q", base64.b64decode(last[7])), (3,))
        self.assertTrue(all(d[7] == "" for d in self.named(streams, "dispatch")[:-1]))
        self.no_troubles(streams)

    def test_errors_that_are_frozen(self):
        self.no_troubles(self.same("frozen"))

    def test_warnings_name_the_line_that_they_named(self):
        self.no_troubles(self.same("warns"))

    def test_batches_that_do_not_like_to_be_looked_into(self):
        self.same("batches")

    def test_a_million_entries(self):
        self.same("large")

    def test_a_loader_of_which_one_field_cannot_be_told(self):
        streams = self.same("loader")
        about = self.named(streams, "loader")[0][3]
        self.assertEqual((about["dataset"], about["batch_size"], about["num_workers"]), ("Numbers", 2, 0))
        self.no_troubles(streams)

    def test_numbers_of_numpy_seeds_below_zero_and_half_pairs(self):
        streams = self.same("names")
        first, second = (record[3] for record in self.named(streams, "loader"))
        self.assertEqual(first["classes"], ["cat", "do?g"])
        self.assertEqual((first["num_workers"], first["seed"]), (1, 2**64 - 5))
        self.assertEqual((second["replicas"], second["replica"], second["seed"]), (2, 1, 2**64 - 3))
        self.no_troubles(streams)

    def test_what_a_signal_handler_raises_reaches_the_program(self):
        bare = self.run_bare("signals")
        probed = self.run_with("signals", "dir:%s" % (self.folder / "out"))
        self.assertEqual(probed.stderr, "")
        said = [line for line in bare.stdout.splitlines() if line != "False"]
        self.assertEqual(probed.stdout.splitlines(), said)

    def test_files_that_got_the_number_of_our_descriptor(self):
        self.same("daemon")

    def test_loaders_made_anew_are_one_with_many_epochs(self):
        streams = self.same("anew")
        self.assertEqual(len(self.named(streams, "loader")), 1)
        self.assertEqual([record[4] for record in self.named(streams, "epoch")], list(range(300)))
        self.no_troubles(streams)

    def test_loaders_beyond_the_limit_are_one_with_others_of_their_line(self):
        streams = self.same("many")
        self.assertEqual(len(self.named(streams, "loader")), 256)
        self.assertEqual(len(self.named(streams, "epoch")), 300)
        self.assertEqual(self.named(streams, "lost"), [])
        self.no_troubles(streams)

    def test_the_end_of_a_stream_is_no_collating(self):
        streams = self.same("ends")
        fetches = [record for record in self.named(streams, "fetch") if record[7] == 0]
        self.assertEqual(len(fetches), 4)
        for fetch in fetches:
            self.assertLess(fetch[6] - fetch[5], 100_000_000)
        self.assertEqual(sum(fetch[6] - fetch[1] > 250_000_000 for fetch in fetches), 2)
        self.no_troubles(streams)

    def test_a_new_pin_thread_has_pinned_nothing(self):
        code = (
            "import sys, threading; sys.path.insert(0, %r); import loadscope_probe as p\n"
            "class It: pass\n"
            "it = It(); it._loadscope = p.Iterator(0, p.Loader(0, it)); it._pin_memory_thread = threading.current_thread()\n"
            "p.pinned_one(1, 2); assert p.PROBE.pinned[threading.get_ident()]\n"
            "p.begin_epoch(it, True, None); assert not p.PROBE.pinned, p.PROBE.pinned\n" % str(PROBE)
        )
        came = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(came.stderr, "")

    def test_a_door_at_which_too_many_stand_is_tried_again_and_then_written_to_a_file(self):
        path = str(self.folder / "door")
        with socket.socket(socket.AF_UNIX) as door, socket.socket(socket.AF_UNIX) as guest:
            door.bind(path)
            door.listen(0)
            guest.connect(path)
            start = time.monotonic()
            probed = self.run_with("iterators", "unix:" + path)
            self.assertLess(time.monotonic() - start, 60)
        self.assertEqual(probed.returncode, 0, probed.stderr)
        made = list((self.folder / "work").glob("loadscope-unheard-*/*.stream.jsonl"))
        self.assertEqual(len(made), 1)
        self.assertEqual(self.read(made[0])[-1][0], "bye")

    def test_a_signal_that_strikes_while_the_door_is_opened(self):
        code = (
            "import sys, os; sys.path.insert(0, %r); import loadscope_probe as p\n"
            "def struck(): p.introduction = before; raise KeyboardInterrupt\n"
            "before, p.introduction = p.introduction, struck\n"
            "try: p.PROBE.put('[\"wait\",1,0]\\n')\n"
            "except KeyboardInterrupt: print('interrupted')\n"
            "p.PROBE.put('[\"wait\",2,0]\\n')\n" % str(PROBE)
        )
        out = self.folder / "out"
        env = {**os.environ, "LOADSCOPE_PROBE_TO": "dir:%s" % out}
        came = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=self.folder, env=env)
        self.assertEqual((came.stdout, came.stderr), ("interrupted\n", ""))
        lines = self.read(next(out.iterdir()))
        self.assertIn("loadscope_stream", lines[0])
        self.assertEqual([line[:2] for line in lines[1:3]], [["wait", 1], ["wait", 2]])

    def test_what_still_waits_at_the_end_is_written(self):
        """A reader that is slow, but reads, has everything; one that does not read is waited for no longer than a tenth of a second."""
        code = (
            "import sys, time; sys.path.insert(0, %r); import loadscope_probe as p; p.FIRST_WAIT = 1\n"
            "o = p.PROBE.outlet\n"
            "for _ in range(3000): o.put('[\"wait\",1,0,\"%%s\"]\\n' %% ('x' * 1000))\n"
            "print(len(o.waiting) + len(o.lines) > 0); t = time.monotonic(); p.PROBE.bye(); print(time.monotonic() - t, o.lost)" % str(PROBE)
        )
        for reads in (True, False):
            path = str(self.folder / ("door-%s" % reads))
            with socket.socket(socket.AF_UNIX) as door:
                door.bind(path)
                door.listen(1)
                env = {**os.environ, "LOADSCOPE_PROBE_TO": "unix:" + path}
                with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=env) as program:
                    guest, _ = door.accept()
                    waits = program.stdout.readline()
                    heard = b""
                    while reads:
                        piece = guest.recv(1 << 20)
                        heard += piece
                        if not piece:
                            break
                    took, lost = program.stdout.readline().split()
                guest.close()
            self.assertEqual(waits, "True\n")
            if reads:
                self.assertEqual((heard.count(b'"wait"'), lost), (3000, "0"))
                self.assertTrue(heard.rstrip().splitlines()[-1].startswith(b'["bye"'))
            else:
                self.assertLess(float(took), 0.5)
                self.assertGreater(int(lost), 0)

    @unittest.skipUnless(os.path.isdir("/proc/self/task"), "a system that says how many threads there are")
    def test_what_comes_fast_is_handed_over_though_nothing_follows(self):
        """By a thread that no child of a fork has, and that goes once nothing comes fast any more."""
        out = self.folder / "out"
        code = (
            "import sys, os, time; sys.path.insert(0, %r); import loadscope_probe as p\n"
            "threads = lambda: len(os.listdir('/proc/self/task'))\n"
            "def said(): return sum((open(f).read().count('wait') for f in os.scandir(%r)), 0)\n"
            "def talk():\n"
            "    for _ in range(200): p.PROBE.put('[\"wait\",1,0]\\n')\n"
            "talk(); print(said() < 200, threads(), flush=True); time.sleep(0.3); print(said(), flush=True)\n"
            "talk(); child = os.fork()\n"
            "if child == 0: print(threads(), flush=True); os._exit(0)\n"
            "os.waitpid(child, 0); print(said(), threads()); talk(); print(threads()); time.sleep(2); print(said(), threads())" % (str(PROBE), str(out))
        )
        env = {**os.environ, "LOADSCOPE_PROBE_TO": "dir:%s" % out}
        came = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=self.folder, env=env)
        self.assertEqual((came.stdout.split(), came.stderr), ("True 2 200 1 400 1 2 600 1".split(), ""))

    def test_what_happens_while_the_trainer_waits_is_sent_at_once(self):
        out = self.folder / "out"
        command = [sys.executable, str(HERE / "programs" / "odd.py"), "held", str(out)]
        env = {**os.environ, "PYTHONPATH": str(PROBE), "LOADSCOPE_PROBE_TO": "dir:%s" % out, "LOADSCOPE_PROBE_TOKEN": "abc"}
        came = subprocess.run(command, capture_output=True, text=True, timeout=300, env=env, cwd=self.folder)
        self.assertEqual((came.stdout, came.stderr), ("[0, 1, 2, 3]\n[1]\n", ""))

    @unittest.skipUnless(os.path.isdir("/proc/self"), "a folder in which no user can write")
    def test_a_folder_that_cannot_be_written(self):
        env = {**os.environ, "PYTHONPATH": str(PROBE), "LOADSCOPE_PROBE_TO": "", "TMPDIR": str(self.folder)}
        probed = self.run_bare("iterators", env, "/proc")
        self.assertEqual(probed.returncode, 0)
        self.assertIn("loadscope: writing into", probed.stderr)
        self.assertEqual(len(list(self.folder.glob("loadscope-*/*.stream.jsonl"))), 1)

    def same_code(self, code, **variables):
        """Runs `python -c` twice, in folders of their own. Returns the result with the probe and the recorded streams."""
        results = []
        out = self.folder / "out"
        for name, probe in (("bare", []), ("probed", [str(PROBE)])):
            work = self.folder / name
            work.mkdir()
            env = {**os.environ, "LOADSCOPE_PROBE_TO": "dir:%s" % out, "LOADSCOPE_PROBE_TOKEN": "abc"}
            env["PYTHONPATH"] = os.pathsep.join(probe + list(variables.values()))
            came = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=env, cwd=work)
            results.append((came.returncode, came.stdout, came.stderr, sorted(os.listdir(work))))
        self.assertEqual(*results)
        return results[1], [self.read(path) for path in sorted(out.glob("*"))]

    def test_a_program_that_empties_its_environment_is_recorded_and_gets_no_folder(self):
        load = "if __name__ == '__main__': print(len(list(torch.utils.data.DataLoader(range(8), num_workers=2))))\n"
        emptied = "os.environ.clear()\n", "os.environ = {}\n"
        for one in emptied:
            for order in ("import os\n" + one + "import torch\n", "import os, torch\n" + one):
                with self.subTest(one=one, order=order):
                    self.setUp()
                    _, streams = self.same_code(order + load)
                    self.assertEqual(len(self.named(streams, "yield")), 8)
                    self.assertEqual({stream[0]["token"] for stream in streams}, {"abc"})
                    self.no_troubles(streams)

    def test_tools_that_trace_see_no_file_of_the_probe(self):
        code = (
            "import os, sys\n"
            "seen = set()\n"
            "def trace(frame, event, argument):\n"
            "    seen.add(frame.f_code.co_filename)\n"
            "sys.settrace(trace)\n"
            "import torch\n"
            "for _ in torch.utils.data.DataLoader(range(8), num_workers=1): pass\n"
            "for _ in torch.utils.data.DataLoader(range(8)): pass\n"
            "sys.settrace(None)\n"
            "own = [os.path.realpath(sys.prefix), os.path.realpath(os.path.dirname(os.__file__)), os.path.dirname(torch.__path__[0])]\n"
            "print(sorted(one for one in seen if os.path.isfile(one) and not os.path.realpath(one).startswith(tuple(own))))\n"
        )
        self.same_code(code)

    def test_sitecustomize_ends_as_without_the_probe(self):
        ends = (
            "",
            "print('own')",
            "import sys; sys.exit(3)",
            "import sys; sys.exit('gone')",
            "raise RuntimeError('x')",
            "import nothere",
            "raise KeyboardInterrupt",
            "import sys; del sys.modules['sitecustomize']",
            "raise ImportError(name='sitecustomize')",
            None,
        )
        for text in ends:
            with self.subTest(text=text):
                self.setUp()
                own = self.folder / "own"
                own.mkdir()
                if text is not None:
                    (own / "sitecustomize.py").write_text(text)
                code = "import sys; print('sitecustomize' in sys.modules, sys.path, sorted(sys.modules))"
                self.same_code(code, own=str(own))


if __name__ == "__main__":
    unittest.main()
