"""Named steps of a dataset: they are in the recording, and without one they have no effect."""

import importlib.util
import json
import pickle
import unittest

import loadscope
from support import Program

PROGRAM = """
import loadscope

@loadscope.stage("decode")
def decode(index):
    "words"
    with loadscope.stage("inside of another one"):
        time.sleep(0.002)
    return torch.tensor([float(index)])

class Named(Slow):
    def __getitem__(self, index):
        with loadscope.stage("read"):
            time.sleep(0.001)
        return decode(index)

def collate(samples):
    with loadscope.stage("together"):
        return torch.stack(samples)

def look(workers):
    return [batch.tolist() for batch in DataLoader(Named(), batch_size=4, num_workers=workers, collate_fn=collate)]

with loadscope.stage("no sample"):
    alone = look(0)
with loadscope.record("run.jsonl") as run:
    print(all(look(workers) == alone for workers in (0, 2)), run.problem, decode.__doc__)
print(look(0) == alone)
"""


def stages(path):
    """The times of each step, by name, ns."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            event = json.loads(line)
            for name, walls in event.get("stages", ()) if event.get("e") == "fetched" else ():
                found.setdefault(name, []).extend(walls)
    return found


class Stages(Program):
    def test_steps_are_recorded_once_and_change_nothing(self):
        out, _ = self.run_program(PROGRAM)
        self.assertEqual(out.split(), ["True", "None", "words", "True"])
        found = stages(self.file("run.jsonl"))
        self.assertEqual(sorted(found), ["decode", "read"])
        self.assertEqual([len(walls) for walls in found.values()], [48, 48])
        self.assertTrue(all(wall >= 2_000_000 for wall in found["decode"]), found)
        self.assertTrue(all(wall >= 1_000_000 for wall in found["read"]), found)

    def test_an_error_passes_through_a_step(self):
        out, _ = self.run_program(
            """
            import loadscope
            class Odd(Slow):
                def __getitem__(self, index):
                    try:
                        with loadscope.stage("try"):
                            raise KeyError(index)
                    except KeyError as error:
                        with loadscope.stage("again"):
                            return torch.tensor([float(error.args[0])])
            with loadscope.record("run.jsonl"):
                print(sum(float(batch.sum()) for batch in DataLoader(Odd(), batch_size=4)))
            """
        )
        self.assertEqual(out.strip(), "276.0")
        found = stages(self.file("run.jsonl"))
        self.assertEqual({name: len(walls) for name, walls in found.items()}, {"try": 24, "again": 24})

    def test_a_suspended_step_does_not_hide_the_next(self):
        out, _ = self.run_program(
            """
            import loadscope
            from torch.utils.data import IterableDataset
            class Stream(IterableDataset):
                def __iter__(self):
                    step = loadscope.stage("read")
                    for index in range(8):
                        with step:
                            time.sleep(0.001)
                        with loadscope.stage("yield"):
                            yield torch.tensor([float(index)])
            with loadscope.record("run.jsonl"):
                print(count(DataLoader(Stream(), batch_size=4)))
            """
        )
        self.assertEqual(out.strip(), "2")
        read = stages(self.file("run.jsonl"))["read"]
        self.assertEqual(sum(wall > 0 for wall in read), 8, read)

    def test_at_most_32_step_names_are_recorded(self):
        self.run_program(
            """
            import loadscope
            class Odd(Slow):
                def __len__(self):
                    return 200
                def __getitem__(self, index):
                    with loadscope.stage("sample %d" % index):
                        return torch.tensor([float(index)])
            with loadscope.record("run.jsonl"):
                count(DataLoader(Odd(), batch_size=4))
            """
        )
        self.assertEqual(len(stages(self.file("run.jsonl"))), 32)

    def test_a_loader_inside_a_sample_keeps_the_steps(self):
        self.run_program(
            """
            import loadscope
            class Nested(Slow):
                def __getitem__(self, index):
                    with loadscope.stage("before"):
                        pass
                    inner = count(DataLoader(range(2)))
                    with loadscope.stage("after"):
                        time.sleep(0.001)
                    return torch.tensor([float(inner)])
            with loadscope.record("run.jsonl"):
                count(DataLoader(Nested(), batch_size=4))
            """
        )
        found = stages(self.file("run.jsonl"))
        self.assertEqual(sum(wall > 0 for wall in found["after"]), 24, found)

    @unittest.skipUnless(importlib.util.find_spec("PIL"), "there is no Pillow")
    def test_functions_kept_by_a_program_can_be_pickled(self):
        out, _ = self.run_program(
            """
            import pickle
            import loadscope
            kept = []
            with loadscope.record("run.jsonl"):
                from PIL import Image
                kept.append(Image.open)
                count(DataLoader(Slow()))
            print(all(pickle.loads(pickle.dumps(function)) is function for function in kept))
            """
        )
        self.assertEqual(out.strip(), "True")

    def test_a_step_can_be_pickled(self):
        with pickle.loads(pickle.dumps(loadscope.stage("read"))) as step:
            self.assertIsInstance(step, loadscope.stage)


class Digests(Program):
    @unittest.skipUnless(importlib.util.find_spec("numpy"), "there is no NumPy")
    def test_digests_differ_for_different_values(self):
        out, _ = self.run_program(
            """
            import collections
            import loadscope
            with loadscope.record("run.jsonl"):
                from loadscope_probe import digest_of
                for shape in (64, 1, 28, 28), (64, 1, 32, 32), (128, 3, 32, 32), (32, 3, 224, 224), (4, 3, 256, 256):
                    plain, other = torch.zeros(shape), torch.zeros(shape)
                    other[:, :, 3:-3, 3:-3] = torch.rand(other[:, :, 3:-3, 3:-3].shape)
                    for wrap in (list, lambda x: {"x": x}, lambda x: collections.UserDict(x=x[0]), lambda x: {"x": x[0].numpy()}):
                        assert digest_of(wrap([plain])) == digest_of(wrap([plain.clone()])), shape
                        assert digest_of(wrap([plain])) != digest_of(wrap([other])), shape
                print(digest_of(object()), digest_of([]), digest_of(["a"]) != digest_of(["b"]))
                count(DataLoader(Slow()))
            """
        )
        self.assertEqual(out.split(), ["None", "None", "True"])


if __name__ == "__main__":
    unittest.main()
