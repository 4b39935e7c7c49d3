"""`make` fills a database with every type; `rows QUERY [KEY]` prints the rows, with KEY one by one by that column. The server is the one
of the environment (PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE)."""

import sys

import psycopg
from psycopg.rows import dict_row

from shown import show


def make():
    with psycopg.connect() as db:
        db.execute(
            "CREATE TABLE items (id int PRIMARY KEY, word varchar(40) UNIQUE, small int2, large int8, single float4, double float8,"
            " exact numeric(20, 5), flag bool, picture bytea, ints int[], larges int8[], singles float4[], doubles float8[],"
            " words text[], facts jsonb, plain json, class text, padded char(8))"
        )
        rows = []
        for i in range(1000):
            rows.append(
                (
                    i * 3 + 1,
                    f"Wort {i * 7919 % 1000} größer 🐟",
                    [i - 500, -32768, 32767, None][i % 4],
                    [2**63 - 1, -(2**63), i, None][i % 4],
                    [0.1, 1 / 3, float("nan"), None, float("-inf"), 1e-40, 16777217.0][i % 7],
                    [0.1, i / 7, float("inf"), -0.0, None][i % 5],
                    [f"{i}.{i:05}", None, "-0.00001"][i % 3],
                    [True, False, None][i % 3],
                    [bytes(range(256)) * (i % 4), None][i % 5 == 4],
                    [[i, None, -i], [], None][i % 3],
                    [2**60 + i],
                    [0.1, i / 3],
                    [i / 3, None],
                    ["a, b", None, '"quoted"'],
                    '{"a": [1, 2.5, null, {"b": "ü"}], "n": %d}' % (i * 10**9),
                    [None, "[]", '"text"', "12345678901234567890"][i % 4],
                    f"class {9 - i % 3}",
                    "ab"[: i % 3],
                )
            )
        marks = ", ".join(["%s"] * len(rows[0]))
        db.cursor().executemany(f"INSERT INTO items VALUES ({marks})", rows)


def rows(query, key=None):
    with psycopg.connect(row_factory=dict_row) as db:
        if key is None:
            with db.cursor("stream") as cursor:
                for row in cursor.execute(query):
                    show(row)
            return
        keys = [row[key] for row in db.execute(f'SELECT "{key}" FROM ({query}) AS q')]
        for value in keys:
            show(db.execute(f'SELECT * FROM ({query}) AS q WHERE "{key}" = %s', (value,)).fetchone())


if __name__ == "__main__":
    {"make": make, "rows": rows}[sys.argv[1]](*sys.argv[2:])
