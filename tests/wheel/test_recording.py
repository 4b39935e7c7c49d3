"""Recording inside of a program: complete, without harm, and gone when it is over."""

import os
import signal
import subprocess
import unittest

import loadscope
from support import Program, batches


class Recording(Program):
    def test_what_is_inside_is_recorded_and_nothing_else(self):
        out, _ = self.run_program(
            """
            import loadscope
            from torch.utils.data import dataloader as pytorch
            def look():
                return [vars(owner)[name] for owner, name in (
                    (pytorch._BaseDataLoaderIter, "__init__"), (pytorch._BaseDataLoaderIter, "__next__"),
                    (pytorch._BaseDataLoaderIter, "_reset"), (pytorch.DataLoader, "__init__"), (pytorch.DataLoader, "__len__"),
                    (pytorch._utils.fetch._MapDatasetFetcher, "fetch"), (pytorch._DatasetKind, "create_fetcher"))], list(sys.meta_path), dict(os.environ)
            before = look()
            loader = DataLoader(Slow(), batch_size=4, num_workers=2)
            count(loader)
            with loadscope.record("first.jsonl") as run:
                assert run.is_recording
                counts = count(loader) + count(DataLoader(Slow(), batch_size=8))
            assert look() == before, (look(), before)
            count(loader)
            with loadscope.record("second.jsonl") as other:
                count(loader)
            assert look() == before
            print(counts, run.batches, run.loaders, other.batches, run.problem, other.problem, not run.is_recording)
            """
        )
        self.assertEqual(out.split(), ["9", "9", "2", "6", "None", "None", "True"])
        self.assertEqual(batches(self.file("first.jsonl")), 9)
        self.assertEqual(batches(self.file("second.jsonl")), 6)
        loaders = loadscope.read(self.file("first.jsonl")).loaders
        with open(self.file("train.py"), encoding="utf-8") as file:
            line = next(number for number, text in enumerate(file, 1) if "batch_size=8" in text)
        self.assertEqual(list(loaders["name"]), [None, "train.py:%d" % line])

    def test_workers_that_live_on_are_counted(self):
        out, _ = self.run_program(
            """
            import loadscope
            loader = DataLoader(Slow(), batch_size=4, num_workers=2, persistent_workers=True)
            count(loader)
            for name in ("a.jsonl", "b.jsonl"):
                with loadscope.record(name) as run:
                    count(loader), count(loader)
                print(run.batches, run.problem)
            count(loader)
            """
        )
        self.assertEqual(out.split(), ["12", "None", "12", "None"])
        epochs = loadscope.read(self.file("a.jsonl")).batches["epoch"]
        self.assertEqual(sorted(set(epochs)), [0, 1])

    def test_it_may_begin_and_end_in_the_middle_of_an_epoch(self):
        out, _ = self.run_program(
            """
            import loadscope
            loader = DataLoader(Slow(), batch_size=2, num_workers=2, persistent_workers=True)
            first = iter(loader)
            next(first)
            run = loadscope.start("run.jsonl")
            rest = sum(1 for _ in first)
            second = iter(loader)
            for _ in range(3):
                next(second)
            assert loadscope.stop() is run
            assert loadscope.stop() is None
            print(rest, sum(1 for _ in second), run.batches, run.problem)
            """
        )
        self.assertEqual(out.split(), ["11", "9", "3", "None"])

    def test_spawned_workers_tell(self):
        out, _ = self.run_program(
            """
            def run():
                import loadscope
                with loadscope.record("run.jsonl") as run:
                    count(DataLoader(Slow(), batch_size=4, num_workers=2, multiprocessing_context="spawn"))
                print(run.batches, os.environ.get("PYTHONPATH") == PATH)
            if __name__ == "__main__":
                PATH = os.environ.get("PYTHONPATH")
                run()
            """
        )
        self.assertEqual(out.split(), ["6", "True"])
        samples = loadscope.read(self.file("run.jsonl")).samples
        self.assertEqual(samples.rows, 24)
        self.assertTrue((samples["wall_ns"] >= 1_000_000).all(), samples["wall_ns"])

    def test_batches_are_the_same(self):
        program = """
            import contextlib, loadscope
            torch.manual_seed(3)
            with loadscope.record() if RECORD else contextlib.nullcontext():
                for loader in (DataLoader(Slow(), batch_size=5, shuffle=True), DataLoader(Slow(), batch_size=5, shuffle=True, num_workers=2)):
                    for _ in range(2):
                        print([batch.tolist() for batch in loader])
            print(torch.rand(3).tolist())
            """
        recorded, _ = self.run_program("RECORD = True\n" + __import__("textwrap").dedent(program))
        alone, _ = self.run_program("RECORD = False\n" + __import__("textwrap").dedent(program))
        self.assertEqual(recorded, alone)
        self.assertEqual(batches(self.file("run.jsonl.zst")), 20)

    def test_functions_are_recorded_each_time(self):
        out, _ = self.run_program(
            """
            import asyncio, loadscope
            @loadscope.record()
            def train(n):
                "words"
                return count(DataLoader(Slow(), batch_size=n))
            @loadscope.record("later.jsonl")
            async def later():
                return count(DataLoader(Slow(), batch_size=4))
            print(train(4), train(n=8), train.recording.batches, train.__doc__, os.path.basename(train.recording.path))
            print(asyncio.run(later()), later.recording.batches)
            """
        )
        self.assertEqual(out.split(), ["6", "3", "3", "words", "run-2.jsonl.zst", "6", "6"])

    def test_an_error_passes_through(self):
        out, err = self.run_program(
            """
            import loadscope
            with loadscope.record("run.jsonl"):
                for batch in DataLoader(Slow(), batch_size=4):
                    raise ValueError("the program's own")
            """,
            code=1,
        )
        self.assertIn("ValueError: the program's own", err)
        self.assertEqual(batches(self.file("run.jsonl")), 1)

    def test_a_program_that_ends_inside_is_recorded(self):
        self.run_program("import loadscope\nloadscope.start('run.jsonl')\ncount(DataLoader(Slow(), batch_size=4))\nsys.exit(3)", code=3)
        self.assertEqual(batches(self.file("run.jsonl")), 6)


class Harm(Program):
    """Whatever goes wrong, the program goes on and hears why."""

    def goes_on(self, begin, why, **kwargs):
        out, err = self.run_program(
            """
            import loadscope
            BEGIN
            print(count(DataLoader(Slow(), batch_size=4, num_workers=1)))
            run.stop()
            print(run.path, run.problem)
            """.replace("BEGIN", begin),
            **kwargs,
        )
        self.assertEqual(out.splitlines()[0], "6")
        self.assertIn(why, err)
        # The line of the program is named, not one of ours.
        self.assertRegex(err, r"/train.py:\d+: RuntimeWarning: loadscope: ")
        return out

    def test_without_the_program_loadscope(self):
        out = self.goes_on("run = loadscope.start()", "RuntimeWarning: loadscope: this is not recorded", env=without_binary())
        self.assertTrue(out.splitlines()[1].startswith("None the program loadscope was not found"), out)

    def test_with_one_that_is_none(self):
        self.goes_on("run = loadscope.start()", "this is not recorded", env={**os.environ, "LOADSCOPE_BINARY": "/bin/true"})
        self.goes_on("run = loadscope.start()", "this is not recorded", env={**os.environ, "LOADSCOPE_BINARY": "/bin/false"})

    def test_where_warnings_are_errors(self):
        running = self.start("import loadscope\nwith loadscope.record('/nowhere/run.jsonl'):\n  print(count(DataLoader(Slow())))", "-W", "error")
        out, err = running.communicate(timeout=400)
        self.assertEqual((running.returncode, out), (0, "24\n"), err)
        self.assertIn("loadscope: this is not recorded", err)

    def test_a_file_that_is_there_stays(self):
        with open(self.file("run.jsonl"), "w", encoding="utf-8") as file:
            file.write("mine")
        self.goes_on("run = loadscope.start('run.jsonl')", "run.jsonl")
        with open(self.file("run.jsonl"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")

    def test_one_at_a_time(self):
        self.goes_on("first = loadscope.start('a.jsonl'); run = loadscope.start('b.jsonl')", "this process is already being recorded")
        self.assertEqual(batches(self.file("a.jsonl")), 6)
        self.assertFalse(os.path.exists(self.file("b.jsonl")))

    def test_recorded_from_outside(self):
        program = self.write("import loadscope\nrun = loadscope.start('b.jsonl')\ncount(DataLoader(Slow(), batch_size=4))\nrun.stop()")
        import sys

        asked = subprocess.run(
            [loadscope.binary(), "record", "-o", self.file("a.jsonl"), "--", sys.executable, program],
            cwd=self.folder, capture_output=True, encoding="utf-8", timeout=400,
        )  # fmt: skip
        self.assertEqual(asked.returncode, 0, asked.stderr)
        self.assertIn("already being recorded by a `loadscope` command", asked.stderr)
        self.assertEqual(batches(self.file("a.jsonl")), 6)

    def test_a_recorder_that_is_killed(self):
        out, err = self.run_program(
            """
            import loadscope, signal, subprocess
            run = loadscope.start("run.jsonl")
            count(DataLoader(Slow(), batch_size=4, num_workers=1))
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    words = open("/proc/%s/cmdline" % pid).read().split("\\0")
                except OSError:
                    continue
                if "listen" in words and str(os.getpid()) in words:
                    os.kill(int(pid), signal.SIGKILL)
            time.sleep(0.2)
            print(count(DataLoader(Slow(), batch_size=4, num_workers=1)))
            run.stop()
            print(run.problem)
            """
        )
        self.assertEqual(out.splitlines()[0], "6")
        self.assertIn("the recording may be incomplete", out)
        self.assertIn("RuntimeWarning", err)

    def test_a_program_that_is_killed(self):
        running = self.start(
            "import loadscope\nloadscope.start('run.jsonl')\ncount(DataLoader(Slow(), batch_size=4))\nprint('now', flush=True)\ntime.sleep(60)"
        )
        self.assertEqual(running.stdout.readline(), "now\n")
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=30)
        self.assertEqual(self.written("run.jsonl", 6), 6)

    def written(self, name, expected):
        """The batches of a recording whose recorder still writes: as many as expected, or as many as there are after 20 s."""
        import time

        import loadscope

        until = time.monotonic() + 20
        while True:
            try:
                found = batches(self.file(name))
            except loadscope.LoadscopeError:
                found = 0
            if found >= expected or time.monotonic() > until:
                return found
            time.sleep(0.1)

    def test_the_program_gets_no_child_and_no_signal(self):
        out, _ = self.run_program(
            """
            import loadscope, signal
            signal.signal(signal.SIGINT, lambda *_: print("interrupted"))
            run = loadscope.start("run.jsonl")
            try:
                print(os.waitpid(-1, os.WNOHANG))
            except ChildProcessError:
                print("no child")
            count(DataLoader(Slow(), batch_size=4))
            os.killpg(0, signal.SIGINT)
            count(DataLoader(Slow(), batch_size=4))
            run.stop()
            print(run.batches)
            """,
            start_new_session=True,
        )
        self.assertEqual(out.splitlines(), ["no child", "interrupted", "12"])

    def test_a_fork_does_not_end_the_recording_of_its_parent(self):
        out, _ = self.run_program(
            """
            import loadscope
            run = loadscope.start("run.jsonl")
            child = os.fork()
            if child == 0:
                run.stop()
                loadscope.stop()
                os._exit(5 if run.is_recording else 0)
            print(os.waitpid(child, 0)[1], count(DataLoader(Slow(), batch_size=4)))
            run.stop()
            print(run.batches)
            """
        )
        self.assertEqual(out.split(), ["0", "6", "6"])


def without_binary():
    return {**os.environ, "LOADSCOPE_BINARY": "/nowhere/loadscope"}


if __name__ == "__main__":
    unittest.main()
