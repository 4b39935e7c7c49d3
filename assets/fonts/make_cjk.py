"""Cuts a CJK font down to the characters that the program's texts use.

    python make_cjk.py FONT.ttc [FILE…]

FONT is NotoSansCJK-Regular.ttc (OFL; on Debian and Ubuntu in the package fonts-noto-cjk). The characters are those of all texts in
assets/lessons, app/lessons and app/ui/src/panels/learn, of the catalogs (the words folder of each crate), and of the FILEs. Needs the package fonttools. Writes NotoSansSC-subset.otf
beside this script, and ends with 1 if a character is missing in the font or the file is larger than 700 kB.
"""

import pathlib
import sys

from fontTools import subset
from fontTools.ttLib import TTCollection

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FOLDERS = [HERE.parent / "lessons", ROOT / "app/lessons/src", ROOT / "app/ui/src/panels/learn"]
FOLDERS += sorted(path for side in ("app", "loader") for path in (ROOT / side).glob("*/words") if path.parts[-2:] != ("loader", "words"))
# Names of files: what a person reads. Recordings hold no text of ours.
ENDINGS = {".toml", ".py", ".out", ".md", ".rs"}
FAMILY = "Noto Sans CJK SC"
LARGEST = 700_000
# Signs of Chinese texts that a later text may need.
ALWAYS = "，。！？：；、（）《》“”‘’…—·％"
# What the other fonts of the program have.
FIRST = 0x2000


def characters(files):
    found = set(ALWAYS)
    for path in files:
        found.update(path.read_text(encoding="utf-8"))
    return sorted(c for c in found if ord(c) >= FIRST)


def font_of(path):
    if path.suffix != ".ttc":
        raise SystemExit("%s is no collection: give NotoSansCJK-Regular.ttc" % path)
    for font in TTCollection(path).fonts:
        if font["name"].getDebugName(1) == FAMILY:
            return font
    raise SystemExit("%s holds no %s" % (path, FAMILY))


def main():
    source = pathlib.Path(sys.argv[1])
    own = [path for folder in FOLDERS for path in sorted(folder.rglob("*")) if path.suffix in ENDINGS]
    wanted = characters(own + [pathlib.Path(name) for name in sys.argv[2:]])
    font = font_of(source)
    known = font.getBestCmap()
    missing = [c for c in wanted if ord(c) not in known]
    options = subset.Options(layout_features=[], hinting=False, name_IDs=[0, 1, 2, 3, 4, 5, 6, 13, 14], notdef_outline=True, desubroutinize=True)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[ord(c) for c in wanted if ord(c) in known])
    subsetter.subset(font)
    out = HERE / "NotoSansSC-subset.otf"
    font.save(out)
    size = out.stat().st_size
    print("%d characters, %d bytes" % (len(wanted), size))
    if missing:
        raise SystemExit("The font lacks %s" % " ".join("%s (U+%04X)" % (c, ord(c)) for c in missing))
    if size > LARGEST:
        raise SystemExit("%d bytes are more than %d" % (size, LARGEST))


if __name__ == "__main__":
    main()
