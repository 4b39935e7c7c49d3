"""Compares Loadscope's forecasts with real PyTorch, and writes TRUTH.md. `cargo xtask truth` runs it.

Each workload of `workloads/` is recorded once. Loadscope forecasts other settings from this recording alone. Then the program runs with
these settings, without recording, in turn over several rounds. With `--keep`, measurements stay in a folder. `--from` repeats the forecasts
for that folder and runs nothing.
"""

import argparse
import concurrent.futures
import functools
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile

from settings import DEFAULTS, WORKLOADS, arguments, in_python, program_of, recorded_of, settings_of, short, title_of

HERE = pathlib.Path(__file__).resolve().parent
# Relative difference up to which forecasts count as equal, as in Loadscope itself.
AS_GOOD = 0.02
# Relative difference above which a program counts as slower.
SLOWER = 0.03
# Seconds of a run and of a forecast. Spawned workers on a busy host take a minute.
MOST, MOST_FORECAST = 240, 120
HEAD = """# Forecasts against real PyTorch

Written by `cargo xtask truth`. For each of {source} one run was recorded. Loadscope
forecast the time of every other setting from this recording alone. Then the program ran with each setting in turn, without recording.
The time is from before `iter(loader)` of the first epoch to the end of the last: starting and ending workers, loading and training steps, but not
importing PyTorch. PyTorch {torch}, {cores} cores ({processor}).

**{sentence}**

Goals: a median error of at most 5 %, at most 15 % at the 90th percentile, at least 85 % inside the interval, a regret of at most 5 %.

*forecast*, *low* and *high*: the forecast with its 90 % interval. *took*: the median of the rounds, with
their range. *error*: the forecast compared with that median. *regret*: the extra time of the setting that Loadscope recommends,
compared with the best measured one. Settings with `in_order=False` are excluded, because they change the order of
batches. The median spread between the rounds of a setting is {noise}. Other programs used {others:.2f} cores meanwhile.

| workload | settings | median error | largest | inside | recommended | the best | regret |
|---|--:|--:|--:|--:|---|---|--:|
"""


class Failed(Exception):
    """A program that failed or took too long."""


def run(command, most, refusal=False):
    """Returns the output of a program, which may not load Loadscope's libtorch. After a timeout, its children are killed, too."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env=environment, start_new_session=True)
    try:
        output, errors = process.communicate(timeout=most)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise Failed("%s did not end within %d s" % (command, most)) from None
    if process.returncode and refusal:
        raise Refused(errors.strip().removeprefix("error: "))
    if process.returncode:
        raise Failed("%s ended with %d and printed %r" % (command, process.returncode, errors))
    return output


class Refused(Exception):
    """A forecast that Loadscope refuses."""


def what_if(loadscope, recording, grid=()):
    """Runs `loadscope what-if` for settings of one grid, or for its default settings."""
    command = [loadscope, "what-if", recording, "--json"]
    if grid:
        for option, name in (("--workers", "num_workers"), ("--prefetch", "prefetch_factor")):
            values = sorted({one[name] for one in grid if one[name] is not None}) or [2]
            command += [option, ",".join(map(str, values))]
        command += ["--set=%s=%s" % (name, json.dumps(grid[0][name])) for name in ("in_order", "persistent_workers")]
    return json.loads(run(command, MOST_FORECAST, refusal=True))


def forecast(loadscope, recording, settings):
    """Returns the answer without a grid, and for each setting its forecast or the reason why there is none."""
    whole = what_if(loadscope, recording)
    grids, found = {}, {}
    for one in settings:
        grids.setdefault((one["in_order"], one["persistent_workers"]), []).append(one)
    for grid in grids.values():
        # One request for a grid is faster. If one of its settings is refused, the whole request is refused.
        try:
            answer = what_if(loadscope, recording, grid)
            found.update((in_python(one), of_setting(answer, one)) for one in grid)
        except Refused:
            for one in grid:
                try:
                    found[in_python(one)] = of_setting(what_if(loadscope, recording, [one]), one)
                except Refused as refusal:
                    found[in_python(one)] = str(refusal)
    return whole, [found[in_python(one)] for one in settings]


def of_setting(answer, one):
    """Finds the forecast of a setting in an answer."""
    for each in answer["configurations"]:
        if each["num_workers"] == one["num_workers"] and (
                not one["num_workers"] or each["prefetch_factor"] == one["prefetch_factor"]):
            return each
    raise Failed("the answer has no forecast of " + in_python(one))


def recommended(answer):
    one = {name: answer["recommended"][name] for name in DEFAULTS}
    return one if one["num_workers"] else {**one, "prefetch_factor": None, "persistent_workers": False}


class Lab:
    """Recordings and runs, stored in a folder."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        (folder / "recordings").mkdir(parents=True, exist_ok=True)
        self.file = folder / "measurements.json"
        self.measured = json.loads(self.file.read_text()) if self.file.exists() else {"host": {}, "works": {}}

    def recording(self, name):
        return self.folder / "recordings" / (name + ".jsonl.zst")

    def save(self):
        half = self.file.with_suffix(".json.half")
        half.write_text(json.dumps(self.measured, indent=2))
        half.replace(self.file)

    def record(self, name, data):
        """Writes the input files of a workload, and records it. Returns the times of the recorded run."""
        train = [sys.executable, "-B", HERE / "train.py"]
        run([*train, "--prepare", name, data], MOST)
        # A first run reads the files into the page cache.
        one = recorded_of(name)
        self.run(name, data, one)
        print("%s: recording %s" % (name, in_python(one)), file=sys.stderr)
        command = [self.options.loadscope, "record", "--force", "-o", self.recording(name), "--", *train, name, data, *arguments(one)]
        return last_json(run(command, MOST))

    def run(self, name, data, one):
        return last_json(run([sys.executable, "-B", HERE / "train.py", name, data, *arguments(one)], MOST))

    def measure(self, name):
        version = checksum(program_of(name))
        works = self.measured["works"]
        with tempfile.TemporaryDirectory() as data:
            if self.options.record_only:
                if name not in works or works[name]["program"] != version:
                    raise Failed("its settings were not measured with this program. Measure it without --record-only")
                works[name]["recording"] = self.record(name, data)
                return self.save()
            recording = self.record(name, data)
            self.measured["host"] = {"torch": recording["torch"], "cores": os.cpu_count(), "processor": processor()}
            settings = settings_of(name)
            answer, _ = forecast(self.options.loadscope, self.recording(name), settings)
            if recommended(answer) not in settings:
                settings.append(recommended(answer))
            tried = [{"setting": one, "turns": []} for one in settings]
            works[name] = {"recorded": recorded_of(name), "program": version, "recording": recording, "tried": tried}
            failures = 0
            for number in range(1, self.options.rounds + 1):
                # The order is reversed every second round, so that drift within a round does not always affect the same settings.
                for one in tried if number % 2 else reversed(tried):
                    title = "%s %d/%d: %s" % (name, number, self.options.rounds, in_python(one["setting"]))
                    try:
                        turn = self.run(name, data, one["setting"])
                    except Failed as why:
                        print("%s: %s" % (title, why), file=sys.stderr)
                        failures += 1
                        continue
                    print("%s: %.3f s, others used %.1f cores" % (title, turn["seconds"], turn["others"]), file=sys.stderr)
                    one["turns"].append(turn)
                self.save()
            if failures:
                raise Failed("%d runs failed" % failures)


def checksum(data):
    """Returns the FNV-1a value of a program."""
    return functools.reduce(lambda value, byte: (value ^ byte) * 0x100000001B3 % 2**64, data, 0xCBF29CE484222325)


def last_json(text):
    """Parses the last line with a JSON object. The recorder may print lines after it."""
    lines = [line for line in text.splitlines() if line.startswith("{")]
    if not lines:
        raise Failed("the program did not print its times, but %r" % text)
    return json.loads(lines[-1])


def processor():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown processor")


class Evaluation:
    """Workload with the outcomes of its settings."""

    def __init__(self, name, kept, answer, forecasts):
        self.name, self.title = name, title_of(name)
        recorded = answer["recorded"]
        # The recorded run has the overhead of recording, which a forecast has not.
        self.refit = recorded["seconds"], recorded["forecast_seconds"] + recorded.get("recording_seconds", 0)
        self.recommended = recommended(answer)
        self.outcomes = [Outcome(tried, one) for tried, one in zip(kept["tried"], forecasts) if tried["turns"]]
        # Another order changes the training, so Loadscope does not recommend it for speed alone.
        same = [one for one in self.outcomes if one.setting["in_order"] == self.recommended["in_order"]]
        self.best = min(same, key=lambda one: one.took, default=None)
        self.is_tried = any(one.setting == self.recommended for one in same)
        forecast = [one for one in same if one.error is not None]
        least = min((one.forecast["seconds"] for one in forecast), default=0)
        # Loadscope would recommend the fewest workers, then the smallest prefetch factor, among the forecasts within 2 % of the shortest.
        good = [one for one in forecast if one.forecast["seconds"] <= least * (1 + AS_GOOD)]
        good.sort(key=lambda one: (one.setting["num_workers"], one.setting["prefetch_factor"] or 0))
        self.chosen = next((one for one in same if one.setting == self.recommended), good[0] if good else None)
        self.regret = self.chosen.took / self.best.took - 1 if self.chosen else None
        self.before = next((one.took for one in same if one.setting == recorded_of(name)), None)
        self.slowdown = self.chosen.took / self.before - 1 if self.chosen and self.before else None

    def section(self):
        took, forecast = self.refit
        lines = ["", "## " + self.title, "", "`%s`, recorded with %s: the recorded run took %s, for which %s are forecast (%s)." % (
            self.name, in_python(recorded_of(self.name)), seconds(took), seconds(forecast), signed(forecast / took - 1)), "",
            "| setting | forecast | low | high | took | error | inside |", "|---|--:|--:|--:|--:|--:|---|"]
        lines += [one.row() for one in self.outcomes]
        for refusal in dict.fromkeys(one.forecast for one in self.outcomes if one.error is None):
            lines += ["", "No forecast: " + refusal]
        if self.chosen:
            other = "" if self.is_tried else ", which was not tried; of those that were, " + in_python(self.chosen.setting)
            lines += ["", "Recommended: %s%s. The best: %s. Regret: %s." % (
                in_python(self.recommended), other, in_python(self.best.setting), percent(self.regret))]
        return "\n".join(lines) + "\n"

    def overview(self):
        head = Head([self])
        return "| %s | %d | %s | %s | %s | %s | %s | %s |\n" % (
            self.title, head.count, percent(head.error(0.5)), percent(head.error(1)), percent(head.inside), in_python(self.recommended),
            in_python(self.best.setting) if self.chosen else "–", percent(self.regret) if self.chosen else "–")

    def line(self):
        """Formats the line for the terminal."""
        errors = ["%s: %s" % (short(one.setting), "refused" if one.error is None else signed(one.error) + "!" * (not one.is_inside))
                  for one in self.outcomes]
        return "%14s  regret %7s  as recorded %7s  %s" % (
            self.name, percent(self.regret) if self.chosen else "–", signed(self.refit[1] / self.refit[0] - 1), "  ".join(errors))


class Outcome:
    """Forecast and measured time of a setting."""

    def __init__(self, tried, forecast):
        times = [turn["seconds"] for turn in tried["turns"]]
        self.setting, self.forecast = tried["setting"], forecast
        self.took, self.least, self.most = statistics.median(times), min(times), max(times)
        self.others = statistics.median(turn["others"] for turn in tried["turns"])
        has_forecast = not isinstance(forecast, str)
        self.error = forecast["seconds"] / self.took - 1 if has_forecast else None
        self.is_inside = has_forecast and forecast["low"] <= self.took <= forecast["high"]

    def row(self):
        cells = ["none", "–", "–"] if self.error is None else [seconds(self.forecast[name]) for name in ("seconds", "low", "high")]
        took = "%s (%s – %s)" % (seconds(self.took), seconds(self.least), seconds(self.most))
        error = "–" if self.error is None else signed(self.error)
        return "| %s |" % " | ".join([in_python(self.setting), *cells, took, error, "yes" if self.is_inside else "**no**"])


class Head:
    """Summary of all outcomes."""

    def __init__(self, judged):
        all_of_them = [one for work in judged for one in work.outcomes]
        self.count = len(all_of_them)
        self.errors = sorted(abs(one.error) for one in all_of_them if one.error is not None)
        self.inside = sum(one.is_inside for one in all_of_them) / max(self.count, 1)
        self.noise = statistics.median([(one.most - one.least) / one.took for one in all_of_them] or [0])
        self.others = statistics.median([one.others for one in all_of_them] or [0])
        self.regret = max(((work.regret, work.name) for work in judged if work.chosen), default=None)
        remedies = [work for work in judged if work.slowdown is not None]
        self.remedies = len(remedies)
        self.slower = sorted(((work.slowdown, work.name) for work in remedies if work.slowdown > SLOWER), reverse=True)
        gains = [(1 - work.chosen.took / work.before, 1 - work.best.took / work.before) for work in remedies]
        best = sum(best for _, best in gains)
        self.gain = sum(gain for gain, _ in gains) / best if best > 0 else None

    def error(self, share):
        """Returns the quantile of the absolute errors, interpolated linearly."""
        if not self.errors:
            return 0.0
        at = share * (len(self.errors) - 1)
        below, part = int(at), at % 1
        return self.errors[below] + part * (self.errors[min(below + 1, len(self.errors) - 1)] - self.errors[below])

    def sentence(self):
        text = "Over %d outcomes the median error is %s, at the 90th percentile %s, at worst %s. %s of them are inside the interval." % (
            self.count, *(percent(self.error(share)) for share in (0.5, 0.9, 1)), percent(self.inside))
        if self.regret:
            text += " The largest regret is %s (%s)." % (percent(self.regret[0]), self.regret[1])
        if self.remedies:
            text += " %d of %d recommended settings made the program more than %s slower%s." % (
                len(self.slower), self.remedies, percent(SLOWER), ": " * bool(self.slower) + ", ".join(
                    "%s by %s" % (name, percent(slowdown)) for slowdown, name in self.slower))
        if self.gain is not None:
            text += " They save %s of the time that the best settings save." % percent(self.gain)
        refused = self.count - len(self.errors)
        return text + (" %d had no forecast: they count as outside, and have no error." % refused if refused else "")


def seconds(value):
    return "%.0f ms" % (value * 1e3) if value < 1 else "%.2f s" % value


def percent(share):
    return "%.1f %%" % (share * 100)


def signed(share):
    return "%+.1f %%" % (share * 100)


def page(host, judged):
    head = Head(judged)
    is_drawn = any(one.name.startswith("drawn_") for one in judged)
    source = "%d random workloads" % len(judged) if is_drawn else "the workloads in `tests/pytorch/truth/workloads`"
    text = HEAD.format(source=source, sentence=head.sentence(), noise=percent(head.noise), others=head.others, **host)
    return text + "".join(one.overview() for one in judged) + "".join(one.section() for one in judged)


def evaluated(lab, names):
    """Forecasts the settings of the workloads. A workload whose forecast fails is left out."""
    works = lab.measured["works"]

    def judged(name):
        settings = [tried["setting"] for tried in works[name]["tried"]]
        try:
            return Evaluation(name, works[name], *forecast(lab.options.loadscope, lab.recording(name), settings))
        except (Failed, Refused) as why:
            print("%s: %s" % (name, why), file=sys.stderr)
            return None

    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        return [one for one in threads.map(judged, names) if one]


def main():
    parser = argparse.ArgumentParser(prog="cargo xtask truth", description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=lambda text: text.split(","), default=[], metavar="WORKLOAD",
                        help="only these workloads, as in --only jpeg,disk. Then the table is not written")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="repetitions of each setting [default: 3]")
    parser.add_argument("--loadscope", required=True, type=os.path.abspath, metavar="EXECUTABLE",
                        help="use this optimised Loadscope executable instead of building one")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER",
                        help="keep recordings and measurements.json in this folder. Workloads measured earlier stay")
    parser.add_argument("--record-only", action="store_true",
                        help="record again and keep the measurements of the settings, for recordings with new events")
    parser.add_argument("--from", dest="source", type=pathlib.Path, metavar="FOLDER",
                        help="run nothing: repeat the forecasts for the recordings in this folder")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE",
                        help="write the page to this file instead of tests/pytorch/TRUTH.md, also with some workloads only")
    parser.add_argument("--drawn", type=int, default=0, metavar="N", help="N random workloads in place of the files. Without --page, no file is written")
    parser.add_argument("--seed", type=int, default=1000, metavar="N", help="seed of the first random workload [default: 1000]")
    options = parser.parse_args()
    options.only = options.only or ["drawn_%d" % (options.seed + k) for k in range(options.drawn)]
    if options.record_only and not options.keep or options.source and options.keep or options.rounds < 1:
        parser.error("--record-only needs --keep, --from excludes --keep, --rounds is at least 1")
    for name in options.only:
        if name not in WORKLOADS and not name.startswith("drawn_"):
            parser.error("workload %s does not exist. Choose one of: %s" % (name, ", ".join(WORKLOADS)))
    if options.source and not (options.source / "measurements.json").is_file():
        parser.error("%s has no measurements. Measure first with --keep %s" % (options.source, options.source))
    with tempfile.TemporaryDirectory() as temporary:
        lab = Lab(options, options.source or options.keep or pathlib.Path(temporary))
        failures = 0
        for name in () if options.source else options.only or WORKLOADS:
            try:
                lab.measure(name)
            except (Failed, Refused) as why:
                print("%s: %s" % (name, why), file=sys.stderr)
                failures += 1
        names = [name for name in options.only or WORKLOADS if name in lab.measured["works"]]
        evaluations = evaluated(lab, names)
        failures += len(names) - len(evaluations)
    if not evaluations:
        print("Not written, because no workload was measured and forecast.", file=sys.stderr)
        return 1
    text = page(lab.measured["host"], evaluations)
    print("\n".join(one.line() for one in evaluations), Head(evaluations).sentence(), sep="\n")
    path = options.page or (HERE.parent / "TRUTH.md" if {one.name for one in evaluations} == set(WORKLOADS) else None)
    if path:
        path.write_text(text, encoding="utf-8")
        print("Written to %s." % path, file=sys.stderr)
    else:
        print(text)
        print("Not written, because not all workloads were measured and forecast. --page names a file.", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
