"""Puts causes into trainings with real PyTorch, asks the verdict, and really tries what it advises.

    python causes.py --loadscope EXECUTABLE [--only WORDS]… [--no-tries] [--rounds N] [--results FILE] [--keep FOLDER]

The Python that runs this needs PyTorch; loops whose library it lacks are not tried. What must hold: the verdict names the cause, all
batches are recorded, and no change of DataLoader's arguments that it offers makes the training more than 5 % slower when it is
really made. Ends with 1 if something does not hold.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

from causes_expected import RUNS
from kinds_held import Report, counts_of
from recording import Missing, Recording, Wrong, must, recorded, run

HERE = pathlib.Path(__file__).resolve().parent / "causes"
MOST = 300
# So much slower may a training be with what the verdict offers; and seconds that a process more or less may take anyway.
SLOWER, NOISE = 1.05, 0.05
# Arguments that a remedy may change, and how they are written in it.
OFFERS = re.compile(r"(num_workers|prefetch_factor)=(\d+)|(in_order|persistent_workers|pin_memory)=(True|False)")
# What comes before an offer that is none.
NO_OFFER = re.compile(r"would keep up, but|would take [^.]*, no faster")
LIBRARY = {"lightning": "lightning", "trainer": "transformers", "accelerate": "accelerate"}
HEAD = """# Verdicts on injected causes

Written by `cargo xtask causes`. Each row is a training with PyTorch %s (Python %s, %d cores) and one injected cause, as a plain loop, with
Lightning, transformers or accelerate (`causes_expected.py`). *tried*: the change of DataLoader arguments from the verdict. *seconds*:
without and with that change, medians of %d alternating runs in one process.

| training | verdict | waited | names the cause | tried | seconds | not slower |
|---|---|---|---|---|---|---|"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--loadscope", required=True)
    parser.add_argument("--only", action="append", default=[], help="only runs with this in their names; may be given several times")
    parser.add_argument("--no-tries", action="store_true", help="do not try what is offered")
    parser.add_argument("--rounds", type=int, default=3, help="how often each setting is tried")
    parser.add_argument("--results", help="write a table to this file")
    parser.add_argument("--keep", help="keep recordings and reports in this folder")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options.loadscope = os.path.abspath(options.loadscope)
    rows, wrong, slower, missing = [], 0, 0, []
    for injected in RUNS:
        if options.only and not any(word in injected.name for word in options.only):
            continue
        try:
            case = Case(injected)
            case.all(options)
        except Missing as what:
            missing.append(injected.name)
            print("%s: not tried, %s" % (injected.name, what), flush=True)
            continue
        rows.append(case.row())
        wrong += bool(case.wrong)
        slower += case.slower
        print("%s: %s, %s" % (injected.name, case.verdict, "; ".join(case.wrong) or "as it should be"), flush=True)
        for tried in case.tried:
            print("    %s" % tried, flush=True)
    named = "%d of %d name the cause, %d offers make it slower, %d not tried" % (len(rows) - wrong, len(rows), slower, len(missing))
    print(named)
    if options.results and not options.only:
        import torch

        head = HEAD % (torch.__version__, sys.version.split()[0], len(os.sched_getaffinity(0)), options.rounds)
        pathlib.Path(options.results).write_text("\n".join([head, *rows, "", named + "."]) + "\n", encoding="utf-8")
    return 1 if wrong or slower else 0


class Case:
    """A run, and what was found."""

    def __init__(self, injected):
        self.injected = injected
        self.verdict, self.wrong, self.tried, self.cells = "—", [], [], []
        self.share = self.slower = 0
        self.texts = []

    def command(self, *more):
        """The training, by the Python that runs this."""
        given = self.injected
        if given.command:
            torchrun = ["-m", "torch.distributed.run", "--nproc_per_node", "2", "--standalone"]
            return [sys.executable, *torchrun, str(HERE / given.command[0]), *given.command[1:]]
        sets = [word for one in given.sets for word in ("--set", one)]
        loop = ["--loop", given.loop, "--size", str(given.size), "--epochs", str(given.epochs)]
        return [sys.executable, str(HERE / "cause.py"), given.cause, *loop, *sets, *more]

    def all(self, options):
        library = LIBRARY.get(self.injected.loop)
        if library and run([sys.executable, "-c", "import " + library]).returncode != 0:
            raise Missing("there is no " + library)
        with tempfile.TemporaryDirectory() as folder:
            env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
            env.pop("PYTHONPATH", None)
            try:
                self.look(options.loadscope, folder, env)
                if self.injected.tries and not options.no_tries:
                    for offer in self.offers():
                        self.attempt(offer, options.rounds, folder, env)
            except Wrong as error:
                self.wrong.append(str(error))
            except subprocess.TimeoutExpired:
                self.wrong.append("it did not end within %d s" % MOST)
            if options.keep:
                to = os.path.join(options.keep, re.sub(r"[^\w=]+", "-", self.injected.name))
                shutil.rmtree(to, ignore_errors=True)
                shutil.copytree(folder, to)
                (pathlib.Path(to) / "reports.txt").write_text("\n\n".join(self.texts), encoding="utf-8")

    def look(self, loadscope, folder, env):
        """Records it and holds the verdict against the cause."""
        given, log = self.injected, os.path.join(folder, "run.jsonl")
        came = recorded(loadscope, log, self.command(), limit=MOST, env=env, cwd=folder)
        must(came.returncode == given.code, "it ends with %d: %s" % (came.returncode, came.stderr[-400:]))
        found = {number: sum(counts_of(events)) for number, events in Recording(log).runs.items()}
        if given.code == 0:
            told = json.loads(came.stdout.splitlines()[-1])["batches"]
            if sum(found.values()) != told:
                self.wrong.append("%d of %d batches are recorded" % (sum(found.values()), told))
        self.report = report = Report(loadscope, log, None, False)
        self.texts.append(report.text)
        self.verdict, self.share = report.verdict, report.share
        if report.verdict not in given.finds:
            self.wrong.append("the verdict is %s (%s), not %s" % (report.verdict, report.sentence, "/".join(sorted(given.finds))))
        weighty = [f for f in report.findings if f["severity"] != "note"]
        said = " ".join([report.sentence, *(f["text"] + " " + f["remedy"] for f in weighty), report.text])
        if not re.search(given.says, said):
            self.wrong.append("%r is not said" % given.says)
        for finding in weighty:
            if given.never and re.search(given.never, finding["remedy"]):
                self.wrong.append("advised: %s" % finding["remedy"])
        if given.cause == "validation" and "320" in report.name + report.sentence:
            self.wrong.append("it is about the training")

    def offers(self):
        """Changes of arguments that the verdict offers: its first remedy, and what it forecasts."""
        first = next((f for f in self.report.findings if f["id"] == self.verdict and f["severity"] != "note"), None)
        texts = [re.split(r"\. ", self.report.sentence)[-1]]
        texts += [first["remedy"]] if first else []
        offers = []
        for text in texts:
            if NO_OFFER.search(text) or "would" not in text and first is None:
                continue
            # The second clause is another offer, or a worse one.
            offer = tuple("%s=%s" % (m[0] or m[2], m[1] or m[3]) for m in OFFERS.findall(re.split("; |, and ", text)[0]))
            offer = tuple(one for one in offer if one not in self.injected.sets)
            # Those of the Trainer of transformers are fewer.
            if offer and not (self.injected.loop == "trainer" and "in_order" in str(offer)) and offer not in offers:
                offers.append(offer)
        return offers

    def attempt(self, offer, rounds, folder, env):
        """The training as it is and changed, in turn."""
        against = [word for one in offer for word in ("--against", one)]
        if "num_workers=0" in offer:
            against += [word for one in self.injected.sets for word in ("--against", one.split("=")[0] + "=None") if "prefetch" in one]
        came = run(self.command("--rounds", str(rounds), *against), limit=2 * MOST, env=env, cwd=folder)
        must(came.returncode == 0, "%s cannot be tried: %s" % (", ".join(offer), came.stderr[-400:]))
        took = json.loads(came.stdout.splitlines()[-1])
        before, after = statistics.median(took["as it is"]), statistics.median(took["changed"])
        is_slower = after > SLOWER * before + NOISE
        self.slower += is_slower
        words = ", ".join(offer), "%.2f → %.2f" % (before, after), "**no**" if is_slower else "yes"
        self.cells.append(words)
        self.tried.append("%s: %s s, %s" % (words[0], words[1], "slower" if is_slower else "not slower"))

    def row(self):
        cells = [self.injected.name, self.verdict, "%.0f %%" % (100 * self.share)]
        cells.append("yes" if not self.wrong else "**no**: " + "; ".join(self.wrong))
        cells += ["<br>".join(part) for part in zip(*self.cells)] or ["—", "—", "—"]
        return "| %s |" % " | ".join(re.sub(r"[|\n]+", " / ", cell) for cell in cells)


if __name__ == "__main__":
    sys.exit(main())
