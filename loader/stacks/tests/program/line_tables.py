"""Prints the line table of a function, and its lines according to `dis`. The tests contain the output of each version of Python."""

import dis
import sys

GAP = "\n" * 150
SOURCE = f"""
def work(items, *, limit):
    total = 0
    for item in items:
        try:
            total += call(
                item,
                limit=max(
                    item,
                    limit,
                ),
            )
        except (
            ValueError,
            KeyError,
        ) as error:
            return lambda: error
        finally:
            total -= 1
{GAP}
    with items as one, total as two:
        if one and (
            two
            or total
        ):
            yield total
    while (
        total
    ): total = [
        each for each in items
        if each
    ]
    return (total,
        one)
"""

module = compile(SOURCE, "work.py", "exec")
code = next(each for each in module.co_consts if hasattr(each, "co_code"))
if sys.version_info < (3, 10):
    table = code.co_lnotab
    starts = list(dis.findlinestarts(code))
else:
    table = code.co_linetable
    starts = [(start, line) for start, end, line in code.co_lines() if start < end]
lines = []
for start, line in starts:
    if line is not None and (not lines or lines[-1][1] != line):
        lines.append((start, line))
version = sys.version_info[1]
print(version, code.co_firstlineno, table.hex(), *(f"{start}:{line}" for start, line in lines))
