"""Samples of every form: a template says what sample i is, here and in `loader/engine/tests/parity/samples.rs`."""

import collections

import numpy as np
import torch

Point = collections.namedtuple("Point", ["x", "y"])
DTYPES = ["uint8", "int8", "int16", "int32", "int64", "uint16", "float16", "float32", "float64", "bool", "complex64", "complex128"]
OF_TORCH = ["bfloat16", "complex32"]
LEAVES = ["int", "float", "bool", "complex", "str", "bytes", "none", "set", "tensor", "ndarray", "np", "np_str", "ndarray_str", "range"]
# How often each is drawn.
WEIGHTS = [6, 5, 3, 3, 4, 2, 1, 0.5, 10, 6, 4, 1, 0.5, 1]


def drawn(draw, size, depth=0):
    """A template."""
    chance = draw.random()
    if depth < 3 and chance < (0.6 if depth == 0 else 0.3):
        kind = draw.choice(["tuple", "list", "dict", "point"])
        count = 2 if kind == "point" else draw.choice([0, 1, 2, 2, 3])
        return {"t": kind, "of": [drawn(draw, size, depth + 1) for _ in range(count)]}
    if size and chance > 0.93:
        return {"t": "odd", "at": draw.randrange(size), "is": drawn(draw, 0, depth + 1), "else": drawn(draw, 0, depth + 1)}
    kind = draw.choices(LEAVES, WEIGHTS)[0]
    if kind == "set" and not size:
        # Beside another sample what is in it would count, which the engine does not know.
        kind = "int"
    template = {"t": kind}
    if kind in ("tensor", "ndarray", "np"):
        template["dtype"] = draw.choice(DTYPES + (OF_TORCH if kind == "tensor" else []))
    if kind in ("tensor", "ndarray"):
        template["shape"] = draw.choice([[], [], [1], [2], [3], [0], [2, 2], [1, 3], [2, 0], [2, 1, 2]])
        if template["shape"] and draw.random() < 0.1:
            template["ragged"] = draw.choice([2, 3])
        if kind == "tensor" and draw.random() < 0.1:
            template["as"] = draw.choice(["transposed", "conjugate", "strided"])
    return template


def made(template, i):
    """Sample i."""
    kind = template["t"]
    if kind in ("tuple", "list"):
        items = [made(one, i) for one in template["of"]]
        return tuple(items) if kind == "tuple" else items
    if kind == "dict":
        return {f"k{at}": made(one, i) for at, one in enumerate(template["of"])}
    if kind == "point":
        return Point(*(made(one, i) for one in template["of"]))
    if kind == "odd":
        return made(template["is"] if i == template["at"] else template["else"], i)
    if kind == "tensor":
        return tensor(template, i)
    if kind == "ndarray":
        return array(template, i)
    if kind == "np":
        return np.dtype(template["dtype"]).type(number(template["dtype"], i))
    return {
        "int": lambda: i * 3 - 1, "float": lambda: i * 0.5 - 1, "bool": lambda: i % 2 == 1, "complex": lambda: complex(i * 0.5, 1 - i),
        "str": lambda: f"s{i}", "bytes": lambda: f"b{i}".encode(), "none": lambda: None, "set": lambda: {i}, "np_str": lambda: np.str_(f"s{i}"),
        "ndarray_str": lambda: np.array([f"s{i}"]), "range": lambda: range(i % 3, 3),
    }[kind]()


def number(dtype, i):
    """The number i as it stands in an array of this dtype."""
    if dtype == "bool":
        return i % 2 == 1
    return complex(i, 1 - i) if dtype.startswith("complex") else i % 100


def numbers(template, i):
    shape = list(template["shape"])
    if i % template.get("ragged", 1):
        shape[0] += 1
    count = 1
    for size in shape:
        count *= size
    return shape, [number(template["dtype"], i + k) for k in range(count)]


def tensor(template, i):
    shape, values = numbers(template, i)
    dtype = getattr(torch, template["dtype"])
    # Not all dtypes can be made of a list.
    wide = torch.complex128 if dtype.is_complex else torch.float64 if dtype.is_floating_point else torch.int64
    made = torch.tensor(values, dtype=wide).reshape(shape).to(dtype)
    how = template.get("as")
    if how == "transposed" and made.dim() > 1:
        return made.transpose(0, 1)
    if how == "conjugate":
        return made.conj()
    if how == "strided" and made.dim() > 0:
        return torch.cat([made, made], 0)[::2]
    return made


def array(template, i):
    shape, values = numbers(template, i)
    wide = np.complex128 if template["dtype"].startswith("complex") else np.int64
    return np.array(values, dtype=wide).reshape(shape).astype(template["dtype"])
