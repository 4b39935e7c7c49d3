"""A program whose stack contains each kind of call. It sleeps in the innermost one."""

import functools
import time


class Größe:
    @property
    def value(self):
        return sorted([1], key=self.key)

    def key(self, _):
        return next(
            iter(
                self.items(),
            )
        )

    def items(self):
        yield from self.more()

    def more(self):
        yield [inner() for inner in [lambda: self()]]

    def __call__(self):
        with self:
            pass

    def __enter__(self):
        try:
            raise ValueError
        except ValueError:
            return 计算(depth=30)

    def __exit__(self, *_):
        pass


@functools.wraps(print)
def 计算(
    *,
    depth,
):
    if depth:
        return 计算(
            depth=depth - 1,
        )
    exec(compile("\n" * 300 + "def work():\n    time.sleep(1000)\nwork()", "made.py", "exec"))


Größe().value
