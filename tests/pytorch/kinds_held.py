"""One program's recording, held against what the program counted and what is true of it."""

import ast
import collections
import json
import os
import re

from recording import Recording, must, run

# The loader's arguments that its line of Python must show as the program wrote them.
ARGUMENTS = ("batch_size", "shuffle", "num_workers", "prefetch_factor", "drop_last", "in_order", "persistent_workers", "pin_memory", "timeout")
DEFAULTS = {"batch_size": 1, "shuffle": False, "num_workers": 0, "drop_last": False, "in_order": True, "persistent_workers": False}
# No report of any program may say this.
NEVER = (r"\bNaN\b", r"\binf\b", "probe could not")
# Spaces that scripts stumble over; a terminal may show them.
NARROW = ("\u202f", "\u2009", "\u00a0")


class Held:
    """What was found, and what is wrong with it."""

    def __init__(self, kind, here):
        self.kind = kind
        self.tries = 1
        self.wrong = []
        self.reports = []
        self.source = here / (kind.source or "kinds/%s.py" % kind.name)
        self.counted = self.found = None
        self.verdicts = []
        self.calls = []
        self.told = {}

    def same(self, bare, came, steady):
        """Output and exit code are those of the program alone."""
        must(bare.returncode == self.kind.code, "alone it ends with %d: %s" % (bare.returncode, bare.stderr[-300:]))
        must(came.returncode == bare.returncode, "it ends with %d, not with %d: %s" % (came.returncode, bare.returncode, came.stderr[-300:]))
        alone, beside = bare.stdout.splitlines(), came.stdout.splitlines()
        must(alone[:-1] == beside[:-1], "the output differs: %s" % came.stdout[-300:])
        if self.kind.same_errors and steady(bare.stderr) != steady(came.stderr):
            self.wrong.append("stderr differs: %s" % came.stderr[-300:])
        self.told = json.loads(beside[-1])

    def recording(self, loadscope, log, came):
        """All that Loadscope says about the recording, held against what the program counted."""
        passes = {name: counts for name, counts in self.told["loaders"].items()}
        passes.update({"also": self.told["also"]} if "also" in self.told else {})
        self.counted = sum(map(sum, passes.values()))
        self.found = 0
        recording = Recording(log) if os.path.exists(log) else None
        runs = recording.runs if recording else {}
        found = {number: counts_of(events) for number, events in runs.items() if any("epoch" in e for e in events)}
        self.found = sum(map(sum, found.values()))
        said = "\n".join(line for line in came.stderr.splitlines() if line.startswith("loadscope: "))
        if not self.found:
            for pattern in self.kind.or_says:
                if not re.search(pattern, said):
                    self.wrong.append("nothing is recorded, and %r is not said, but: %s" % (pattern, said))
            if passes and not self.kind.or_says:
                self.wrong.append("nothing is recorded: %s" % said)
            return
        if self.found != self.counted:
            self.wrong.append("%d of %d batches are recorded" % (self.found, self.counted))
        if recording.dropped:
            self.wrong.append("%d events were lost" % recording.dropped)
        if len(found) != len(passes):
            self.wrong.append("%d loaders are recorded, not %d" % (len(found), len(passes)))
        self.look(loadscope, log, recording, found, passes)

    def look(self, loadscope, log, recording, found, passes):
        """Each loader's report."""
        # Of many too many a few show what is wrong.
        some = list(found)[: len(passes) + 1]
        reports = {number: Report(loadscope, log, number, len(found) > 1) for number in some}
        self.reports = ["%s\n%s" % (number, report.text) for number, report in reports.items()]
        named = self.named(recording, found, passes)
        for number, report in reports.items():
            name = named.get(number)
            self.verdicts.append("%s: %s, %.0f %% waited" % (name or report.name or number, report.verdict, 100 * report.share))
            self.everywhere(report, name or number)
            if name is not None:
                self.of_loader(name, report, found[number], passes[name])
                self.called(name, report, recording.info(number))
                if self.kind.shows_python:
                    self.python(name, report)

    def named(self, recording, found, passes):
        """Which of the recorded loaders is which: by rank, then by what the program counted, then by size."""
        left, named = dict(passes), {}
        for fits in (lambda a, b: a == b, lambda a, b: sum(a) == sum(b), lambda a, b: True):
            for number, counts in found.items():
                rank = recording.info(number).get("rank", 0)
                same_rank = [n for n in left if "@" not in n or n.endswith("@%d" % rank)]
                name = next((n for n in same_rank if fits(counts, left[n])), None)
                if number not in named and name is not None:
                    named[number] = name
                    del left[name]
        return named

    def of_loader(self, name, report, counts, passes):
        """The counts, the verdict, the words."""
        expected = self.kind.loaders[name]
        lines = {"slow_line"} if expected.line else set()
        if not self.kind.one_total and counts != passes:
            self.wrong.append("%s: epochs of %s batches, not of %s" % (name, short(counts), short(passes)))
        if report.verdict not in expected.verdict | lines:
            self.wrong.append("%s: the verdict is %s (%s), not %s" % (name, report.verdict, report.sentence, "/".join(sorted(expected.verdict))))
        for finding in report.findings:
            if finding["id"] == "slow_line" and expected.line and not finding["text"].startswith(expected.line + " "):
                self.wrong.append("%s: the slow line is not %s: %s" % (name, expected.line, finding["text"]))
            if finding["severity"] != "note" and finding["id"] not in expected.verdict | expected.also | lines:
                self.wrong.append("%s: false alarm %s: %s" % (name, finding["id"], finding["text"]))
        low, high = expected.share
        if not low <= report.share <= high:
            self.wrong.append("%s: waited %.0f %% of the time, not %.0f to %.0f %%" % (name, 100 * report.share, 100 * low, 100 * high))
        waited = self.told.get("waited", {}).get(name)
        if waited is not None and abs(waited - report.waited) > 0.05 + 0.1 * waited:
            self.wrong.append("%s: waited %.2f s; the program waited %.2f s" % (name, report.waited, waited))
        if expected.line not in report.text:
            self.wrong.append("%s: the report does not name the line %s" % (name, expected.line))
        for pattern in expected.says:
            if not re.search(pattern, report.text):
                self.wrong.append("%s: the report does not say %r" % (name, pattern))
        for pattern in expected.never:
            hit = re.search(".*(%s).*" % pattern, report.text + "\n")
            if hit:
                self.wrong.append("%s: the report says %r" % (name, hit.group(0).strip()))

    def everywhere(self, report, name):
        """What holds of every report."""
        for pattern in NEVER:
            if re.search(pattern, report.text):
                self.wrong.append("%s: the report has %r in it" % (name, pattern))
        if any(space in report.raw for space in NARROW):
            self.wrong.append("%s: there are narrow spaces in the JSON" % name)
        known = report.json["summary"]["waited_seconds"]
        if known is not None and abs(known - report.waited) > 1e-6:
            self.wrong.append("%s: %.3f s waited, and %.3f s in the summary" % (name, report.waited, known))

    def called(self, name, report, info):
        """It is called by a line that makes it."""
        places = ["%s:%d" % (self.source.name, line) for line in marked(self.source, name.split("@")[0])]
        shown = report.name or json.dumps(info)
        self.calls.append(report.name or info.get("dataset", "?"))
        if places and not any(re.search(re.escape(place) + r"\b", shown) for place in places):
            self.wrong.append("%s: it is called %r, not %s" % (name, self.calls[-1], " or ".join(places)))

    def python(self, name, report):
        """The line of Python that is shown has the arguments of the program's own, and no others."""
        lines = [line for line in report.text.splitlines() if "DataLoader(" in line or "WebLoader(" in line]
        call = call_at(self.source, marked(self.source, name.split("@")[0]))
        if call is None or not call_name(call).endswith("Loader"):
            return
        if not lines:
            self.wrong.append("%s: no line of Python is shown" % name)
            return
        shown = shown_call(lines[0])
        if shown is None:
            self.wrong.append("%s: what is shown is no Python: %s" % (name, lines[0]))
            return
        wanted, given = arguments(call), arguments(shown)
        for argument in ARGUMENTS:
            if wanted.get(argument) is NotImplemented or "**" in wanted:
                continue
            # A loader that was given its batches has no size of its own.
            default = None if "batch_sampler" in wanted and argument == "batch_size" else DEFAULTS.get(argument)
            a, b = wanted.get(argument, default), given.get(argument, default)
            if a != b:
                self.wrong.append("%s: Python is shown with %s=%s, not %s: %s" % (name, argument, b, a, lines[0].strip()))
        for argument in ("sampler", "batch_sampler"):
            if (argument in wanted) != (argument in given):
                self.wrong.append("%s: Python is shown %s %s: %s" % (name, "without" if argument in wanted else "with", argument, lines[0].strip()))

    def row(self):
        calls = ", ".join("`%s`" % call for call in self.calls)
        cells = [
            "`%s`" % self.kind.name,
            self.kind.shows,
            "%s / %s" % (self.counted, self.found),
            "%d: %s" % (len(self.calls), calls) if self.calls else "0",
            "<br>".join(self.verdicts) or "—",
            ("yes" if self.tries == 1 else "yes, in try %d" % self.tries) if not self.wrong else "**no**: " + "; ".join(self.wrong),
        ]
        return "| %s |" % " | ".join(re.sub(r"[|\n]+", " / ", cell) for cell in cells)


class Report:
    """What `loadscope report` says of a loader."""

    def __init__(self, loadscope, log, number, is_one_of_several):
        loader = ["--loader", str(number)] if is_one_of_several else []
        came = run([loadscope, "report", "--json", *loader, log])
        must(came.returncode == 0, "the report ends with %d: %s" % (came.returncode, came.stderr[-300:]))
        self.raw = came.stdout
        self.json = json.loads(came.stdout)
        self.text = plain(run([loadscope, "report", *loader, log]).stdout)
        self.name = (self.json["loader"] or {}).get("name") or ""
        self.verdict, self.sentence = self.json["verdict"]["id"], plain(self.json["verdict"]["text"])
        self.findings = self.json["findings"]
        self.waited = self.json["waited_seconds"] or 0.0
        self.share = self.waited / max(self.json["run_seconds"], 1e-9)


def plain(text):
    for space in NARROW:
        text = text.replace(space, " ")
    return text


def counts_of(events):
    """How many batches the trainer got, by epoch; epochs without any left out."""
    counts = collections.Counter(e["epoch"] for e in events if e["e"] == "entered" and e["stage"] == "training")
    return [counts[epoch] for epoch in sorted(counts)]


def short(counts):
    """`300 × 4`, or the counts."""
    return "%d × %d" % (len(counts), counts[0]) if len(counts) > 8 and len(set(counts)) == 1 else str(counts[:12])[1:-1]


def marked(source, name):
    """Lines that make the loader of this name."""
    lines = enumerate(source.read_text(encoding="utf-8").splitlines(), 1)
    return [number for number, line in lines if name in line.partition("# loader: ")[2].split()]


def call_at(source, lines):
    """The call of a loader that begins in the first of these lines."""
    calls = [node for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    calls = [node for node in calls if lines and node.lineno == lines[0] and call_name(node).endswith("Loader")]
    return calls[0] if calls else None


def call_name(node):
    return getattr(node.func, "id", getattr(node.func, "attr", ""))


def shown_call(line):
    try:
        tree = ast.parse(line.strip().replace("(…)", "()"))
    except SyntaxError:
        return None
    return next((n for n in ast.walk(tree) if isinstance(n, ast.Call) and call_name(n).endswith("Loader")), None)


def arguments(call):
    """Arguments by name; `NotImplemented` for those that only the running program knows."""
    given = {keyword.arg or "**": keyword.value for keyword in call.keywords}
    given.update(zip(("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers"), call.args))
    return {name: value.value if isinstance(value, ast.Constant) else NotImplemented for name, value in given.items()}
