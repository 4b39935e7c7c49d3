"""Makes data in every format with the packages that people use, and writes beside it what these packages read.

    python make_data.py FOLDER

FOLDER/cases.json lists the cases: what to open, and the file with one expected sample a line. What could not be made because a package
is missing is listed, too. Samples are written so that no bit is lost:

    None               null                     bytes              {"b": hex}
    bool               true                     list               [...]
    int                {"i": "123"}             dict               {"m": [[key, value], ...]}
    float              {"f": hex of its bits}   array              {"a": [dtype, shape, hex]}
    str                {"t": "..."}             number of a dtype  {"s": [dtype, hex]}
    a picture's file   {"p": hex}
"""

import importlib
import json
import sys
import traceback
from pathlib import Path

from common import Maker

PARTS = ["arrays", "tables", "columns", "saved", "sounds", "texts", "public"]
# Files as other tools write them.
PARTS += ["foreign_tables", "foreign_json", "foreign_coco", "foreign_voc", "foreign_parquet", "foreign_sounds", "foreign_tar"]


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    maker = Maker(out)
    for part in PARTS:
        try:
            module = importlib.import_module(part)
        except ModuleNotFoundError as missing:
            maker.missing(part, missing.name)
            continue
        for name in dir(module):
            if name.startswith("make_"):
                try:
                    getattr(module, name)(maker)
                except ModuleNotFoundError as missing:
                    maker.missing(f"{part}.{name.removeprefix('make_')}", missing.name)
                except Exception:
                    print(f"{part}.{name} failed", file=sys.stderr)
                    traceback.print_exc()
                    sys.exit(1)
    (out / "cases.json").write_text(json.dumps(maker.summary()))


if __name__ == "__main__":
    main()
