"""A program with short calls of each kind, which change its stack all the time."""


def leaf(x):
    return x + 1


def generate(n):
    return sum(leaf(i) for i in range(n))


def sort(n):
    return sorted(range(n), key=leaf)


def recurse(n):
    leaf(n)
    return n and recurse(n - 1)


def outer():
    generate(20)
    sort(20)
    recurse(10)
    return leaf(0)


while True:
    outer()
