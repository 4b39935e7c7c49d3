"""`make FILE` writes a database of every type; `rows FILE QUERY [KEY]` prints the rows, with KEY one by one by that column."""

import sqlite3
import sys

from shown import show


def make(path):
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price REAL, stock INT, picture BLOB, class TEXT, note)")
        for i in range(1000):
            note = [None, i, i / 7, f"note {i}", bytes([i % 256] * 3)][i % 5]
            price = [i * 0.1, float("inf"), -0.0, 1e-310, None][i % 5]
            stock = [i - 500, 2**63 - 1, -(2**63), None, 0][i % 5]
            name = [f"item {i}", "", "größer 🐟", 'quote " and , comma', None][i % 5]
            row = (i * 3 + 1, name, price, stock, bytes(range(256)) * (i % 4), f"class {i % 7}", note)
            db.execute("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        db.execute("CREATE TABLE words (word TEXT UNIQUE, count INT)")
        db.executemany("INSERT INTO words VALUES (?, ?)", [(f"word {i * 7919 % 500}", i) for i in range(500)])


def rows(path, query, key=None):
    db = sqlite3.connect(path)
    db.row_factory = sqlite3.Row
    if key is None:
        for row in db.execute(query):
            show({name: row[name] for name in row.keys()})
        return
    keys = [row[0] for row in db.execute(f'SELECT "{key}" FROM ({query})')]
    for value in keys:
        row = db.execute(f'SELECT * FROM ({query}) WHERE "{key}" = ?', (value,)).fetchone()
        show({name: row[name] for name in row.keys()})


if __name__ == "__main__":
    {"make": make, "rows": rows}[sys.argv[1]](*sys.argv[2:])
