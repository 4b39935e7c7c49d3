"""Folders of Parquet as Spark, Hive, pandas, dask and Delta leave them."""

import datetime
import random
import shutil

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from columns import rows_of


def table(begin, **more):
    return pa.table({"id": pa.array(range(begin, begin + 3), pa.int64()), "text": [f"r{i}" for i in range(begin, begin + 3)]} | more)


class Folder:
    """A folder of files, which is compared."""

    def __init__(self, maker, name):
        self.maker, self.name = maker, name
        self.root = maker.path(f"foreign-parquet/{name}/x").parent

    def put(self, path, data, **options):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(data, bytes):
            path.write_bytes(data)
        else:
            pq.write_table(data, path, **options)
        return self

    def compare(self, kind="Parquet, folders", says=None):
        self.maker.foreign(kind, "parquet", self.name, self.root, lambda: rows_of(pq.read_table(self.root)), says=says)


def make_spark(maker):
    moments = [datetime.datetime(2020, 1, 2, 3, 4, 5, 678901), datetime.datetime(1969, 12, 31, 23, 59, 59, 999999), None]
    folder = Folder(maker, "spark").put("_SUCCESS", b"").put("._SUCCESS.crc", b"crc")
    plain = Folder(maker, "no-ending")
    for k in range(3):
        name = f"part-0000{k}-6f2a.c000.snappy.parquet"
        data = table(3 * k, at=pa.array(moments, pa.timestamp("us")))
        folder.put(name, data, use_deprecated_int96_timestamps=k < 2).put(f".{name}.crc", b"crc\0\0\0")
        plain.put(f"00000{k}_0", data)
    folder.compare()
    plain.compare()
    Folder(maker, "delta").put("_delta_log/0.json", b"{}").put("part-0.parquet", table(0)).put(".tmp/x.parquet", b"x").compare()
    parts = Folder(maker, "twelve-parts")
    for k in range(12):
        parts.put(f"part.{k}.parquet", table(3 * k), row_group_size=2)
    parts.compare()
    Folder(maker, "nested").put("a-b/p.parquet", table(0)).put("a/p.parquet", table(3)).put("a.parquet", table(6)).put("a/b/c/p.pq", table(9)).compare()
    collected = []
    dask = Folder(maker, "dask")
    for k in range(2):
        dask.put(f"part.{k}.parquet", table(3 * k), metadata_collector=collected)
        collected[-1].set_file_path(f"part.{k}.parquet")
    pq.write_metadata(table(0).schema, dask.root / "_metadata", metadata_collector=collected)
    pq.write_metadata(table(0).schema, dask.root / "_common_metadata")
    dask.compare()
    frame = Folder(maker, "pandas-index").put("a.parquet", pa.Table.from_pandas(pd.DataFrame({"x": [1.5, 2.5]}, index=["a", "b"])))
    frame.compare()
    categories = pd.DataFrame({"c": pd.Categorical(["u", "v", None]), "p": pd.array([1, None, 3], "Int32"), "s": pd.array(["a", None, "c"], "string")})
    Folder(maker, "pandas-types").put("a.parquet", pa.Table.from_pandas(categories)).compare()
    Folder(maker, "other-files").put("a.parquet", table(0)).put("_notes.txt", b"x").put(".DS_Store", b"x").compare()
    Folder(maker, "empty-part").put("a.parquet", table(0)).put("b.parquet", table(0).slice(0, 0)).put("c.parquet", table(3)).compare()


PARTITIONS = {
    "text": ["label=cat", "label=dog"], "int": ["k=1", "k=12", "k=2"], "two": ["year=2023/month=1", "year=2023/month=12", "year=2024/month=2"],
    "null": ["k=__HIVE_DEFAULT_PARTITION__", "k=a%20b"], "null-int": ["k=__HIVE_DEFAULT_PARTITION__", "k=7"], "mixed": ["k=1", "k=x"],
    "zeros": ["k=01", "k=002"], "signs": ["k=-1", "k=+2"], "minus": ["k=-1", "k=2"], "wide": ["k=3000000000", "k=1"], "float": ["k=1.5", "k=2"],
    "empty": ["k=", "k=a"], "truths": ["k=true", "k=false"], "date": ["day=2020-01-01", "day=2020-01-02"], "equals": ["k=a=b"],
    "escapes": ["k=a%2Fb", "k=%zz", "k=%C3%A4"], "ä": ["k=ä", "k=猫"], "order": ["k=1/m=2", "m=2/k=1"], "not-all": ["k=1", "x"], "different": ["k=1", "j=2"],
    "sub": ["k=1/sub", "k=2/sub"], "key": ["k%20=1"], "limit": ["k=2147483647", "k=-2147483648"], "beyond": ["k=2147483648", "k=1"],
    "spaces": ["k= 1", "k=2"], "repeated": ["k=1", "k=1/k=2"], "case": ["K=1", "k=2"], "hidden": ["k=1", "_k=2", ".k=3"],
}


def make_partitions(maker):
    for name, folders in PARTITIONS.items():
        folder = Folder(maker, f"hive-{name}")
        for i, inner in enumerate(folders):
            folder.put(f"{inner}/{i}.parquet", table(3 * i))
        folder.compare("Parquet, hive partitions")
    same = Folder(maker, "hive-same").put("id=1/a.parquet", table(0))
    same.compare("Parquet, refused by the reference", says="a column with the name of this partition")
    null = Folder(maker, "hive-only-null").put("k=__HIVE_DEFAULT_PARTITION__/a.parquet", table(0))
    null.compare("Parquet, refused by the reference", says="mean null")


def typed(values, of):
    return pa.table({"x": pa.array(values, of)})


PAIRS = {
    "int-long": (typed([1], pa.int32()), typed([2], pa.int64())), "long-int": (typed([1], pa.int64()), typed([2], pa.int8())),
    "float-double": (typed([1.5], pa.float32()), typed([0.1, None], pa.float64())), "double-float": (typed([0.1], pa.float64()), typed([1.5], pa.float32())),
    "long-double": (typed([1], pa.int64()), typed([2.0], pa.float64())), "double-long": (typed([1.5], pa.float64()), typed([2], pa.int64())),
    "text-large": (typed(["a"], pa.string()), typed(["b", None], pa.large_string())), "text-null": (typed(["a"], pa.string()), typed([None], pa.null())),
    "int-null": (typed([1], pa.int64()), typed([None], pa.null())), "bool-int": (typed([True], pa.bool_()), typed([2], pa.int64())),
    "int-bool": (typed([1], pa.int64()), typed([True], pa.bool_())), "unsigned": (typed([1], pa.uint64()), typed([2], pa.int16())),
    "text-categories": (typed(["a"], pa.string()), pa.table({"x": pa.array(["b", None]).dictionary_encode()})),
    "categories-text": (pa.table({"x": pa.array(["b", None]).dictionary_encode()}), typed(["a"], pa.string())),
    "list-null": (typed([[1]], pa.list_(pa.int64())), typed([None], pa.null())), "added": (table(0), table(3, extra=pa.array([1.5, 2.5, None]))),
    "removed": (table(0, extra=pa.array([1.5, 2.5, None])), table(3)), "order": (table(0), table(3).select(["text", "id"])),
    "removed-list": (table(0, e=pa.array([[1, 2], None, []])), table(3)), "renamed": (table(0), table(3).rename_columns(["id", "words"])),
    "removed-struct": (table(0, s=pa.array([{"a": 1}] * 3)), table(3)), "nothing": (typed([1], pa.int64()), pa.table({"y": [2]})),
}
REFUSED = {
    "fraction": (typed([1], pa.int64()), typed([1.5], pa.float64()), "the value 1.5 does not fit the type Int64"),
    "overflow": (typed([1], pa.int8()), typed([300], pa.int64()), "the value 300 does not fit the type Int8"),
    "inexact": (typed([1.5], pa.float64()), typed([2**53 + 1], pa.int64()), "9007199254740993 does not fit"),
    "null-text": (typed([None], pa.null()), typed(["a"], pa.string()), "its type is Utf8, but Null in the first file"),
    "text-for-int": (typed([1], pa.int64()), typed(["q"], pa.string()), "its type is Utf8, but Int64 in the first file"),
}


def make_different_columns(maker):
    for name, (a, b) in PAIRS.items():
        Folder(maker, f"differ-{name}").put("a.parquet", a).put("b.parquet", b).compare("Parquet, other columns in later files")
    for name, (a, b, says) in REFUSED.items():
        Folder(maker, f"differ-{name}").put("a.parquet", a).put("b.parquet", b).compare("Parquet, refused by the reference", says=says)
    Folder(maker, "no-file").put("_SUCCESS", b"").compare("Parquet, refused by the reference", says="contains no Parquet file")
    cut = Folder(maker, "cut").put("a.parquet", table(0))
    cut.put("b.parquet", (cut.root / "a.parquet").read_bytes()[:-9]).compare("Parquet, refused by the reference", says="b.parquet: it cannot be decoded")


def make_random_folders(maker):
    for n in range(20):
        rng = random.Random(n)
        shutil.rmtree(maker.path(f"foreign-parquet/random-{n}/x").parent)
        folder = Folder(maker, f"random-{n}")
        of = [("a", pa.int32()), ("b", pa.string()), ("c", pa.float64()), ("d", pa.bool_())]
        keys = rng.sample(["year", "label", "k"], rng.randrange(3))
        for part in range(rng.randrange(1, 6)):
            kept = [one for one in rng.sample(of, len(of)) if part == 0 or rng.random() < 0.8] or of[:1]
            rows = rng.randrange(4)
            pools = {"a": [1, -5, None], "b": ["x", "ä", None], "c": [0.5, None], "d": [True, False]}
            data = pa.table({name: pa.array([rng.choice(pools[name]) for _ in range(rows)], kind) for name, kind in kept})
            inner = "/".join(f"{key}={rng.choice(['1', '2', 'x', '__HIVE_DEFAULT_PARTITION__']) if key != 'year' else rng.randrange(2020, 2024)}" for key in keys)
            folder.put(f"{inner}/part-{part}.parquet" if inner else f"part-{part}.parquet", data)
        try:
            pq.read_table(folder.root)
        except pa.ArrowInvalid:
            folder.compare("Parquet, refused by the reference", says="mean null")
        else:
            folder.compare("Parquet, random folders")
