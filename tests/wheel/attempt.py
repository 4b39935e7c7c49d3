"""Tries the wheel as a user would: in a new virtual environment it is installed, records a real PyTorch program, reports, is read, opens its
window under Xvfb, and runs in a notebook. Written by `cargo xtask wheel --try`, which calls this.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "web"))

import browser

# Seconds from `pip install` to the first verdict, at most; PyTorch is there already.
MOST = 60.0
# Seconds that any one step may take.
DEADLINE = 300

PROGRAM = """
import time
import torch
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        time.sleep(0.01)
        return torch.full((3,), float(index)), index % 2

model = torch.nn.Linear(3, 1)
total = batches = 0
for epoch in range(2):
    for x, y in DataLoader(Slow(), batch_size=8, num_workers=1):
        total += float(model(x).shape[0] + y.sum())
        batches += 1
print(batches, total)
"""

READ = """
import sys
import loadscope
tables = loadscope.read(sys.argv[1])
report = loadscope.report(sys.argv[1])
print(tables.batches.rows, tables.samples.rows, tables.loaders.rows, report["summary"]["batches"])
"""

INSIDE = """
import loadscope
with loadscope.record("inside.jsonl.zst") as run:
    exec(open("train.py").read())
print(run.batches, run.problem)
print(run.verdict)
"""

CELLS = (
    "%load_ext loadscope\nsource = open('train.py').read()",
    "%%loadscope trained\nexec(source)",
    "print(trained.batches, trained.problem)\nprint(trained.verdict)",
    "trained",
    "import loadscope\nloadscope.show(trained.path)",
)

NOTEBOOK = """
import sys
import nbformat
from nbclient import NotebookClient
book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in %r])
NotebookClient(book, timeout=240, kernel_name="python3").execute()
shown = [output for cell in book.cells for output in cell.outputs]
texts = [str(output.get("text", "")) for output in shown]
pages = [output["data"]["text/markdown"] for output in shown if "text/markdown" in output.get("data", {})]
assert any(text.startswith("16 None") for text in texts), shown
frames = [output["data"]["text/html"] for output in shown if "text/html" in output.get("data", {})]
assert len(frames) == 2 and all(frame.startswith("<div><iframe sandbox=") for frame in frames), shown
assert len(frames[0]) < 200_000 and "loadscopeUnpack" not in frames[0], len(frames[0])
assert "loadscopeUnpack" in frames[1], shown
assert len(pages) == 2 and all("trainer waited" in page for page in pages), shown
print(pages[0].splitlines()[0])
"""

LIVE_CELLS = (
    "%load_ext loadscope\nsource = open('train.py').read().replace('range(2)', 'range(30)')",
    "%%loadscope --live trained\nexec(source)",
    "print(trained.batches, trained.problem)",
)

# What a cell displays is printed as it comes, in one line.
LIVE = """
import json
import threading
import nbformat
from nbclient import NotebookClient
book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in %r])
def html():
    shown = [output["data"]["text/html"] for output in book.cells[1].outputs if "text/html" in output.get("data", {})]
    return json.dumps(shown[0]) if shown else ""
def tell():
    while not html():
        time.sleep(0.05)
    print(html(), flush=True)
import time
threading.Thread(target=tell, daemon=True).start()
NotebookClient(book, timeout=240, kernel_name="python3").execute()
print(html(), flush=True)
print(book.cells[2].outputs[0]["text"], flush=True)
"""

# Of the page that a notebook is.
HEAD = '<!DOCTYPE html><meta charset="utf-8">'


class Attempt:
    def __init__(self, wheel, base, folder):
        self.wheel, self.base, self.folder = wheel, base, folder
        self.environment = folder / "environment"
        self.python = self.environment / "bin" / "python"
        self.rows = []
        # Nothing of this repository, of Rust, or of another Python.
        kept = ("HOME", "LANG", "TMPDIR", "PIP_INDEX_URL", "PIP_CONFIG_FILE", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy")  # fmt: skip
        self.variables = {name: os.environ[name] for name in kept if name in os.environ}
        self.variables["PATH"] = "%s:/usr/bin:/bin" % (self.environment / "bin")

    def run(self, *command, code=0, **more):
        asked = subprocess.run(
            [str(part) for part in command], cwd=self.folder, env={**self.variables, **more}, capture_output=True, encoding="utf-8",
            timeout=DEADLINE, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert asked.returncode == code, (command, asked.returncode, asked.stdout, asked.stderr)
        return asked.stdout

    def step(self, name, function):
        """Does something, and notes how long it took and what came of it."""
        began = time.monotonic()
        said = function()
        took = time.monotonic() - began
        self.rows.append((name, took, said))
        print("%-44s %7.2f s  %s" % (name, took, said), file=sys.stderr, flush=True)
        return took

    def prepare(self):
        """A virtual environment with nothing but PyTorch, which is read where it is."""
        if self.environment.exists():
            shutil.rmtree(self.environment)
        self.run(self.base, "-m", "venv", self.environment)
        ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
        theirs = self.run(self.base, "-c", ask).strip()
        ours = pathlib.Path(self.run(self.python, "-c", ask).strip())
        (ours / "pytorch.pth").write_text("import site; site.addsitedir(%r)\n" % theirs, encoding="utf-8")
        (self.folder / "train.py").write_text(PROGRAM, encoding="utf-8")
        # What is compiled at its first import is no time of ours.
        self.versions = self.run(self.python, "-c", "import sys, torch; print(torch.__version__, '%d.%d.%d' % sys.version_info[:3])").split()

    def go(self):
        self.prepare()
        first = self.step("pip install", self.install)
        first += self.step("loadscope record -- python train.py", self.record)
        first += self.step("loadscope report", self.report)
        self.is_in_time = first <= MOST
        held = "holds" if self.is_in_time else "FAILED"
        self.rows.append(("from pip install to the first verdict", first, "at most %d s: %s" % (MOST, held)))
        self.step("loadscope.read, report", lambda: self.run(self.python, "-c", READ, "run.jsonl.zst").strip())
        self.step("with loadscope.record()", self.inside)
        self.step("loadscope attach PID", self.attach)
        self.step("the window, under Xvfb", self.window)
        self.step("pip install nbclient ipykernel", self.notebook_tools)
        self.step("a notebook: %load_ext, %%loadscope", lambda: self.run(self.python, "-c", NOTEBOOK % (CELLS,)).strip())
        self.step("a notebook, live while the cell runs", self.live_notebook)
        self.step("pip uninstall", self.uninstall)

    def install(self):
        self.run(self.python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", self.wheel)
        return self.run("loadscope", "--version").strip()

    def record(self):
        alone = self.run(self.python, "train.py")
        recorded = self.run("loadscope", "record", "-o", "run.jsonl.zst", "--force", "--", "python", "train.py")
        assert alone == recorded, (alone, recorded)
        return recorded.strip()

    def report(self):
        report = json.loads(self.run("loadscope", "report", "run.jsonl.zst", "--json"))
        assert report["summary"]["batches"] == 16, report["summary"]
        return report["verdict"]["text"].split(". ")[0]

    def inside(self):
        for old in self.folder.glob("inside*"):
            old.unlink()
        lines = self.run(self.python, "-c", INSIDE).splitlines()
        assert lines[1] == "16 None", lines
        return lines[2].split(". ")[0]

    def attach(self):
        self.run("loadscope", "install")
        program = "import time; source = open('train.py').read(); import torch; print('ready', flush=True); input(); exec(source)"
        running = subprocess.Popen(
            [self.python, "-c", program], cwd=self.folder, env=self.variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        try:
            assert running.stdout.readline() == "ready\n"
            attached = subprocess.Popen(
                [str(self.environment / "bin/loadscope"), "attach", str(running.pid), "-o", "attached.jsonl.zst", "--force"],
                cwd=self.folder, env=self.variables, stderr=subprocess.PIPE, encoding="utf-8",
            )  # fmt: skip
            attached.stderr.readline()
            running.communicate("\n", timeout=DEADLINE)
            said = attached.communicate(timeout=DEADLINE)[1].splitlines()[-1]
        finally:
            running.kill()
        assert "16 batches in" in said, said
        self.run("loadscope", "uninstall")
        return re.sub(r" in .*", "", said.replace("loadscope: ", ""))

    def window(self):
        if shutil.which("Xvfb") is None:
            return "not tried: Xvfb is not installed"
        with tempfile.TemporaryDirectory() as frame:
            command = ["Xvfb", "-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-fbdir", frame]
            display = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8")
            opened = None
            try:
                number = ":" + display.stdout.readline().strip()
                blank = colors(frame)
                # Software draws where there is no graphics card.
                variables = {**self.variables, "DISPLAY": number, "LIBGL_ALWAYS_SOFTWARE": "1"}
                code = "import loadscope, sys\nwindow = loadscope.show('run.jsonl.zst')\nprint(window.pid, flush=True)\nsys.exit(window.wait())"
                opened = subprocess.Popen([self.python, "-c", code], cwd=self.folder, env=variables, stdout=subprocess.PIPE, encoding="utf-8")
                began, drawn = time.monotonic(), 0
                while drawn < 200:
                    assert opened.poll() is None, "the window ended with code %s" % opened.returncode
                    assert time.monotonic() - began < 120, "nothing was drawn; %d colours, %d before" % (drawn, blank)
                    time.sleep(0.2)
                    drawn = colors(frame)
                return "%d colours on the screen, %d before" % (drawn, blank)
            finally:
                for process in (opened, display):
                    if process is not None:
                        process.terminate()
                        process.wait(timeout=30)

    def notebook_tools(self):
        self.run(self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "nbclient", "ipykernel", "numpy")
        return ""

    def live_notebook(self):
        """What a cell shows while it runs, and what stands there afterwards, in a browser."""
        absent = browser.missing()
        if absent:
            return "not tried: there is no %s" % absent
        running = subprocess.Popen(
            [self.python, "-c", LIVE % (LIVE_CELLS,)], cwd=self.folder, env=self.variables, stdout=subprocess.PIPE, encoding="utf-8"
        )
        try:
            live = json.loads(running.stdout.readline())
            assert 'src="http://localhost:' in live, live
            (self.folder / "live.html").write_text(HEAD + live, encoding="utf-8")
            with browser.Browser(1100, 800) as window:
                window.open((self.folder / "live.html").as_uri())
                window.call("POST", "/frame", {"id": 0})
                early = window.until(lambda screen: screen.state["source"] == "live" and screen.state["batches_of_all"] > 5, "it is live")
                assert running.poll() is None, "the cell had ended"
                late = window.until(lambda screen: screen.state["source"] == "finished", "the end")
            after = json.loads(running.stdout.readline())
            said = running.stdout.readline().strip()
            running.wait(timeout=DEADLINE)
        finally:
            running.kill()
        assert said == "240 None", said
        assert late.state["batches_of_all"] == 240, late.state
        assert "srcdoc" in after and "src=" not in after.replace("srcdoc=", ""), after[:300]
        (self.folder / "after.html").write_text(HEAD + after, encoding="utf-8")
        with browser.Browser(1100, 800) as window:
            window.open((self.folder / "after.html").as_uri())
            window.call("POST", "/frame", {"id": 0})
            kept = window.opened().state["batches_of_all"]
        assert kept == 240, kept
        return "%d batches while it ran, %d at its end, %d in the notebook that is kept" % (early.state["batches_of_all"], late.state["batches_of_all"], kept)

    def uninstall(self):
        # The file of `loadscope install` goes with the package.
        self.run("loadscope", "install")
        self.run(self.python, "-m", "pip", "uninstall", "--quiet", "--yes", "loadscope")
        left = [path.name for path in self.environment.rglob("*loadscope*")]
        assert not left, left
        return "nothing is left"


def colors(folder):
    """How many colors are on the screen of Xvfb, whose memory is a file: 4 bytes a pixel behind a header."""
    data = (pathlib.Path(folder) / "Xvfb_screen0").read_bytes()[-1280 * 800 * 4 :]
    return len({data[at : at + 3] for at in range(0, len(data), 4)})


def table(wheel, attempts):
    size = os.path.getsize(wheel) / 1e6
    lines = [
        "# The wheel, tried",
        "",
        "Written by `tests/wheel/attempt.py`, which `cargo xtask wheel --try` calls: in a new virtual environment without Rust, where PyTorch is there already, each step as a user does it.",
        "%s: %.1f MB." % (os.path.basename(wheel), size),
    ]
    for attempt in attempts:
        lines += ["", "## PyTorch %s, Python %s" % tuple(attempt.versions), "", "| step | took | what came of it |", "|---|--:|---|"]
        lines += ["| %s | %.1f s | %s |" % (name, took, said.replace("|", "\\|")) for name, took, said in attempt.rows]
    return "\n".join(lines) + "\n"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("wheel", type=os.path.abspath)
    options.add_argument("--python", action="append", required=True)
    options.add_argument("--environments", type=pathlib.Path, required=True)
    options.add_argument("--results", type=pathlib.Path)
    options = options.parse_args()
    attempts = []
    for number, python in enumerate(options.python):
        folder = options.environments.absolute() / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        attempts.append(Attempt(options.wheel, python, folder))
        attempts[-1].go()
    text = table(options.wheel, attempts)
    if options.results is not None:
        options.results.write_text(text, encoding="utf-8")
    print(text)
    late = sum(not attempt.is_in_time for attempt in attempts)
    print("%d passed, %d failed" % (sum(len(attempt.rows) for attempt in attempts) - late, late))
    sys.exit(1 if late else 0)


if __name__ == "__main__":
    main()
