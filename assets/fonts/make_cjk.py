"""Subsets a CJK font to the characters that the program's texts use. `cargo xtask fix` calls it.

    python make_cjk.py NotoSansCJK-Regular.ttc CHARACTERS.txt

The font (OFL) is in Debian's package fonts-noto-cjk. CHARACTERS.txt contains the characters. Needs fonttools. Writes
NotoSansSC-subset.otf next to this script. Exits with 1 if the font lacks a character or the file is larger than 700 kB.
"""

import pathlib
import sys

from fontTools import subset
from fontTools.ttLib import TTCollection

HERE = pathlib.Path(__file__).resolve().parent
FAMILY = "Noto Sans CJK SC"
LARGEST = 700_000
# Punctuation that a later text may need.
ALWAYS = "，。！？：；、（）《》“”‘’…—·％"
# Smaller code points are in the other fonts of the program.
FIRST = 0x2000


def characters(text):
    return sorted(c for c in {*ALWAYS, *text} if ord(c) >= FIRST)


def font_of(path):
    if path.suffix != ".ttc":
        raise SystemExit("%s is not a font collection: give NotoSansCJK-Regular.ttc" % path)
    for font in TTCollection(path).fonts:
        if font["name"].getDebugName(1) == FAMILY:
            return font
    raise SystemExit("%s does not contain %s" % (path, FAMILY))


def main():
    source = pathlib.Path(sys.argv[1])
    wanted = characters(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))
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
