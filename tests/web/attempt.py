"""Tries the page in a headless Chromium: opened from disk and from `loadscope view`, stepped through, searched, diagnosed, simulated in, with
a hostile recording, and live. `cargo xtask web --try` calls this; the recordings come from `app/program/tests/web.rs`.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import desktop
import live
import view
from browser import Browser, missing

# Seconds until a recording of 10,000 batches is shown, at most.
MOST = 2.0
# A frame while a recording of 100,000 batches is opened, ms, at most.
FRAME = 50.0
# The page without a recording, bytes, at most.
LARGEST = 3_000_000
# Of the pixels that belong to no text, so many may differ from those of the window on a desktop: smooth edges of bars.
ALIKE = 0.003


class Attempt:
    def __init__(self, binary, folder, pictures, judges_times):
        self.binary, self.folder, self.pictures, self.judges_times = binary, folder, pictures, judges_times
        self.rows = []
        self.failed = []

    def row(self, name, said, holds=None):
        held = "" if holds is None else ("holds" if holds else "FAILED")
        self.rows.append((name, said, held))
        print("%-56s %-48s %s" % (name, said, held), file=sys.stderr, flush=True)
        if holds is False:
            self.failed.append(name)

    def timed(self, name, said, holds):
        """A row that other programs on the host can change: it fails only when results are written."""
        self.row(name, said, holds if self.judges_times else None)

    def loadscope(self, *arguments, code=0):
        asked = subprocess.run([self.binary, *map(str, arguments)], capture_output=True, encoding="utf-8", cwd=self.folder, timeout=300)
        assert asked.returncode == code, (arguments, asked.returncode, asked.stdout, asked.stderr)
        return asked.stdout + asked.stderr

    def share(self, recording, *more):
        page = self.folder / (pathlib.Path(recording).name.split(".")[0] + ".html")
        if not page.exists():
            self.loadscope("share", recording, "-o", page, *more)
        return page

    def picture(self, browser, name):
        browser.picture(self.pictures / (name + ".png"))

    # What is tried.

    def sizes(self):
        page = self.share(self.folder / "small.jsonl.zst")
        recording = (self.folder / "small.jsonl.zst").stat().st_size
        empty = page.stat().st_size - (recording * 4 + 2) // 3
        self.row("the page without a recording", "%.2f MB" % (empty / 1e6), empty <= LARGEST)
        # An existing file stays as it is.
        before = page.read_bytes()
        said = self.loadscope("share", "small.jsonl.zst", "-o", page, code=2)
        assert "exists" in said or "already" in said, said
        assert page.read_bytes() == before
        self.row("share onto a file that exists", "is refused", True)

    def opening(self):
        page = self.share(self.folder / "ten_thousand.jsonl.zst")
        with Browser(1100, 700) as browser:
            times = []
            for _ in range(3):
                began = time.monotonic()
                browser.open(page.as_uri())
                screen = browser.opened()
                times.append(time.monotonic() - began)
            took = sorted(times)[1]
            assert screen.state["batches_of_all"] == 10_000, screen.state
            self.timed("10,000 batches, from disk to the window", "%.2f s (median of 3), %.1f MB" % (took, page.stat().st_size / 1e6), took <= MOST)
            asked = browser.script("return performance.getEntriesByType('resource').map((one) => one.name)")
            asked = [name for name in asked if not name.startswith("data:")]
            self.row("what the page asks of a network", ", ".join(asked) or "nothing", not asked)
            assert browser.complaints() == [], browser.complaints()

    def large(self):
        page = self.share(self.folder / "hundred_thousand.jsonl.zst")
        with Browser(1100, 700) as browser:
            began = time.monotonic()
            browser.open(page.as_uri())
            longest, frames = 0.0, 0
            while True:
                screen = browser.read()
                if screen is None:
                    time.sleep(0.02)
                    continue
                is_open = screen.state["source"] == "recording"
                if not is_open:
                    longest, frames = max(longest, screen.longest_ms), frames + screen.frames
                else:
                    last = screen.longest_ms
                    break
                assert time.monotonic() - began < 120
                time.sleep(0.05)
            took = time.monotonic() - began
            assert screen.state["batches_of_all"] == 100_000, screen.state
            self.row("100,000 batches, from disk to the window", "%.1f s, %.1f MB" % (took, page.stat().st_size / 1e6))
            self.timed("longest frame while they are read", "%.0f ms of %d frames" % (longest, frames), longest <= FRAME)
            self.timed("longest frame in which the run appears", "%.0f ms" % last, last <= FRAME)

    def working(self):
        """Steps, selects, searches, looks at everything, simulates."""
        page = self.share(self.folder / "small.jsonl.zst")
        for dark, width, height in ((True, 1100, 700), (False, 1100, 700), (True, 1920, 1080), (False, 1920, 1080)):
            with Browser(width, height, dark) as browser:
                name = "%s %dx%d" % ("dark" if dark else "light", width, height)
                browser.open(page.as_uri())
                browser.opened()
                self.step(browser)
                self.picture(browser, "debug " + name)
                if (dark, width) == (True, 1100):
                    self.search(browser)
                browser.press("g")
                browser.shows("Throughput", 20)
                self.picture(browser, "plots " + name)
                browser.press("b")
                browser.shows("Batch", 20)
                browser.press("t")
                browser.press("2")
                browser.shows("Coverage", 60)
                time.sleep(1.0)
                self.picture(browser, "sampling " + name)
                browser.press("3")
                browser.shows("What if", 60)
                time.sleep(2.0)
                self.picture(browser, "diagnose " + name)
                browser.press("1")
                if (dark, width) == (True, 1100):
                    self.simulate(browser)
                assert browser.complaints() == [], browser.complaints()
                self.row("the workspaces, " + name, "pictures", True)

    def step(self, browser):
        browser.press("Control", "Home")
        before = browser.until(lambda screen: screen.state["step"] == 0, "the beginning", 20)
        for _ in range(40):
            browser.press("Right")
        after = browser.until(lambda screen: screen.state["step"] == before.state["step"] + 40, "40 steps", 20)
        browser.press("Left")
        browser.until(lambda screen: screen.state["step"] == after.state["step"] - 1, "a step back", 20)

    def search(self, browser):
        browser.press("/")
        time.sleep(0.3)
        browser.type("batch 3")
        browser.press("Enter")
        screen = browser.shows("Batch 3", 20)
        browser.press("Escape")
        browser.press("Escape")
        self.row("stepping, selecting, searching by keys", "batch 3 is found and shown", screen is not None)

    def simulate(self, browser):
        browser.click("Simulate")
        screen = browser.until(lambda screen: screen.state["source"] == "finished" and screen.state["batches"] > 0, "a simulation", 60)
        self.row("a simulation in the page", "%d batches" % screen.state["batches"], True)
        self.picture(browser, "simulated")

    def hostile(self):
        recording = next(self.folder.glob("hostile*.jsonl"))
        page = self.folder / "hostile.html"
        self.loadscope("share", recording, "-o", page)
        with Browser(1100, 700) as browser:
            browser.open(page.as_uri())
            screen = browser.opened()
            for key in ("2", "3", "1", "b", "g", "t"):
                browser.press(key)
                time.sleep(0.3)
            browser.press("Control", "m")
            time.sleep(0.3)
            self.picture(browser, "hostile")
            hacked = browser.script("return [typeof hacked, document.scripts.length, document.images.length, document.title]")
            assert hacked[:3] == ["undefined", 1, 0], hacked
            # What it would have asked for is refused as well.
            blocked = browser.script(
                "const s = document.createElement('script'); s.textContent = 'window.hacked = 1'; document.body.append(s); return typeof hacked"
            )
            self.row("a hostile recording", "%d events, no script of it runs" % screen.state["events"], blocked == "undefined")

    def fails_well(self):
        """What is no recording is refused with a sentence."""
        page = self.share(self.folder / "small.jsonl.zst")
        with Browser(1100, 700) as browser:
            browser.open(page.as_uri())
            browser.opened()
            browser.script("wasm_bindgen.open('cat.png', new TextEncoder().encode('no recording'), false)")
            browser.shows("cat.png", 20)
            self.row("a file that is no recording", "is refused with a sentence", True)

    def report_shown(self, browser, note):
        """The report is there as text, and below it a note."""
        # Of the report its first line, with plain spaces.
        first = " ".join(self.loadscope("report", "small.jsonl.zst").splitlines()[0].split())
        until = time.monotonic() + 60
        while note not in browser.laid_out() and time.monotonic() < until:
            time.sleep(0.1)
        shown = browser.laid_out()
        assert first in shown and note in shown, (first, note, shown)
        assert "Loadscope is starting" not in shown, shown

    def without_scripts(self):
        """The page in a browser without JavaScript, such as a preview."""
        page = self.share(self.folder / "small.jsonl.zst")
        with Browser(1100, 700) as browser:
            browser.cdp("Emulation.setScriptExecutionDisabled", {"value": True})
            browser.open(page.as_uri())
            self.report_shown(browser, "The window needs JavaScript.")
            self.picture(browser, "without scripts")
            self.row("a browser without JavaScript", "the report as text, and why", True)

    def without_graphics(self):
        """The page in a browser in which nothing can be drawn."""
        page = self.share(self.folder / "small.jsonl.zst")
        with Browser(1100, 700) as browser:
            refuse = "HTMLCanvasElement.prototype.getContext = () => null;"
            browser.cdp("Page.addScriptToEvaluateOnNewDocument", {"source": refuse})
            browser.open(page.as_uri())
            self.report_shown(browser, "The window cannot be shown:")
            assert browser.script("return document.getElementById('note').className") == "error"
            self.picture(browser, "without graphics")
            self.row("a browser without WebGL", "the report as text, and why", True)

    def beside_the_desktop(self, python):
        """The same state on a desktop and in the browser."""
        absent = desktop.missing()
        if absent:
            self.row("beside the window on a desktop", "NOT RUN: there is no %s" % absent)
            return
        recording = self.folder / "small.jsonl.zst"
        page = self.share(recording)
        command = [self.binary, "open", str(recording), "--reduce-motion"]
        keys = (("debug", "1"), ("sampling", "2"), ("diagnose", "3"))
        with desktop.Desktop(command, self.folder) as window, Browser(desktop.WIDTH, desktop.HEIGHT) as browser:
            window.picture(self.pictures / "desktop.png")
            window.focus()
            browser.still()
            browser.open(page.as_uri())
            browser.opened()
            for name, key in keys:
                window.press(key)
                browser.press(key)
                time.sleep(2.0)
                self.compared(python, name, window, browser)

    def compared(self, python, name, window, browser):
        shots = [self.pictures / ("%s %s.png" % (where, name)) for where in ("desktop", "browser", "difference")]
        window.picture(shots[0])
        browser.picture(shots[1])
        boxes = self.folder / "boxes.json"
        boxes.write_text(json.dumps(browser.read().boxes))
        asked = [python, desktop.__file__, shots[0], shots[1], boxes, shots[2]]
        told = json.loads(subprocess.run(list(map(str, asked)), capture_output=True, check=True, timeout=120).stdout)
        share = told["differ"] / told["outside"]
        said = "%.3f %% of %.0f %% of the picture" % (1e2 * share, 1e2 * told["outside"] / told["all"])
        self.row("%s: pixels outside of texts that differ from the desktop" % name, said, share <= ALIKE)

    def lessons(self):
        """The first lesson is opened and its first steps are done by keys."""
        page = self.share(self.folder / "small.jsonl.zst")
        with Browser(1100, 700) as browser:
            browser.open(page.as_uri())
            browser.opened()
            browser.press("Control", "l")
            browser.shows("From index to batch", 20)
            self.picture(browser, "lessons")
            browser.click("From index to batch")
            browser.shows("A DataLoader decides which samples come next", 60)
            self.picture(browser, "lesson 1")
            browser.press("Enter")
            browser.shows("The batch sampler groups", 20)
            browser.press("Enter")
            browser.shows("This is called fetching", 20)
            browser.press("Enter")
            browser.shows("The indices are grouped", 60)
            for stage in ("The indices are grouped", "reads each sample", "combines the samples", "uses the batch", "step is over"):
                browser.click(stage)
            browser.press("Enter")
            browser.shows("these four steps make every batch", 60)
            browser.press("Enter")
            # The field is there once the run of the question is simulated.
            asks = lambda screen: screen.has("How many samples does the last batch have?") and not screen.has("Simulating the run")
            browser.until(asks, "the question is not asked", 60)
            browser.type("2")
            browser.press("Enter")
            browser.shows("Three full batches take 18 samples", 60)
            self.picture(browser, "answered")
            assert browser.complaints() == [], browser.complaints()
            self.row("a lesson by keys and clicks, with answers that are checked", "five steps", True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--python", help="an interpreter with PyTorch, for live runs")
    parser.add_argument("--pictures", type=pathlib.Path)
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--only", action="append", default=[])
    arguments = parser.parse_args()
    absent = missing()
    if absent:
        print("NOT RUN: there is no %s" % absent, file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        pictures = arguments.pictures or pathlib.Path(temporary)
        pictures.mkdir(parents=True, exist_ok=True)
        attempt = Attempt(os.path.abspath(arguments.binary), arguments.folder.resolve(), pictures, arguments.results is not None)
        parts = ["sizes", "opening", "large", "working", "lessons", "hostile", "fails_well", "without_scripts", "without_graphics"]
        for part in parts:
            if not arguments.only or part in arguments.only:
                getattr(attempt, part)()
        for part, function in {"served": view.served, "together": view.together, "growing": view.growing}.items():
            if not arguments.only or part in arguments.only:
                function(attempt)
        parts = {"beside_the_desktop": Attempt.beside_the_desktop, "live": live.live, "ignored": live.ignored}
        for part, function in parts.items() if arguments.python else ():
            if not arguments.only or part in arguments.only:
                function(attempt, arguments.python)
    if arguments.results:
        arguments.results.write_text(table(attempt.rows), encoding="utf-8")
    return 1 if attempt.failed else 0


def table(rows):
    lines = ["| what | measured | |", "|---|---|---|"]
    lines += ["| %s | %s | %s |" % row for row in rows]
    return HEAD + "\n".join(lines) + "\n"


HEAD = """# The window in a browser

Written by `cargo xtask web --try`: pages of `loadscope share`, `view`, `record --web` and `watch --web` in a headless Chromium without a
GPU. Times are from opening the page until the window shows the run.

"""

if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
