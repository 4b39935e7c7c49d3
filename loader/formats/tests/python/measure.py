"""Makes data to measure with, and measures how many samples a second Python takes out of it, in random order on one core.

    python measure.py FOLDER SECONDS

What is not there is made first. Prints a line of JSON for each format.
"""

import json
import os
import random
import sys
import time
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import torch

ROWS = 200_000
torch.set_num_threads(1)


def table():
    rng = np.random.default_rng(0)
    return pa.table({
        "id": np.arange(ROWS), "price": rng.random(ROWS), "name": [f"name {i}" for i in range(ROWS)], "label": rng.integers(0, 10, ROWS),
        "ok": rng.random(ROWS) < 0.5, "ids": [rng.integers(0, 30_000, 16).astype(np.int32) for _ in range(ROWS)],
    })


def make(folder):
    import soundfile as sf
    from datasets import Dataset
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "made").exists():
        return
    rng = np.random.default_rng(1)
    data = table()
    flat = data.drop_columns(["ids"])
    flat.to_pandas().to_csv(folder / "a.csv", index=False)
    pq.write_table(data, folder / "a.parquet", row_group_size=20_000)
    Dataset(data).save_to_disk(folder / "saved")
    with open(folder / "a.jsonl", "w") as out:
        for row in data.to_pylist():
            out.write(json.dumps(row) + "\n")
    np.save(folder / "a.npy", rng.integers(0, 50_000, 50_000_000).astype(np.uint16))
    np.savez(folder / "a.npz", x=rng.random((20_000, 28, 28)).astype(np.float32), y=rng.integers(0, 10, 20_000))
    save_file({"x": torch.rand(20_000, 28, 28), "label": torch.randint(10, (20_000,))}, folder / "a.safetensors")
    words = [f"word{i}" for i in range(5000)]
    (folder / "words.txt").write_text("\n".join(words))
    with open(folder / "a.txt", "w") as out:
        for _ in range(ROWS):
            out.write(" ".join(rng.choice(words, 20)) + "\n")
    for ending in ("wav", "flac", "ogg"):
        (folder / ending).mkdir(exist_ok=True)
        for i in range(50):
            time_ = np.arange(32_000) / 16_000
            wave = 0.4 * np.sin(2 * np.pi * (200 + i) * time_) + 0.05 * rng.standard_normal(32_000)
            sf.write(folder / ending / f"{i:03}.{ending}", wave.clip(-1, 1), 16_000)
    (folder / "made").write_text("")


def samples(folder):
    """What to ask for a sample of each format, and how many there are."""
    import soundfile as sf
    from datasets import load_from_disk
    from safetensors.torch import load_file

    frame = pd.read_csv(folder / "a.csv")
    yield "csv", lambda i: frame.iloc[i].to_dict(), ROWS
    arrow = pq.read_table(folder / "a.parquet")
    yield "parquet", lambda i: arrow.slice(i, 1).to_pylist()[0], ROWS
    saved = load_from_disk(folder / "saved")
    yield "arrow", lambda i: saved[i], ROWS
    lines = open(folder / "a.jsonl").read().splitlines()
    yield "jsonl", lambda i: json.loads(lines[i]), ROWS
    tokens = np.load(folder / "a.npy", mmap_mode="r")
    yield "npy", lambda i: torch.from_numpy(tokens[i * 256:i * 256 + 256].copy()), len(tokens) // 256
    arrays = {key: value for key, value in np.load(folder / "a.npz").items()}
    yield "npz", lambda i: {key: torch.as_tensor(value[i]) for key, value in arrays.items()}, 20_000
    tensors = load_file(folder / "a.safetensors")
    yield "safetensors", lambda i: {key: value[i] for key, value in tensors.items()}, 20_000
    texts = open(folder / "a.txt").read().splitlines()
    ids = {word: i for i, word in enumerate((folder / "words.txt").read_text().split("\n"))}
    yield "text", lambda i: torch.tensor([ids[word] for word in texts[i].split()]), ROWS
    for ending in ("wav", "flac", "ogg"):
        files = sorted((folder / ending).iterdir())
        yield ending, lambda i, files=files: torch.from_numpy(sf.read(files[i], dtype="float32", always_2d=True)[0].T), len(files)


def main():
    folder, seconds = Path(sys.argv[1]), float(sys.argv[2])
    make(folder)
    for name, get, count in samples(folder):
        order = list(range(count))
        random.Random(0).shuffle(order)
        done, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            for i in range(20):
                get(order[(done + i) % count])
            done += 20
        print(json.dumps({"format": name, "rate": done / (time.perf_counter() - start)}), flush=True)


if __name__ == "__main__":
    main()
