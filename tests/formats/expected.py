"""Writes what Python's datasets yield, so that a test in Rust can hold its own against it.

A file `NAME.json` describes the samples, one value each; the bytes of tensors and arrays are in `NAME.bin`.
"""

import json
import pathlib

import numpy
import torch


class Writer:
    """Takes down the samples of one dataset."""

    def __init__(self, folder, name):
        self.folder = pathlib.Path(folder)
        self.name = name
        self.samples = []
        self.bytes = bytearray()

    def add(self, sample):
        self.samples.append(self._value(sample))

    def close(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{self.name}.json").write_text(json.dumps(self.samples))
        (self.folder / f"{self.name}.bin").write_bytes(self.bytes)

    def _elements(self, kind, dtype, shape, data):
        at = len(self.bytes)
        self.bytes += data
        return {kind: dtype, "shape": list(shape), "at": at, "len": len(data)}

    def _value(self, value):
        if value is None or isinstance(value, (bool, str)):
            return {"value": value}
        if isinstance(value, int):
            return {"int": str(value)}
        if isinstance(value, float):
            return {"float": value.hex() if value == value else "nan"}
        if isinstance(value, bytes):
            return {"bytes": list(value)}
        if isinstance(value, torch.Tensor):
            value = value.contiguous()
            data = value.view(torch.uint8).numpy() if value.dtype in (torch.bfloat16,) else value.numpy()
            return self._elements("tensor", str(value.dtype).removeprefix("torch."), value.shape, data.tobytes())
        if isinstance(value, numpy.generic):
            return self._elements("scalar", str(value.dtype), (), value.tobytes())
        if isinstance(value, numpy.ndarray):
            return self._elements("tensor", str(value.dtype), value.shape, numpy.ascontiguousarray(value).tobytes())
        if isinstance(value, dict):
            return {"dict": [[key, self._value(one)] for key, one in value.items()]}
        if isinstance(value, tuple):
            return {"tuple": [self._value(one) for one in value]}
        if isinstance(value, list):
            return {"list": [self._value(one) for one in value]}
        raise TypeError(f"{type(value)} is not written")


def write(folder, name, samples):
    """Writes all samples."""
    writer = Writer(folder, name)
    for sample in samples:
        writer.add(sample)
    writer.close()
