"""The window on a desktop: under Xvfb, with keys pressed, and its picture beside that of the page.

As a script, under a Python with numpy and Pillow: `desktop.py DESKTOP.png PAGE.png BOXES.json DIFFERENCE.png`."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

# The size of a window that has not been changed yet, pixels.
WIDTH, HEIGHT = 1440, 900
# Seconds that anything may take.
DEADLINE = 120
NEEDED = ("Xvfb", "xdotool", "import")


def missing():
    """What is not there, or nothing."""
    return " and ".join(name for name in NEEDED if shutil.which(name) is None)


class Desktop:
    """A window that shows a recording, on a screen that has its size."""

    def __init__(self, command, folder):
        self.folder = folder
        screen = "%dx%dx24" % (WIDTH, HEIGHT)
        self.display = subprocess.Popen(
            ["Xvfb", "-displayfd", "1", "-screen", "0", screen, "-nolisten", "tcp"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
        )
        number = ":" + self.display.stdout.readline().strip()
        # Nothing that was remembered, and software that draws.
        homes = {name: str(folder / name) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")}
        self.variables = {**os.environ, **homes, "DISPLAY": number, "LIBGL_ALWAYS_SOFTWARE": "1", "LANG": "C.UTF-8"}
        self.window = subprocess.Popen(command, env=self.variables, cwd=folder, stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (self.window, self.display):
            process.terminate()
            process.wait(timeout=30)

    def do(self, *words):
        subprocess.run(["xdotool", *map(str, words)], env=self.variables, check=True, stdout=subprocess.DEVNULL, timeout=DEADLINE)

    def focus(self):
        """Without a window manager nothing else gives it the keyboard."""
        self.do("search", "--onlyvisible", "--name", "oadscope", "windowfocus", "--sync")

    def press(self, key):
        self.do("key", key)

    def picture(self, path):
        """Waits until nothing moves any more."""
        began, last = time.monotonic(), b""
        with tempfile.TemporaryDirectory() as temporary:
            while time.monotonic() - began < DEADLINE:
                assert self.window.poll() is None, "the window ended with code %s" % self.window.returncode
                shot = os.path.join(temporary, "shot.rgb")
                subprocess.run(["import", "-window", "root", "-depth", "8", "rgb:" + shot], env=self.variables, check=True, timeout=DEADLINE)
                with open(shot, "rb") as file:
                    now = file.read()
                # An empty screen is one color.
                if now == last and len(set(now[at : at + 3] for at in range(0, len(now), 3))) > 50:
                    subprocess.run(["import", "-window", "root", str(path)], env=self.variables, check=True, timeout=DEADLINE)
                    return
                last = now
                time.sleep(1.0)
        raise AssertionError("the window does not come to rest")


# The bar at the top has a button on a desktop that a page has not: Run.
BAR = 32
# A channel that differs by no more than this, of 255, is rounding of a smooth edge.
ROUNDING = 48
# Smooth edges of letters reach so many pixels beyond their boxes.
EDGE = 2


def difference(desktop, page, boxes):
    """Which pixels differ, outside of all texts and of the bar at the top."""
    import numpy
    from PIL import Image

    first, second = (numpy.asarray(Image.open(path).convert("RGB")).astype(int) for path in (desktop, page))
    assert first.shape == second.shape, (first.shape, second.shape)
    differs = numpy.abs(first - second).max(axis=2) > ROUNDING
    outside = numpy.ones(differs.shape, dtype=bool)
    outside[:BAR] = False
    for left, top, right, bottom in boxes:
        outside[max(int(top) - EDGE, 0) : int(bottom) + 1 + EDGE, max(int(left) - EDGE, 0) : int(right) + 1 + EDGE] = False
    return differs & outside, outside


def main(desktop, page, boxes, picture):
    import numpy
    from PIL import Image

    with open(boxes) as file:
        found, outside = difference(desktop, page, json.load(file))
    shown = numpy.where(found, 255, numpy.where(outside, 0, 64)).astype(numpy.uint8)
    Image.fromarray(shown).save(picture)
    print(json.dumps({"differ": int(found.sum()), "outside": int(outside.sum()), "all": int(found.size)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
