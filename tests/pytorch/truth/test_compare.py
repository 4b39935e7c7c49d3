"""Checks the page, the summary and the arguments of `compare.py` with invented outcomes. Needs no PyTorch."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile

import compare
import settings


def tried(setting, *times):
    return {"setting": settings.setting(setting), "turns": [{"seconds": time, "others": 0.1} for time in times]}


def forecast(seconds, low, high):
    return {"seconds": seconds, "low": low, "high": high}


def evaluation(recommended, *outcomes):
    answer = {"recommended": settings.setting(recommended), "recorded": {"seconds": 2.1, "forecast_seconds": 2.05}}
    return compare.Evaluation("jpeg", {"tried": [one for one, _ in outcomes]}, answer, [forecast for _, forecast in outcomes])


EXAMPLE = [
    (tried("0", 3.0, 2.8, 3.1), forecast(3.3, 2.9, 3.4)),
    (tried("2", 0.7), forecast(0.5, 0.4, 0.6)),
    (tried("4/~", 0.6), "the samples come from a stream"),
]

page = compare.page({"torch": "", "cores": 2, "processor": ""}, [evaluation("2", *EXAMPLE)])
for line in (
    "| num_workers=0 | 3.30 s | 2.90 s | 3.40 s | 3.00 s (2.80 s – 3.10 s) | +10.0 % | yes |",
    "| num_workers=2 | 500 ms | 400 ms | 600 ms | 700 ms (700 ms – 700 ms) | -28.6 % | **no** |",
    "| num_workers=4, in_order=False | none | – | – | 600 ms (600 ms – 600 ms) | – | **no** |",
    "No forecast: the samples come from a stream",
    "Recommended: num_workers=2. The best: num_workers=2. Regret: 0.0 %.",
    "| Decoding JPEGs | 3 | 19.3 % | 28.6 % | 33.3 % | num_workers=2 | num_workers=2 | 0.0 % |",
    "the recorded run took 2.10 s, for which 2.05 s are forecast (-2.4 %)",
    "Over 3 outcomes the median error is 19.3 %",
    "1 had no forecast",
    "0 of 1 recommended settings made the program more than 3.0 % slower.",
):
    assert line in page, line + "\n" + page
assert "0: +10.0 %  2: -28.6 %!  4~: refused" in evaluation("2", *EXAMPLE).line()
other = evaluation("5", *EXAMPLE).section()
assert "num_workers=5, which was not tried; of those that were, num_workers=2" in other, other

# Another order is excluded. The fewest workers within 2 % of the shortest forecast replace a recommendation that was not measured.
good = [(tried("0", 1.0), forecast(3, 3, 3)), (tried("2", 1.2), forecast(1.01, 1, 1.1)), (tried("4", 1.1), forecast(1, 1, 1.1)),
        (tried("4/~", 0.5), forecast(1, 1, 1.1))]
for recommended, chosen, regret in (("4", "4", 0.1), ("5", "2", 0.2)):
    one = evaluation(recommended, *good)
    assert one.chosen.setting == settings.setting(chosen) and abs(one.regret - regret) < 1e-9 and one.best.setting["num_workers"] == 0

# The program was recorded with 2 workers, in 1.2 s. The best setting saves 0.2 s, and 4 workers save 0.1 s.
assert "slower. They save 50.0 % of the time that the best settings save." in compare.Head([evaluation("4", *good)]).sentence()
worse = [(tried("2", 1.0), forecast(2, 2, 2)), (tried("4", 1.5), forecast(1, 1, 1)), (tried("0", 0.5), forecast(3, 3, 3))]
text = compare.Head([evaluation("4", *worse), evaluation("2", *worse)]).sentence()
assert "1 of 2 recommended settings made the program more than 3.0 % slower: jpeg by 50.0 %. They save -50.0 % of" in text, text

assert settings.arguments(settings.setting("4/1")) == ["num_workers=4", "prefetch_factor=1", "in_order=true", "persistent_workers=false"]
assert settings.arguments(settings.setting("0")) == ["num_workers=0"]
assert settings.in_python(settings.setting("2/p")) == "num_workers=2, persistent_workers=True"
assert compare.last_json('loss 2\n{"seconds": 1.5}\nrecorded 12 batches\n') == {"seconds": 1.5}
# The published FNV-1a value of this text.
assert compare.checksum(b"foobar") == 0x85944171F73967E8
for name in settings.WORKLOADS:
    assert (compare.HERE / "workloads" / (name + ".py")).is_file() and len(settings.settings_of(name)) >= 7, name


def run_main(*arguments):
    """Returns the exit code and the messages of the script."""
    sys.argv = ["compare.py", "--loadscope", "loadscope", *map(str, arguments)]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as messages:
        return compare.main(), messages.getvalue()


def refuse(lab, name):
    raise compare.Failed("no PyTorch")


# If all workloads fail, nothing is written.
compare.Lab.measure = refuse
with tempfile.TemporaryDirectory() as folder:
    written = pathlib.Path(folder, "page.md")
    code, messages = run_main("--only", "jpeg,disk", "--page", written)
    assert code == 1 and "disk: no PyTorch" in messages and "no workload was measured" in messages, messages
    assert not written.exists()

# A forecast that fails or is refused leaves out its workload only.
ANSWER = {"recommended": settings.setting("0"), "recorded": {"seconds": 2.1, "forecast_seconds": 2.05},
          "configurations": [{"num_workers": 0, **forecast(3, 2, 4)}]}


def answer_for_jpeg(loadscope, recording, grid=()):
    if recording.name == "jpeg.jsonl.zst":
        return ANSWER
    raise compare.Failed("no answer") if "disk" in recording.name else compare.Refused("no batches")


compare.what_if = answer_for_jpeg
with tempfile.TemporaryDirectory() as folder:
    names = ["jpeg", "disk", next(name for name in settings.WORKLOADS if name not in ("jpeg", "disk"))]
    kept = {"host": {"torch": "", "cores": 2, "processor": ""}, "works": {name: {"tried": [tried("0", 3.0)]} for name in names}}
    pathlib.Path(folder, "measurements.json").write_text(json.dumps(kept), encoding="utf-8")
    written = pathlib.Path(folder, "page.md")
    code, messages = run_main("--from", folder, "--page", written)
    assert code == 1 and "disk: no answer" in messages and names[2] + ": no batches" in messages, messages
    text = written.read_text(encoding="utf-8")
    assert "`jpeg`, recorded with" in text and "`disk`, recorded with" not in text, text
