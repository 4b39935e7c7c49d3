"""Datasets that `datasets` saved."""

import io

import numpy as np
from datasets import Array2D, Array3D, ClassLabel, Dataset, Features, Image, List, Value
from PIL import Image as Pictures

from common import Picture


def png(rng):
    data = io.BytesIO()
    Pictures.fromarray(rng.integers(0, 255, (4, 5, 3), dtype=np.uint8)).save(data, "png")
    return data.getvalue()


def make_saved(maker):
    rng = np.random.default_rng(11)
    pictures = [png(rng) for _ in range(8)]
    beside = maker.path("arrow/beside.png")
    beside.write_bytes(pictures[0])
    features = Features({
        "image": Image(), "label": ClassLabel(names=["cat", "dog", "cow"]), "input_ids": List(Value("int32")), "text": Value("string"),
        "score": Value("float32"), "grid": Array2D((2, 3), "float32"), "open": Array3D((None, 2, 2), "uint8"), "pages": List(Image()),
        "meta": {"source": Value("string"), "picture": Image()}, "boxes": List({"id": Value("int64"), "area": Value("float64")}),
    })
    rows = []
    for i in range(8):
        rows.append({
            "image": {"bytes": pictures[i], "path": None} if i else {"bytes": None, "path": str(beside)},
            "label": int(rng.integers(3)), "input_ids": rng.integers(0, 1000, i).tolist(), "text": "ä" * i if i != 5 else None,
            "score": float(np.float32(rng.random())), "grid": rng.random((2, 3)).astype(np.float32),
            "open": rng.integers(0, 255, (i + 1, 2, 2), dtype=np.uint8), "pages": [{"bytes": p, "path": None} for p in pictures[:i % 3]],
            "meta": {"source": "web", "picture": {"bytes": pictures[i], "path": "x.png"} if i % 2 else None},
            "boxes": [{"id": n, "area": n / 2} for n in range(i % 4)],
        })
    data = Dataset.from_list(rows, features=features)

    def sample(row):
        return {
            "image": Picture(row["image"]["bytes"] or pictures[0]), "label": row["label"], "input_ids": np.array(row["input_ids"], np.int32),
            "text": row["text"], "score": row["score"], "grid": row["grid"], "open": row["open"],
            "pages": [Picture(page["bytes"]) for page in row["pages"]],
            "meta": {"source": "web", "picture": row["meta"]["picture"] and Picture(row["meta"]["picture"]["bytes"])},
            "boxes": row["boxes"],
        }

    expected = [sample(row) for row in rows]
    for shards in (1, 3):
        path = maker.path(f"arrow/saved-{shards}")
        data.save_to_disk(path, num_shards=shards)
        labels = [row["label"] for row in rows]
        maker.case("arrow", f"saved-{shards}", path, expected, classes=["cat", "dog", "cow"], labels=labels)
    path = maker.path("parquet/from-datasets.parquet")
    data.to_parquet(path)
    maker.case("parquet", "from-datasets", path, expected, classes=["cat", "dog", "cow"], labels=labels)


def make_saved_as_read(maker):
    """Held against what `datasets` itself returns, for columns that it returns as they are."""
    from datasets import load_from_disk

    data = Dataset.from_dict({"a": list(range(2500)), "b": [f"row {i}" for i in range(2500)], "c": [i / 3 for i in range(2500)]})
    path = maker.path("arrow/plain")
    data.filter(lambda row: row["a"] % 3 != 0).save_to_disk(path)
    read = load_from_disk(path)
    maker.case("arrow", "plain", path, [read[i] for i in range(len(read))])
