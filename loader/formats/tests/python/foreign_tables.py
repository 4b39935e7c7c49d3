"""Tables that are compressed, in UTF-16, or separated by other characters."""

import bz2
import gzip
import io
import json
import lzma
import random
import warnings
import zipfile

import pandas as pd

from tables import rows_of

ENCODINGS = {"utf16": "utf-16", "utf16le": "utf-16-le", "utf16be": "utf-16-be", "mark": "utf-8-sig", "utf8": "utf-8"}


def zstd(data):
    import pyarrow as pa

    return pa.compress(data, codec="zstd", asbytes=True)


def zipped(data):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.csv", data)
    return buffer.getvalue()


PACKINGS = {
    "": lambda data: data, ".gz": gzip.compress, ".zst": zstd, ".xz": lzma.compress, ".bz2": bz2.compress, ".zip": zipped,
    ".two.gz": lambda data: gzip.compress(data[:7]) + gzip.compress(data[7:]),
    ".two.zst": lambda data: zstd(data[:7]) + zstd(data[7:]), ".two.xz": lambda data: lzma.compress(data[:7]) + lzma.compress(data[7:]),
}
REFUSED = {".bz2": "compressed with bzip2", ".zip": "a ZIP archive or an Excel workbook"}


def table(rng, rows):
    return pd.DataFrame({
        "id": range(rows), "x": [rng.choice([None, rng.random() * 1e3]) for _ in range(rows)],
        "text": [rng.choice(["a", "ä€😀", "b, c", 'say "hi"', None, "two\nlines"]) for _ in range(rows)],
    })


def read(text, sep=","):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rows_of(pd.read_csv(io.StringIO(text, newline=""), low_memory=False, sep=sep))


def make_packed_tables(maker):
    rng = random.Random(21)
    for packing, pack in PACKINGS.items():
        for encoding, codec in ENCODINGS.items():
            text = table(rng, rng.randrange(1, 40)).to_csv(index=False, lineterminator=rng.choice(["\n", "\r\n"]))
            path = maker.path(f"packed/{encoding}.csv{packing}")
            path.write_bytes(pack(text.encode(codec)))
            maker.foreign("csv, compressed or UTF-16", "csv", f"packed-{encoding}{packing}", path, lambda: read(text), says=REFUSED.get(packing))


def make_separated_tables(maker):
    rng = random.Random(22)
    for name, sep in {"semicolon": ";", "tab": "\t", "pipe": "|", "space": " "}.items():
        for decimal in (".", ","):
            for packing in ("", ".gz"):
                text = table(rng, 12).to_csv(index=False, sep=sep, decimal=decimal)
                path = maker.path(f"separated/{name}{decimal}.csv{packing}")
                path.write_bytes(PACKINGS[packing](text.encode()))
                maker.foreign("csv, separators", "csv", f"{name}{decimal}{packing}", path, lambda: read(text, sep), separator=sep)
    for n, text in enumerate(["a;b\n1,5;2,5\n", "a;b\n1,5;2,5\n3;4\n"]):
        path = maker.path(f"separated/german-{n}.csv")
        path.write_text(text)
        maker.foreign("csv, separators", "csv", f"german-{n}", path, None, says="Set sep=semicolon")
    path = maker.path("separated/tabs.tsv.gz")
    path.write_bytes(gzip.compress(b"a\tb\n1\tx, y\n"))
    maker.foreign("csv, separators", "csv", "tsv.gz", path, lambda: [{"a": 1, "b": "x, y"}])


def make_lines(maker):
    rng = random.Random(23)
    rows = [{"id": i, "text": rng.choice(["a", "ä€😀", None]), "list": [i, 0.5]} for i in range(9)]
    lines = "\n".join(json.dumps(row, ensure_ascii=i % 2 == 0) for i, row in enumerate(rows)) + "\n"
    for packing, pack in PACKINGS.items():
        for encoding, codec in ENCODINGS.items():
            path = maker.path(f"lines/{encoding}.jsonl{packing}")
            path.write_bytes(pack(lines.encode(codec)))
            maker.foreign("jsonl, compressed or UTF-16", "jsonl", f"{encoding}{packing}", path, lambda: rows, says=REFUSED.get(packing))
    arrays = {
        "compact": json.dumps(rows), "pretty": json.dumps(rows, indent=2), "numbers": "[\n1,\n2\n]\n", "lines": "[\n" + lines.replace("}\n", "},\n")[:-2] + "\n]",
    }
    for name, text in arrays.items():
        path = maker.path(f"lines/array-{name}.jsonl")
        path.write_text(text)
        maker.foreign("jsonl, one array", "jsonl", f"array-{name}", path, lambda: json.loads(text))
    wrong = {
        "pretty": (json.dumps(rows[0], indent=2), "continues on the next line"), "python": (repr(rows[0]), "key in double quotes"),
        "comma": ('{"a": 1,}\n', "key in double quotes"), "cut": ("[\n" + lines, "no comma between"), "two": ("{}{}\n", "another value after its end"),
    }
    for name, (text, says) in wrong.items():
        path = maker.path(f"lines/wrong-{name}.jsonl")
        path.write_text(text)
        maker.foreign("jsonl, damaged", "jsonl", f"wrong-{name}", path, None, says=says)
