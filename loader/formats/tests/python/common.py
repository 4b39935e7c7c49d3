"""How values are written down, and where."""

import json
import struct


class Picture:
    """The bytes of a picture file."""

    def __init__(self, data):
        self.data = data


class Maker:
    """Collects cases."""

    def __init__(self, out):
        self.out = out
        self.cases = []
        self.left_out = []

    def missing(self, part, package):
        self.left_out.append({"part": part, "package": package})

    def path(self, name):
        path = self.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def foreign(self, kind, form, name, paths, read, says=None, **options):
        """A file as another tool writes it. `read` is the reference reader, `says` a part of the error where the file is refused."""
        if says is None:
            rows = list(read())
        else:
            rows = []
        self.case(form, name, paths, rows, **options)
        self.cases[-1] |= {"kind": kind, "says": says}

    def case(self, form, name, paths, rows, classes=None, labels=None, close=None, **options):
        """Samples `rows` are what is read of `paths`. `close`: floats may differ by that much."""
        if not isinstance(paths, list):
            paths = [paths]
        file = f"{form}-{name}.rows"
        lines = "".join(json.dumps(plain(row)) + "\n" for row in rows)
        path = self.path(file)
        assert not path.exists(), f"two cases are called {form} {name}"
        path.write_text(lines, encoding="utf-8")
        self.cases.append({
            "format": form, "name": name, "paths": [str(p) for p in paths], "rows": file, "options": options,
            "classes": classes, "labels": labels, "close": close,
        })

    def summary(self):
        return {"cases": self.cases, "left_out": self.left_out}


def plain(value):
    """A value as JSON that keeps every bit."""
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is int:
        return {"i": str(value)}
    if kind is float:
        return {"f": struct.pack("<d", value).hex()}
    if kind is str:
        return {"t": value}
    if kind is bytes:
        return {"b": value.hex()}
    if kind is Picture:
        return {"p": value.data.hex()}
    if kind in (list, tuple):
        return [plain(item) for item in value]
    if kind is dict:
        return {"m": [[key, plain(item)] for key, item in value.items()]}
    if kind.__module__ == "torch":
        return tensor(value)
    return array(value)


def array(value):
    """An array or a scalar of NumPy, in the byte order of this host."""
    import numpy as np

    native = np.ascontiguousarray(value).astype(value.dtype.newbyteorder("="))
    data = native.tobytes().hex()
    if isinstance(value, np.generic) or value.ndim == 0:
        return {"s": [native.dtype.name, data]}
    return {"a": [native.dtype.name, list(value.shape), data]}


def tensor(value):
    """A tensor, also of the dtypes that NumPy does not have."""
    import torch

    name = str(value.dtype).removeprefix("torch.")
    data = value.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes().hex()
    if value.ndim == 0:
        return {"s": [name, data]}
    return {"a": [name, list(value.shape), data]}
