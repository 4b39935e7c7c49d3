"""The callbacks, each with the real package, and what its loggers got. What is not installed is skipped, and said."""

import csv
import importlib.util
import json
import os
import re
import unittest

import loadscope
from support import Program, batches

MODEL = """
class Pairs(Slow):
    def __getitem__(self, index):
        time.sleep(0.002)
        return {"x": torch.full((4,), float(index)), "labels": torch.tensor(float(index))}

def loss(linear, batch):
    return (linear(batch["x"]).squeeze() - batch["labels"]).square().mean()
"""

LIGHTNING = """
import logging
from PACKAGE import LightningModule, Trainer
from PACKAGE.loggers import CSVLogger
from loadscope.lightning import LoadscopeCallback
class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)
    def training_step(self, batch, _):
        if FAILS:
            raise ValueError("the model's own")
        return loss(self.linear, batch)
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 1e-4)
callback = LoadscopeCallback("run.jsonl")
trainer = Trainer(
    max_epochs=2, logger=CSVLogger("logs"), callbacks=[callback], accelerator="cpu", enable_progress_bar=False, enable_checkpointing=False
)
try:
    trainer.fit(Model(), DataLoader(Pairs(), batch_size=4))
finally:
    print("RECORDED", callback.recording.batches, callback.recording.problem, callback.recording.is_recording)
"""

TRAINER = """
import json
from transformers import Trainer, TrainingArguments
from loadscope.transformers import LoadscopeCallback
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)
    def forward(self, x, labels=None):
        return {"loss": loss(self.linear, {"x": x, "labels": labels})}
arguments = TrainingArguments(
    "out", num_train_epochs=2, per_device_train_batch_size=4, report_to=REPORT, use_cpu=True, save_strategy="no", disable_tqdm=True
)
trainer = Trainer(Model(), arguments, train_dataset=Pairs())
callback = LoadscopeCallback.add_to(trainer, "run.jsonl")
trainer.train()
print("RECORDED", callback.recording.batches, callback.recording.problem)
print("LOGGED", json.dumps(trainer.state.log_history[-1]))
print("LOGGED", json.dumps(trainer.state.log_history))
"""

ACCELERATE = """
import json
from accelerate import Accelerator
from accelerate.tracking import GeneralTracker
from loadscope.accelerate import record
class Own(GeneralTracker):
    name = "own"
    requires_logging_directory = False
    tracker = None
    def __init__(self):
        super().__init__()
    def store_init_configuration(self, values):
        pass
    def log(self, values, step, **kwargs):
        print("LOGGED", json.dumps([values, step]))
accelerator = Accelerator(cpu=True, log_with=[Own()])
accelerator.init_trackers("project")
linear = torch.nn.Linear(4, 1)
loader = accelerator.prepare(DataLoader(Pairs(), batch_size=4))
with record(accelerator, "run.jsonl", step=7) as run:
    for batch in loader:
        loss(linear, batch)
print("RECORDED", run.batches, run.problem)
"""

NUMBERS = ("loadscope/wait_share", "loadscope/waited_seconds", "loadscope/samples_per_second")


def has(name):
    return importlib.util.find_spec(name) is not None


class Frameworks(Program):
    def said(self, out, word):
        return [line[len(word) + 1 :] for line in out.splitlines() if line.startswith(word + " ")]

    def roles(self, err):
        """Names of the loaders with their roles, and their figures. The verdict is printed once, with the name of its loader."""
        report = loadscope.report(self.file("run.jsonl"))
        loaders = {loader["role"]: loader for loader in (report["loader"], *report["other_loaders"])}
        names = [loader["name"] for loader in loaders.values()]
        self.assertEqual(len(set(names)), len(names), names)
        for role, loader in loaders.items():
            self.assertTrue(loader["name"].endswith(" · " + role), loader)
        told = [line for line in err.splitlines() if line.startswith("loadscope: ")]
        expected = "%s: %s (" % (report["loader"]["name"], report["verdict"]["text"])
        self.assertEqual([line.startswith("loadscope: " + expected) for line in told], [True], err)
        return loaders

    def shares(self, numbers, loaders):
        """Each role has its own."""
        for role, loader in loaders.items():
            for name, value in (("wait_share", loader["waited_seconds"] / loader["seconds"]), ("waited_seconds", loader["waited_seconds"])):
                self.assertAlmostEqual(float(numbers["loadscope/%s/%s" % (role, name)]), value, delta=1e-6 * max(1.0, abs(value)))

    def holds(self, numbers):
        """What was logged is what the report says."""
        report = loadscope.report(self.file("run.jsonl"))
        share = report["waited_seconds"] / report["run_seconds"]
        expected = (share, report["waited_seconds"], report["summary"]["samples_per_second"])
        for name, value in zip(NUMBERS, expected):
            # TensorBoard keeps 24 bits of a number.
            self.assertAlmostEqual(float(numbers[name]), value, delta=1e-6 * max(1.0, abs(value)))

    @unittest.skipUnless(has("lightning"), "lightning is not installed")
    def test_lightning_logs_the_report_values(self):
        out, _ = self.run_program(MODEL + LIGHTNING.replace("PACKAGE", "lightning.pytorch").replace("FAILS", "False"))
        self.assertEqual(self.said(out, "RECORDED"), ["12 None False"])
        with open(os.path.join(self.folder, "logs/lightning_logs/version_0/metrics.csv"), encoding="utf-8") as file:
            self.holds(next(row for row in csv.DictReader(file) if row.get(NUMBERS[0])))

    @unittest.skipUnless(has("lightning"), "lightning is not installed")
    def test_lightning_names_training_and_validation(self):
        """Both are made by one helper, with the same arguments."""
        program = LIGHTNING.replace("PACKAGE", "lightning.pytorch").replace("FAILS", "False")
        program = program.replace("    def configure", "    def validation_step(self, batch, _):\n        loss(self.linear, batch)\n    def configure")
        program = program.replace(
            "trainer.fit(Model(), DataLoader(Pairs(), batch_size=4))",
            "make = lambda: DataLoader(Pairs(), batch_size=4)\n    trainer.fit(Model(), make(), make())",
        )
        program = program.replace('LoadscopeCallback("run.jsonl")', 'LoadscopeCallback("run.jsonl", last="30m", max_size="2MB", epochs=[0, 1, 2])')
        _, err = self.run_program(MODEL + program)
        loaders = self.roles(err)
        self.assertEqual(set(loaders), {"train", "val"})
        with open(os.path.join(self.folder, "logs/lightning_logs/version_0/metrics.csv"), encoding="utf-8") as file:
            self.shares(next(row for row in csv.DictReader(file) if row.get(NUMBERS[0])), loaders)

    @unittest.skipUnless(has("pytorch_lightning"), "pytorch_lightning is not installed")
    def test_pytorch_lightning_records_all_batches(self):
        out, _ = self.run_program(MODEL + LIGHTNING.replace("PACKAGE", "pytorch_lightning").replace("FAILS", "False"))
        self.assertEqual(self.said(out, "RECORDED"), ["12 None False"])

    @unittest.skipUnless(has("lightning"), "lightning is not installed")
    def test_a_failing_training_is_recorded_until_it_fails(self):
        out, err = self.run_program(MODEL + LIGHTNING.replace("PACKAGE", "lightning.pytorch").replace("FAILS", "True"), code=1)
        self.assertIn("the model's own", err)
        self.assertEqual(self.said(out, "RECORDED"), ["1 None False"])
        self.assertEqual(batches(self.file("run.jsonl")), 1)

    @unittest.skipUnless(has("transformers") and has("accelerate"), "transformers is not installed")
    def test_transformers_trainer_logs_the_report_values(self):
        out, _ = self.run_program(MODEL + TRAINER.replace("REPORT", "'none'"))
        self.assertEqual(self.said(out, "RECORDED"), ["12 None"])
        history = json.loads(self.said(out, "LOGGED")[1])
        self.holds(next(entry for entry in history if NUMBERS[0] in entry))

    @unittest.skipUnless(has("transformers") and has("accelerate"), "transformers is not installed")
    def test_the_trainer_names_training_and_evaluation(self):
        for evaluated in ("Pairs()", "data"):
            program = TRAINER.replace("REPORT", "'none'").replace('save_strategy="no"', 'save_strategy="no", eval_strategy="epoch"')
            program = program.replace("train_dataset=Pairs())", "train_dataset=data, eval_dataset=%s)" % evaluated)
            program = program.replace("trainer = ", "data = Pairs()\ntrainer = ").replace('"run.jsonl"', '"run.jsonl", force=True')
            out, err = self.run_program(MODEL + program)
            loaders = self.roles(err)
            self.assertEqual(set(loaders), {"train", "val"}, evaluated)
            history = json.loads(self.said(out, "LOGGED")[1])
            self.shares(next(entry for entry in history if NUMBERS[0] in entry), loaders)

    @unittest.skipUnless(has("transformers") and has("tensorboard"), "tensorboard is not installed")
    def test_tensorboard_gets_numbers_and_the_verdict(self):
        logs = os.path.join(self.folder, "logs")
        self.run_program(MODEL + TRAINER.replace("REPORT", "'tensorboard'"), env={**os.environ, "TENSORBOARD_LOGGING_DIR": logs})
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        events = EventAccumulator(logs)
        events.Reload()
        self.holds({name: events.Scalars("train/" + name)[-1].value for name in NUMBERS})
        tags = [tag for tag in events.Tags()["tensors"] if "verdict" in tag]
        verdict = events.Tensors(tags[0])[-1].tensor_proto.string_val[0].decode("utf-8")
        self.assertEqual(verdict, loadscope.verdict(self.file("run.jsonl")))

    @unittest.skipUnless(has("accelerate"), "accelerate is not installed")
    def test_accelerate_logs_the_report_values(self):
        out, _ = self.run_program(MODEL + ACCELERATE)
        self.assertEqual(self.said(out, "RECORDED"), ["6 None"])
        ((numbers, step),) = map(json.loads, self.said(out, "LOGGED"))
        self.assertEqual(step, 7)
        self.holds(numbers)


class Notebook(Program):
    @unittest.skipUnless(has("IPython"), "IPython is not installed")
    def test_a_cell_is_recorded_and_a_failing_one_fails(self):
        out, _ = self.run_program(
            """
            from IPython.core.interactiveshell import InteractiveShell
            shell = InteractiveShell.instance()
            def cell(text):
                return shell.run_cell(text)
            shell.user_ns.update(globals())
            assert cell("%load_ext loadscope").success
            assert cell("%%loadscope\\nseen = count(DataLoader(Slow(), batch_size=4))").success
            print(shell.user_ns["seen"], shell.user_ns["run"].batches, shell.user_ns["run"].problem)
            assert cell("%%loadscope -o kept.jsonl mine\\ncount(DataLoader(Slow(), batch_size=8))").success
            print(shell.user_ns["mine"].batches)
            failed = cell("%%loadscope\\ncount(DataLoader(Slow(), batch_size=4))\\nraise KeyError('cell')")
            print(type(failed.error_in_exec).__name__, shell.user_ns["run"].batches)
            wrong = cell("%%loadscope --wrong\\n1")
            print(type(wrong.error_in_exec).__name__)
            assert cell("%unload_ext loadscope").success
            print("loadscope" in shell.magics_manager.magics["cell"])
            """,
            env={**os.environ, "IPYTHONDIR": self.file("ipython")},
        )
        # The traceback is shown once, and has no line of ours.
        shown = re.sub(r"\x1b\[[0-9;]*m", "", out).partition("KeyError 6")[0]
        self.assertEqual(shown.count("KeyError: 'cell'"), 1, shown)
        self.assertNotIn("_ipython.py", shown)
        lines = [line for line in out.splitlines() if line.split(" ")[0] in ("6", "3", "KeyError", "ValueError", "False", "True")]
        self.assertEqual(lines, ["6 6 None", "3", "KeyError 6", "ValueError", "False"])
        self.assertEqual(batches(self.file("kept.jsonl")), 3)

    @unittest.skipUnless(has("IPython"), "IPython is not installed")
    def test_each_cell_without_a_loader_has_a_warning(self):
        out, err = self.run_program(
            """
            from IPython.core.interactiveshell import InteractiveShell
            shell = InteractiveShell.instance()
            assert shell.run_cell("%load_ext loadscope").success
            for _ in range(3):
                assert shell.run_cell("%%loadscope\\n1 + 1").success
            print(shell.user_ns["run"].problem)
            """,
            env={**os.environ, "IPYTHONDIR": self.file("ipython")},
        )
        self.assertEqual(err.count("iterated no DataLoader"), 3, err)
        self.assertNotIn("interactiveshell.py", err)

    @unittest.skipUnless(has("IPython"), "IPython is not installed")
    def test_a_loader_is_named_after_its_cell(self):
        self.run_program(
            """
            from IPython.core.interactiveshell import InteractiveShell
            shell = InteractiveShell.instance()
            shell.user_ns.update(globals())
            assert shell.run_cell("%load_ext loadscope", store_history=True).success
            assert shell.run_cell("%%loadscope -o run.jsonl\\nloader = DataLoader(Slow(), batch_size=4)\\ncount(loader)", store_history=True).success
            """,
            env={**os.environ, "IPYTHONDIR": self.file("ipython")},
        )
        self.assertEqual(list(loadscope.read(self.file("run.jsonl")).loaders["name"]), ["In [2]:1"])

    @unittest.skipUnless(has("IPython"), "IPython is not installed")
    def test_recordings_of_a_killed_kernel_are_removed_by_the_next(self):
        program = """
            from IPython.core.interactiveshell import InteractiveShell
            shell = InteractiveShell.instance()
            shell.run_cell("%load_ext loadscope")
            print("ready", flush=True)
            time.sleep(WAIT)
            """
        variables = {**os.environ, "IPYTHONDIR": self.file("ipython"), "TMPDIR": self.folder}
        left = lambda: [name for name in os.listdir(self.folder) if name.startswith("loadscope-notebook-")]  # noqa: E731
        running = self.start(program.replace("WAIT", "600"), env=variables)
        self.assertEqual(running.stdout.readline(), "ready\n")
        (first,) = left()
        other = self.start(program.replace("WAIT", "600"), env=variables, name="other.py")
        self.assertEqual(other.stdout.readline(), "ready\n")
        self.assertEqual(len(left()), 2, "that of a running kernel stays")
        running.kill()
        running.communicate(timeout=60)
        self.run_program(program.replace("WAIT", "0"), env=variables)
        self.assertNotIn(first, left())
        other.kill()
        other.communicate(timeout=60)


if __name__ == "__main__":
    unittest.main()
