"""`make FOLDER` writes environments of every kind; `entries PATH [NAME]` prints the entries of a database, in the order of the keys."""

import io
import os
import sys

import lmdb
import numpy

from shown import show


def array(i):
    file = io.BytesIO()
    numpy.save(file, numpy.arange(i * 6, dtype=["float32", "int64"][i % 2]).reshape(i, 3, 2))
    return file.getvalue()


def make(folder):
    with lmdb.open(f"{folder}/plain", map_size=1 << 30) as env, env.begin(write=True) as txn:
        for i in range(3000):
            value = [b"", b"small", bytes([i % 256]) * (i * 3), array(i % 50), b"\x89PNG\r\n\x1a\n" + b"p" * i][i % 5]
            txn.put(f"{i * 7919 % 3000:08}".encode(), value)
    # Entries that are deleted and written anew leave pages unused and in another order.
    for round in range(5):
        with lmdb.open(f"{folder}/plain", map_size=1 << 30) as env, env.begin(write=True) as txn:
            for i in range(round, 3000, 7):
                txn.delete(f"{i:08}".encode())
            for i in range(round, 3000, 14):
                txn.put(f"{i:08}".encode(), b"again" * (i % 2000))
    with lmdb.open(f"{folder}/file.mdb", map_size=1 << 30, subdir=False, lock=False) as env, env.begin(write=True) as txn:
        for i in range(500):
            txn.put(i.to_bytes(8, "big"), os.urandom(0) + f"größer 🐟 {i}".encode(), append=True)
    with lmdb.open(f"{folder}/named", map_size=1 << 30, max_dbs=4) as env:
        for name in ("train", "test"):
            database = env.open_db(name.encode())
            with env.begin(write=True, db=database) as txn:
                for i in range(200):
                    txn.put(f"{name} {i:03} {'k' * (i % 300)}".encode(), b"v" * i)
        env.open_db(b"empty")
        env.open_db(b"several", dupsort=True)
    with lmdb.open(f"{folder}/large", map_size=1 << 32) as env, env.begin(write=True) as txn:
        for i in range(200_000):
            txn.put(b"%08d" % i, b"%d" % i, append=True)
    with lmdb.open(f"{folder}/none", map_size=1 << 20):
        pass


def entries(path, name=None):
    folder = os.path.isdir(path)
    with lmdb.open(path, subdir=folder, readonly=True, lock=False, max_dbs=4) as env:
        database = env.open_db(name.encode()) if name else None
        with env.begin(db=database) as txn:
            for key, value in txn.cursor():
                try:
                    key = key.decode()
                except UnicodeDecodeError:
                    pass
                if isinstance(key, str) and not key.isprintable():
                    key = key.encode()
                if value.startswith(b"\x93NUMPY"):
                    value = numpy.load(io.BytesIO(value))
                show({"key": key, "value": value})


if __name__ == "__main__":
    {"make": make, "entries": entries}[sys.argv[1]](*sys.argv[2:])
