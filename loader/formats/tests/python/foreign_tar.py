"""Archives of WebDataset as `tar` and scripts write them, read by the package."""

import io
import json
import random
import tarfile
import warnings

import numpy as np
import webdataset


def archive(maker, name, files, **options):
    path = maker.path(f"foreign-tar/{name}.tar")
    with tarfile.open(path, "w", **options) as out:
        for file, data in files:
            about = tarfile.TarInfo(file)
            about.size = len(data)
            out.addfile(about, io.BytesIO(data))
    return path


def read(path, fields=()):
    """Samples as the package has them; the path of the archive is not part of them here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samples = webdataset.WebDataset(str(path), shardshuffle=False, empty_check=False).decode()
        samples = samples.to_tuple(*fields) if fields else samples
        for sample in samples:
            if isinstance(sample, dict):
                sample.pop("__local_path__", None)
                sample["__url__"] = str(path)
            yield sample


def sample(key, rng, ending="cls"):
    return [(f"{key}.{ending}", str(rng.randrange(9)).encode()), (f"{key}.txt", f"text of {key}".encode()), (f"{key}.json", json.dumps({"k": key}).encode())]


def compare(maker, name, files, says=None, fields=(), **options):
    path = archive(maker, name, files, **options)
    kind = "WebDataset, refused" if says else "WebDataset"
    maker.foreign(kind, "webdataset", name, path, lambda: read(path, fields), says=says, names=list(fields))


def make_orders(maker):
    rng = random.Random(41)
    whole = [file for n in range(20) for file in sample(f"{n:04}", rng)]
    for n in range(10):
        files = whole[:]
        random.Random(n).shuffle(files)
        compare(maker, f"shuffled-{n}", files)
        compare(maker, f"shuffled-{n}-fields", files, fields=("txt", "cls"), says="Write the archive with tar --sort=name")
    compare(maker, "sorted", whole, fields=("txt", "cls"))
    compare(maker, "reversed", whole[::-1])
    compare(maker, "reversed-fields", whole[::-1], fields=("txt", "cls"))
    by_ending = sorted(whole, key=lambda file: file[0].split(".")[1])
    compare(maker, "by-ending", by_ending)
    compare(maker, "by-ending-fields", by_ending, fields=("txt", "cls"), says="are apart from each other")
    for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        compare(maker, f"format-{form}", [file for n in range(3) for file in sample(f"{'d' * 60}/{'e' * 30}/{n}", rng)], format=form)
    compare(maker, "dots", [("./a/0.cls", b"1"), ("./a/0.txt", b"x"), ("./b/0.cls", b"2")])
    compare(maker, "capitals", [("0.CLS", b"1"), ("0.Txt", b"x")])
    compare(maker, "meta", [("__info__", b"x"), ("0.cls", b"1"), (".hidden", b"x"), ("README", b"x"), ("1.cls", b"2")])
    compare(maker, "same-name-later", [("0.cls", b"1"), ("1.cls", b"2"), ("0.cls", b"3")])


def make_duplicates(maker):
    for name, files in {
        "twice": [("0.cls", b"1"), ("0.cls", b"2")], "case": [("0.cls", b"1"), ("0.CLS", b"2")], "appended": [("0.cls", b"1"), ("0.txt", b"x"), ("0.txt", b"y")],
        "key": [("0.cls", b"1"), ("0.__key__", b"2")],
    }.items():
        compare(maker, f"duplicate-{name}", files, says="second file")


def make_fields(maker):
    rng = random.Random(42)
    files = [file for n in range(3) for file in sample(f"{n}", rng)]
    compare(maker, "no-field", files, fields=("png", "cls"), says="no such file; it has cls, json, txt")
    compare(maker, "spelling", files, fields=("label",), says="no such file; it has cls, json, txt")
    compare(maker, "some-without", [*files, ("9.txt", b"x")], fields=("txt", "cls"), says="no such file; it has txt")


def make_values(maker):
    values = {
        "nan": b'{"a": NaN, "b": [Infinity, -Infinity]}', "large": b"123456789012345678901234567890", "mark": "\ufeff{}".encode(),
        "utf16": '{"ä": "😀"}'.encode("utf-16"), "utf16le": b'{\0"\0a\0"\0:\0001\0}\0', "float": b"1.0", "zero": b"-0", "inf": b"1e999", "twice": b'{"a": 1, "a": 2}',
    }
    for name, data in values.items():
        compare(maker, f"json-{name}", [("0.json", data)])
    for name, data in {"large": b"123456789012345678901234567890", "blanks": b" 7\n", "plus": b"+7", "score": b"1_000"}.items():
        compare(maker, f"cls-{name}", [("0.cls", data)])
    wrong = {
        "json-surrogate": ("json", b'"\\ud800"', "lone surrogate"), "json-cut": ("json", b'{"a":\n', "ends in the middle"), "cls-float": ("cls", b"1.0", "is not an integer"),
        "cls-empty": ("cls", b"", "is not an integer"), "txt-latin": ("txt", "ä".encode("latin-1"), "not text in UTF-8"), "cls-text": ("cls", b"cat", "is not an integer"),
    }
    for name, (ending, data, says) in wrong.items():
        compare(maker, name, [(f"0.{ending}", data)], says=says)
    buffer = io.BytesIO()
    np.save(buffer, np.arange(6, dtype=">i2").reshape(2, 3))
    compare(maker, "npy", [("0.npy", buffer.getvalue())])
