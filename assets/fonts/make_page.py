"""Cuts the fonts of the window down to Latin, Greek, signs and arrows, for the page in a browser, which draws every other character itself.

    python make_page.py

Needs the package fonttools. Writes into page/ beside this script.
"""

import pathlib

from fontTools import subset

HERE = pathlib.Path(__file__).resolve().parent
FONTS = ("Inter-Regular.otf", "Inter-SemiBold.otf", "JetBrainsMono-Regular.ttf")
RANGES = (
    "U+0020-017F,U+0370-03FF,U+2000-206F,U+2070-209F,U+20AC,U+2100-214F,U+2190-21FF,U+2200-22FF,U+25A0-25FF,U+2713,U+2717,U+FFFD"
)
FEATURES = "kern,liga,calt,tnum,case,ccmp,locl,mark,mkmk,zero,ss01"

(HERE / "page").mkdir(exist_ok=True)
for name in FONTS:
    out = HERE / "page" / name
    subset.main([str(HERE / name), "--unicodes=" + RANGES, "--layout-features=" + FEATURES, "--output-file=%s" % out])
    print("%s: %d bytes" % (name, out.stat().st_size))
