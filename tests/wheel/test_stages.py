"""Named steps of a dataset: they are in the recording, and without one they have no effect."""

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

    def test_an_error_leaves_a_step_as_it_is(self):
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

    def test_a_step_can_be_sent_to_a_worker(self):
        with pickle.loads(pickle.dumps(loadscope.stage("read"))) as step:
            self.assertIsInstance(step, loadscope.stage)


if __name__ == "__main__":
    unittest.main()
