"""Writes the data of the works `formats-…`: annotated pictures, shards, tables, an array, a database. About 300 MB.

    python make_formats.py FOLDER

Needs numpy, Pillow, pandas, pyarrow, datasets and pycocotools. The same files come out every time; what is there is kept.
"""

import io
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tarfile

import numpy as np

PICTURES = 400
ROWS = 40_000
WINDOWS = 200_000
SHARDS = 4
WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog", "Straße", "日本"]


def pictures(folder):
    script = pathlib.Path(__file__).parent.parent / "formats/pictures.py"
    subprocess.run([sys.executable, script, folder, "--count", str(PICTURES), "--only-data", "--large"], check=True)


def add(tar, name, data):
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    tar.addfile(entry, io.BytesIO(data))


def shards(folder, source):
    folder.mkdir(parents=True)
    files = sorted((source / "voc/VOCdevkit/VOC2012/JPEGImages").glob("*.jpg"))
    draw = np.random.default_rng(1)
    for shard in range(SHARDS):
        with tarfile.open(folder / f"pictures-{shard:03}.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
            for number, path in enumerate(files[shard::SHARDS]):
                add(tar, f"{path.stem}.jpg", path.read_bytes())
                add(tar, f"{path.stem}.cls", str((number + shard) % 1000).encode())
        with tarfile.open(folder / f"small-{shard:03}.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
            for number in range(5000):
                data = io.BytesIO()
                np.save(data, draw.integers(0, 50_257, 128))
                add(tar, f"{shard}/{number:06}.npy", data.getvalue())
                add(tar, f"{shard}/{number:06}.cls", str(number % 1000).encode())


def columns():
    draw = np.random.default_rng(2)
    rng = random.Random(3)
    return {
        "id": list(range(ROWS)),
        "label": draw.integers(0, 10, ROWS).tolist(),
        "a": draw.normal(size=ROWS).round(6).tolist(),
        "b": draw.random(ROWS).tolist(),
        "ok": (draw.random(ROWS) < 0.5).tolist(),
        "text": [" ".join(rng.choices(WORDS, k=rng.randrange(1, 8))) for _ in range(ROWS)],
    }


def tables(folder):
    import pandas
    import pyarrow
    import pyarrow.parquet
    from datasets import Dataset

    folder.mkdir(parents=True)
    data = columns()
    pandas.DataFrame(data).to_csv(folder / "rows.csv", index=False)
    table = pyarrow.table(data)
    pyarrow.parquet.write_table(table, folder / "rows.parquet", row_group_size=20_000)
    Dataset.from_dict(data).save_to_disk(folder / "saved")
    with sqlite3.connect(folder / "rows.sqlite") as base:
        base.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, label INTEGER, a REAL, b REAL, ok INTEGER, text TEXT)")
        base.executemany("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?)", zip(*data.values()))
    base.close()
    np.save(folder / "windows.npy", np.arange(WINDOWS * 64, dtype=np.int32).reshape(-1, 8))


def once(target, make):
    """Makes a folder under another name and renames it, so that a half one is never kept."""
    if target.exists():
        return
    half = target.with_name(f"{target.name}.{os.getpid()}")
    shutil.rmtree(half, ignore_errors=True)
    make(half)
    half.rename(target)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    once(folder / "pictures", pictures)
    once(folder / "shards", lambda half: shards(half, folder / "pictures"))
    once(folder / "tables", tables)
    # The database must not be changed by who reads it, and keeps its name.
    print(json.dumps({"pictures": PICTURES, "rows": ROWS}))


if __name__ == "__main__":
    main()
