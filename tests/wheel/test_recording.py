"""Recording inside of a program: complete, without harm, and gone when it is over."""

import os
import signal
import subprocess
import unittest

import loadscope
from support import Program, batches


class Recording(Program):
    def test_only_loaders_inside_the_block_are_recorded(self):
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
        self.assertEqual(list(loaders["name"]), ["Slow (24 samples) from train.py", "train.py:%d" % line])

    def test_workers_started_earlier_are_recorded_and_reported(self):
        out, _ = self.run_program(
            """
            import loadscope
            loader = DataLoader(Slow(), batch_size=4, num_workers=2, persistent_workers=True)
            count(loader)
            for name in ("a.jsonl", "b.jsonl"):
                with loadscope.record(name) as run:
                    count(loader), count(loader)
                print(run.batches, str(run.problem).startswith("2 workers started before the recording"))
            count(loader)
            """
        )
        self.assertEqual(out.split(), ["12", "True", "12", "True"])
        epochs = loadscope.read(self.file("a.jsonl")).batches["epoch"]
        self.assertEqual(sorted(set(epochs)), [0, 1])

    def test_loaders_of_one_line_are_two_while_both_datasets_live(self):
        out, _ = self.run_program(
            """
            import loadscope
            def make():
                return DataLoader(Slow(), batch_size=4)
            with loadscope.record("a.jsonl") as run:
                train, test = make(), make()
                for _ in range(2):
                    count(train), count(test)
            print(run.loaders)
            del train, test
            with loadscope.record("b.jsonl") as run:
                for _ in range(3):
                    count(make())
            print(run.loaders)
            """
        )
        self.assertEqual(out.split(), ["2", "1"])
        names = loadscope.read(self.file("a.jsonl")).loaders["name"]
        self.assertEqual(len(set(names)), 2, names)

    def test_a_recording_can_start_and_stop_within_an_epoch(self):
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
            print(rest, sum(1 for _ in second), run.batches, str(run.problem).startswith("2 workers started before the recording"))
            """
        )
        self.assertEqual(out.split(), ["11", "9", "3", "True"])

    def test_spawned_workers_are_recorded(self):
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

    def test_recording_does_not_change_the_batches(self):
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

    def test_decorated_functions_are_recorded_on_each_call(self):
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

    def test_every_kind_of_function_is_recorded_to_its_end(self):
        """The decorator has parentheses or not. Callers get the same results."""
        for decorator in ("loadscope.record", "loadscope.record()", "loadscope.record(force=True)"):
            out, err = self.run_program(
                """
                import asyncio, functools, loadscope
                loader = DataLoader(Slow(), batch_size=8)
                def named(function):
                    def call(*args):
                        return function(*args)
                    return call
                @DECORATOR
                def plain(n, *, m=0):
                    return count(loader) + n + m
                @DECORATOR
                def steps(n):
                    for batch in loader:
                        got = yield n
                        n = n if got is None else got
                    return "end"
                @DECORATOR
                async def later():
                    await asyncio.sleep(0)
                    return count(loader)
                @DECORATOR
                async def stream():
                    for batch in loader:
                        yield batch.shape[0]
                @DECORATOR
                @named
                def hidden():
                    for batch in loader:
                        yield 1
                @DECORATOR
                @named
                async def hidden_later():
                    return count(loader)
                @DECORATOR
                def again(n):
                    return count(loader) if n == 0 else again(n - 1)
                class Model:
                    @DECORATOR
                    def fit(self, n):
                        return count(loader) + n
                    @DECORATOR
                    @staticmethod
                    def fixed():
                        return count(loader)
                    @classmethod
                    @DECORATOR
                    def of_class(cls):
                        return cls.__name__, count(loader)
                    @DECORATOR
                    def __call__(self):
                        return count(loader)
                def is_recorded(function, batches=3):
                    run = function.recording
                    assert (run.batches, run.problem, run.is_recording) == (batches, None, False), (function, run)
                async def all_of(generator):
                    return [value async for value in generator]
                def sent():
                    generator = steps(5)
                    yield next(generator)
                    yield generator.send(7)
                    yield next(generator)
                    try:
                        next(generator)
                    except StopIteration as end:
                        yield end.value
                print(plain(1, m=2), plain.__name__); is_recorded(plain)
                print(list(sent())); is_recorded(steps)
                print(asyncio.run(later())); is_recorded(later)
                print(asyncio.run(all_of(stream()))); is_recorded(stream)
                print(sum(hidden())); is_recorded(hidden)
                print(asyncio.run(hidden_later())); is_recorded(hidden_later)
                print(again(2)); is_recorded(again)
                print(Model().fit(4)); is_recorded(Model.fit)
                print(Model.fixed()); is_recorded(Model.fixed)
                print(Model.of_class()); is_recorded(Model.of_class)
                print(Model()()); is_recorded(Model.__call__)
                @DECORATOR
                def partly():
                    yield from loader
                with_break = partly(); next(with_break); with_break.close(); is_recorded(partly, 1)
                never = hidden(); del never
                assert not hidden.recording.is_recording
                bound = loadscope.record(functools.partial(plain.__wrapped__, 10))
                print(bound()); is_recorded(bound)
                for wrong in (Model, property(lambda self: 1)):
                    try:
                        loadscope.record(wrong)
                        print("taken", wrong)
                    except TypeError as error:
                        assert "expects a function" in str(error)
                """.replace("DECORATOR", decorator)
            )
            expected = ["6 plain", "[5, 7, 7, 'end']", "3", "[8, 8, 8]", "3", "3", "3", "7", "3", "('Model', 3)", "3", "13"]
            self.assertEqual(out.splitlines(), expected, decorator)
            # The generator that never began has an empty recording, with a warning.
            self.assertEqual(err.count("RuntimeWarning"), 1, err)

    def test_a_recording_can_be_limited_and_selected(self):
        out, _ = self.run_program(
            """
            import datetime, loadscope
            loader = DataLoader(Slow(), batch_size=4)
            def epochs(n):
                for _ in range(n):
                    count(loader)
            with loadscope.record("a.jsonl", skip_first=2) as run:
                epochs(1)
            print(run.batches, run.problem)
            for given in (1, [1], range(1, 2), "1", (one for one in [1]), {1}):
                with loadscope.record("b.jsonl", force=True, epochs=given) as run:
                    epochs(3)
                print(run.batches)
            for last in (3600, 0.5, "30m", datetime.timedelta(hours=1)):
                with loadscope.record("c.jsonl.zst", force=True, last=last, max_size=1_000_000) as run:
                    epochs(1)
                print(run.batches, run.problem)
            with loadscope.record("d.jsonl.zst", max_size="2MB") as run:
                epochs(1)
            print(run.batches, run)
            """
        )
        lines = out.splitlines()
        self.assertEqual(lines[0], "4 None")
        self.assertEqual(lines[1:7], ["6"] * 6)
        self.assertEqual(lines[7:11], ["6 None"] * 4)
        self.assertTrue(lines[11].endswith("d.jsonl.zst': 1 loader, 6 batches>"), lines[11])

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

    def test_a_program_that_exits_inside_is_recorded(self):
        self.run_program("import loadscope\nloadscope.start('run.jsonl')\ncount(DataLoader(Slow(), batch_size=4))\nsys.exit(3)", code=3)
        self.assertEqual(batches(self.file("run.jsonl")), 6)


class Surface(unittest.TestCase):
    def test_the_package_exports_only_its_public_names(self):
        names = [name for name in dir(loadscope) if not name.startswith("__")]
        self.assertEqual(names, sorted(loadscope.__all__))
        for name in names:
            self.assertIsNotNone(getattr(loadscope, name))
        self.assertEqual(loadscope.__version__, loadscope.version())
        with self.assertRaises(AttributeError):
            loadscope.nothing

    def test_an_unknown_argument_is_a_type_error(self):
        for call in (loadscope.record, loadscope.start):
            with self.assertRaises(TypeError):
                call(first_skip=3)


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

    def test_a_missing_binary_leaves_the_program_unrecorded(self):
        out = self.goes_on("run = loadscope.start()", "RuntimeWarning: loadscope: this is not recorded", env=without_binary())
        self.assertTrue(out.splitlines()[1].startswith("None the program loadscope was not found"), out)

    def test_an_unusable_binary_leaves_the_program_unrecorded(self):
        self.goes_on("run = loadscope.start()", "this is not recorded", env={**os.environ, "LOADSCOPE_BINARY": "/bin/true"})
        self.goes_on("run = loadscope.start()", "this is not recorded", env={**os.environ, "LOADSCOPE_BINARY": "/bin/false"})

    def test_warnings_as_errors_do_not_stop_the_program(self):
        running = self.start("import loadscope\nwith loadscope.record('/nowhere/run.jsonl'):\n  print(count(DataLoader(Slow())))", "-W", "error")
        out, err = running.communicate(timeout=400)
        self.assertEqual((running.returncode, out), (0, "24\n"), err)
        self.assertIn("loadscope: this is not recorded", err)

    def test_an_existing_file_is_kept(self):
        with open(self.file("run.jsonl"), "w", encoding="utf-8") as file:
            file.write("mine")
        self.goes_on("run = loadscope.start('run.jsonl')", "run.jsonl")
        with open(self.file("run.jsonl"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")

    def test_wrong_arguments_are_named_in_the_warning(self):
        """Warnings name each argument as in the call."""
        for arguments, why in (
            ("'run.txt'", "run.txt is not a name of a recording"),
            ("'train.py', force=True", "train.py is not a name of a recording"),
            ("5", "path=5: expected a file name"),
            ("last='soon'", "'last': expected a time with its unit"),
            ("last=-1", "last=-1: expected seconds"),
            ("last=float('nan')", "last=nan: expected seconds"),
            ("max_size='large'", "'max_size': expected a size with its unit"),
            ("max_size=10", "max_size=10: expected at least 1,000,000 bytes"),
            ("skip_first=-1", "skip_first=-1: expected a number of batches"),
            ("skip_first='x'", "skip_first='x': expected a whole number"),
            ("epochs='x'", "'epochs': expected an epoch"),
            ("epochs=-1", "epochs=-1: expected an epoch"),
            ("epochs=[]", "epochs=[]: expected an epoch"),
            ("epochs=iter(int, 1)", "epochs: expected at most"),
            ("previews='x'", "previews='x': expected a whole number"),
        ):
            with self.subTest(arguments):
                out = self.goes_on("run = loadscope.start(%s)" % arguments, why)
                self.assertNotIn("--", out)
        self.assertEqual(sorted(os.listdir(self.folder)), ["train.py"])

    def test_an_existing_file_suggests_force_true(self):
        with open(self.file("run.jsonl"), "w", encoding="utf-8"):
            pass
        out = self.goes_on("run = loadscope.start('run.jsonl')", "force=True")
        self.assertNotIn("--force", out)

    def test_a_second_recording_is_refused(self):
        self.goes_on("first = loadscope.start('a.jsonl'); run = loadscope.start('b.jsonl')", "this process is already being recorded")
        self.assertEqual(batches(self.file("a.jsonl")), 6)
        self.assertFalse(os.path.exists(self.file("b.jsonl")))

    def test_start_is_refused_under_loadscope_record(self):
        program = self.write("import loadscope\nrun = loadscope.start('b.jsonl')\ncount(DataLoader(Slow(), batch_size=4))\nrun.stop()")
        import sys

        asked = subprocess.run(
            [loadscope.binary(), "record", "-o", self.file("a.jsonl"), "--", sys.executable, program],
            cwd=self.folder, capture_output=True, encoding="utf-8", timeout=400,
        )  # fmt: skip
        self.assertEqual(asked.returncode, 0, asked.stderr)
        self.assertIn("already being recorded by a `loadscope` command", asked.stderr)
        self.assertEqual(batches(self.file("a.jsonl")), 6)

    def test_a_killed_recorder_leaves_the_program_running(self):
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

    def test_a_killed_program_is_recorded_until_the_kill(self):
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

    def test_the_recorder_is_no_child_and_survives_signals(self):
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
