"""Prints values so that types, bits and order can be compared with those of another program."""

import json
import struct
import zlib


def shown(value):
    """A value as JSON that keeps what JSON does not: the type, and each bit of a float."""
    kind = type(value).__name__
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return ["int", str(value)]
    if isinstance(value, float):
        if value != value:
            return ["float", "nan"]
        return ["float", struct.pack(">d", value).hex()]
    if isinstance(value, str):
        return ["str", value]
    if isinstance(value, (bytes, bytearray, memoryview)):
        value = bytes(value)
        return ["bytes", len(value), zlib.crc32(value)]
    if isinstance(value, (list, tuple)):
        return [kind, [shown(item) for item in value]]
    if isinstance(value, dict):
        return ["dict", [[key, shown(item)] for key, item in value.items()]]
    if kind == "ndarray":
        value = value.astype(value.dtype.newbyteorder("="))
        return ["array", value.dtype.name, list(value.shape), shown(value.tobytes())]
    if kind == "Decimal":
        return shown(float(value))
    raise TypeError(f"{kind} has no counterpart")


def show(value):
    print(json.dumps(shown(value)))
