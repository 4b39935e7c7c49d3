"""Tables as text: csv and jsonl."""

import io
import json
import math
import random
import warnings

import pandas as pd

TOKENS = [
    "", "0", "1", "-1", "+2", "007", " 3", "4 ", "\t5", "1.5", "-2.", ".5", "1e5", "1E-5", "1e400", "1e-400", "NA", "nan", "-nan", "+nan",
    "NaN", "null", "None", "N/A", "#N/A", "<NA>", "inf", "-inf", "+Infinity", "INF", "True", "False", "true", "FALSE", "TRUE", " true", "a",
    "b c", "ä€😀", "1_0", "0x10", "1e", "e5", ".", "-", "+", "--1", "1 2", "1.5 ", " 2.5", "9223372036854775807", "-9223372036854775808",
    "0.1", "3.141592653589793238462643", "123456789.123456789", "2.2250738585072014e-308", "yes", "1,5", 'say "hi"', "two\nlines",
    "1\x0b", "\u00a01", "١", "1d5", "1.#IND", "TRUE ", "tRUE", "Nan", "none", "12345678901234567890123456789012345678.5",
]
# Whole numbers beyond 63 bits only in these: where some are missing pandas has texts, and those that are missing are texts, too.
GROUPS = [
    ["0", "1", "-1", "+2", "007", " 3", "9223372036854775807"],
    ["0", "1", "", "NA", "-5"],
    ["0.5", "1", "", "nan", "1e5", "-inf"],
    ["True", "False", "true"],
    ["True", "False", ""],
    ["", "NA"],
    ["1", "9223372036854775808", "18446744073709551615"],
    ["1", "2", "99999999999999999999"],
    ["1", "-2", "", "99999999999999999999"],
    ["9223372036854775808", "1", "-1"],
    ["a", "b", "", "1"],
]


def quoted(field):
    return '"' + field.replace('"', '""') + '"'


def written(rng, field):
    """A field as some program may write it."""
    if any(c in field for c in ',"\n\r') or rng.random() < 0.2:
        return quoted(field)
    return field


def value(read, dtype):
    """What a sample has in place of what pandas has in the row."""
    missing = isinstance(read, float) and math.isnan(read) or read is None
    if missing and dtype.kind != "f":
        return None
    if hasattr(read, "item"):
        return read.item()
    return read


def rows_of(table):
    # A row for itself would have one dtype for all.
    columns = {name: list(table[name]) for name in table.columns}
    for i in range(len(table)):
        yield {name: value(cells[i], table[name].dtype) for name, cells in columns.items()}


def table_case(maker, name, text, file="csv", **options):
    path = maker.path(f"csv/{name}.{file}")
    path.write_bytes(text.encode("utf-8"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = pd.read_csv(path, low_memory=False, **({"sep": options["separator"]} if options else {}))
    maker.case("csv", name, path, list(rows_of(table)), **options)


def make_random_tables(maker):
    rng = random.Random(5)
    for n in range(120):
        pools = []
        for _ in range(rng.randrange(1, 6)):
            pools.append(rng.choice(GROUPS) if rng.random() < 0.6 else rng.sample(TOKENS, rng.randrange(1, 5)))
        # A single column with an empty field is an empty line, which is no row.
        end = rng.choice(["\n", "\r\n"])
        lines = [",".join(f"c{i}" for i in range(len(pools)))]
        for _ in range(rng.randrange(1, 30)):
            fields = [written(rng, rng.choice(pool)) for pool in pools]
            if len(fields) > 1 and rng.random() < 0.05 and "9223372036854775808" not in pools[-1]:
                fields.pop()
            lines.append(",".join(fields))
            if rng.random() < 0.05:
                lines.append(rng.choice(["", "  "]))
        text = end.join(lines) + rng.choice(["", end])
        if len(pools) == 1 and ('""' in lines or "" in lines):
            continue
        table_case(maker, f"random-{n}", text)


def make_one_column_a_token(maker):
    for n, token in enumerate(TOKENS):
        for m, other in enumerate(["1", "2.5", "x", "True", ""]):
            text = f"a,b\n{written(random.Random(n), token)},1\n{other},2\n"
            table_case(maker, f"token-{n}-{m}", text)


def make_special_tables(maker):
    table_case(maker, "names", 'a,,a,"b,\nc",a.1,a\n1,2,3,4,5,6\n')
    for n, names in enumerate(["a,a,a.1", "a.1,a,a", "a,a.1,a,a.1,a.1.1", ",Unnamed: 0", ",,Unnamed: 0", "a,a,a.1,a.1", "a,a,a,a"]):
        table_case(maker, f"names-{n}", names + "\n" + ",".join("1" * (names.count(",") + 1)) + "\n")
    table_case(maker, "mark", "\ufeffa,b\n1,ä\n")
    table_case(maker, "empty", "a,b\n")
    table_case(maker, "header", "a,b")
    table_case(maker, "short", "a,b,c\n1\n2,x\n3,y,z\n")
    table_case(maker, "return", "a,b\r1,x\r2,y\r")
    table_case(maker, "blank", "\n\na,b\n\n1,2\n   \n3,4\n\n\n")
    table_case(maker, "quotes", 'a,b\n"x"y,x"y\n"",""\n"a""b",""""\n')
    table_case(maker, "tabs", "a\tb\n1\tx, y\n", file="tsv", separator="\t")
    table_case(maker, "semicolons", "a;b\n1;x, y\n", separator=";")
    rng = random.Random(6)
    lines = ["id,x,text"] + [
        f"{i},{rng.random() * 10 ** rng.randrange(-8, 8)!r},{quoted('l' * rng.randrange(60) + chr(10) + 'm,n')}" for i in range(200_000)
    ]
    table_case(maker, "large", "\n".join(lines) + "\n")


def make_jsonl(maker):
    path = maker.path("jsonl/values.jsonl")
    values = [
        {"text": "a", "n": 1, "x": 1.5, "ok": True, "none": None},
        {"nested": {"list": [1, 2.0, "x", [], {}], "deep": [[[[1]]]]}, "ä": "€😀\u0000\u2028"},
        {"big": 2**63, "huge": -(2**63), "last": 2**64 - 1, "e": 1e300, "tiny": 5e-324, "zero": -0.0, "third": 1 / 3},
        [1, 2, 3], "text", 5, None, False, {"a": 1},
    ]
    values += [{"x": random.Random(i).random() * 10.0 ** random.Random(i + 1).randrange(-300, 300)} for i in range(500)]
    text = "\n".join(json.dumps(v, ensure_ascii=i % 2 == 0) for i, v in enumerate(values))
    path.write_text(text.replace("\n[1, 2, 3]", "\n\n  \r\n [1, 2, 3] "), encoding="utf-8", newline="")
    maker.case("jsonl", "values", path, [json.loads(line) for line in text.split("\n")])
    path = maker.path("jsonl/twice.jsonl")
    path.write_text('{"a": 1, "b": 2, "a": 3}\n{"s": "\\ud83d\\ude00\\n\\u00e4\\/"}\n')
    maker.case("jsonl", "twice", path, [json.loads(line) for line in path.read_text().splitlines()])
    path = maker.path("jsonl/pandas.jsonl")
    buffer = io.StringIO()
    pd.DataFrame({"a": [1, 2], "b": ["x", None]}).to_json(buffer, orient="records", lines=True)
    path.write_text(buffer.getvalue())
    maker.case("jsonl", "pandas", path, [{"a": 1, "b": "x"}, {"a": 2, "b": None}])
