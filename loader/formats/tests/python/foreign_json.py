"""JSON that Python's `json` reads and stricter readers refuse."""

import json
import random

TEXTS = [
    "NaN", "Infinity", "-Infinity", "[NaN, 1]", "1e999", "-1e999", "1e-999", "-0", "-0.0", "0.0", "1.0", "1E+2", "9223372036854775807",
    "9223372036854775808", "-9223372036854775809", "18446744073709551616", "170141183460469231731687303715884105727",
    "-170141183460469231731687303715884105728", '"\\ud83d\\ude00"', '"\\u0000"', '"\\/"', '"\\u00e4\\b\\f\\n\\r\\t"', '"\u007f\u2028"',
    '{"a": 1, "a": 2}', '{"": null}', '{"\\u0061": 1, "a": 2}', "[[], {}, [[]]]", " [1 , 2 ] ", "\t{}\r", "true", "null", '"é"',
    "123456789012345678901234567890", "0.1", "1.7976931348623157e308", "5e-324", "2.2250738585072011e-308", "3.141592653589793238462643383279",
]
WRONG = {
    "170141183460469231731687303715884105728": "more than 128 bits", '"\\ud800"': "lone surrogate", '"\\udc00x"': "lone surrogate",
    '"\\ud83dx"': "lone surrogate", '{"\\ud800": 1}': "lone surrogate", "[1,]": "comma after the last value", "[1 2]": "no comma between",
    "{a: 1}": "key in double quotes", "'a'": "single quotes", "01": "another value after its end", "1.": "another value after its end",
    ".5": "a JSON value is missing", "+1": "a JSON value is missing", "nan": "a JSON value is missing", "True": "a JSON value is missing",
    '"a\tb"': "control character", '"\\x41"': "invalid escape", '"abc': "without a closing quote", "[1": "ends in the middle",
    "// comment": "a JSON value is missing", '{"a" 1}': "no colon",
}


def make_values(maker):
    for n, text in enumerate(TEXTS):
        path = maker.path(f"json/{n}.jsonl")
        path.write_text(text + "\n", encoding="utf-8", newline="")
        maker.foreign("JSON, accepted by Python", "jsonl", f"json-{n}", path, lambda: [json.loads(text)])
    for n, (text, says) in enumerate(WRONG.items()):
        path = maker.path(f"json/wrong-{n}.jsonl")
        path.write_text(text + "\n", encoding="utf-8", newline="")
        maker.foreign("JSON, refused", "jsonl", f"json-wrong-{n}", path, None, says=says)


def value(rng, depth):
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind == 0:
        return rng.choice([float("nan"), float("inf"), -float("inf"), 0.0, -0.0])
    if kind == 1:
        return rng.randrange(-(2**rng.randrange(1, 127)), 2**rng.randrange(1, 127))
    if kind == 2:
        return rng.random() * 10.0 ** rng.randrange(-320, 308)
    if kind == 3:
        return "".join(rng.choice("aä€😀\\\"/\n\t\0\u2028'") for _ in range(rng.randrange(8)))
    if kind < 6:
        return rng.choice([None, True, False])
    if kind < 8:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {f"k{rng.randrange(20)}": value(rng, depth + 1) for _ in range(rng.randrange(20))}


def make_random_values(maker):
    for n in range(30):
        rng = random.Random(n)
        rows = [value(rng, 0) for _ in range(20)]
        path = maker.path(f"json/random-{n}.jsonl")
        # A line of one list would be taken for an array.
        lines = [json.dumps(row, ensure_ascii=rng.random() < 0.5, separators=rng.choice([(",", ":"), (" , ", " : ")])) for row in rows]
        path.write_text("\n".join(lines), encoding="utf-8")
        maker.foreign("JSON, random values", "jsonl", f"random-{n}", path, lambda: [json.loads(line) for line in lines])
