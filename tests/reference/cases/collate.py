"""`default_collate` and `default_convert`; in a worker, too, where that differs."""

import collections

import numpy as np
import torch
import torch.utils.data as data

from .record import Cases, attempt, described_error
from .sources import Kept

NOTES = (
    "in.samples is the list of samples (the batch); out is the collated structure. "
    "default_convert cases take one sample. via: 'main' = called in the main process, 'worker' = "
    "what a DataLoader with num_workers=1 yields (its error text begins 'Caught X in DataLoader "
    "worker process 0.'; first line plus the last line are kept).")
# Also through a worker, which collates into shared memory of the first sample's type.
IN_WORKER = {
    "ints", "int_then_float", "vec", "ragged", "ragged_small_first", "ragged_ndim",
    "mixed_dtype_int_float", "mixed_dtype_float_int", "mixed_dtype_f32_f64", "mixed_dtype_f64_f32",
    "mixed_u8_i64", "mixed_u16_f32", "mixed_f32_u16", "mixed_u16_i64", "mixed_i64_u16", "mixed_f32_u16_c64", "mixed_i8_bool_u8", "mixed_bool_f16_u8", "tuple", "tuple_len_mismatch", "dict_missing", "namedtuple", "none",
    "zero_dim0", "strs", "complex", "int_then_complex", "np_c64", "ndarray_c64", "tensor_c64", "tensor_c64_then_f32",
    "tensor_i64_then_c64", "tensor_c128_then_c64", "dict_then_vec",
}
Point = collections.namedtuple("Point", ["x", "y"])


def pair(number):
    """A number as JSON has it: a complex one is two."""
    return [number.real, number.imag] if isinstance(number, complex) else number


def described(value):
    """A value as JSON: its type by PyTorch's name, its shape, what is in it."""
    if isinstance(value, torch.Tensor):
        flat = value.flatten()
        if value.dtype.is_complex:
            # A pair of numbers each; not all that PyTorch does is there for the small ones.
            flat = torch.view_as_real(flat.to(torch.complex128).resolve_conj())
        elif value.dtype in (torch.float16, torch.bfloat16, torch.float32):
            flat = flat.to(torch.float64)
        return {"t": "tensor", "dtype": str(value.dtype).removeprefix("torch."),
                "shape": list(value.shape), "values": flat.tolist()}
    if isinstance(value, np.ndarray):
        return {"t": "ndarray", "dtype": str(value.dtype), "shape": list(value.shape),
                "values": [pair(number) for number in value.flatten().tolist()]}
    if isinstance(value, np.generic):
        return {"t": "np_scalar", "dtype": str(value.dtype), "value": pair(value.item())}
    if isinstance(value, complex):
        return {"t": "complex", "value": pair(value)}
    # bool before int, of which it is a kind.
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return {"t": kind.__name__, "value": value}
    if isinstance(value, bytes):
        return {"t": "bytes", "hex": value.hex()}
    if value is None:
        return {"t": "none"}
    return described_container(value)


def described_container(value):
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"t": "namedtuple", "name": type(value).__name__, "fields": list(value._fields),
                "items": [described(item) for item in value]}
    for kind in (tuple, list):
        if isinstance(value, kind):
            return {"t": kind.__name__, "items": [described(item) for item in value]}
    if isinstance(value, dict):
        return {"t": type(value).__name__,
                "items": [[key, described(item)] for key, item in value.items()]}
    if isinstance(value, range):
        return {"t": "range", "values": list(value)}
    return {"t": "other", "type": type(value).__name__}


def described_sample(sample):
    if isinstance(sample, torch.Tensor) and sample.is_sparse:
        return {"t": "sparse"}
    return described(sample)


def number_batches(k):
    """Batches of Python's numbers, strings and of what cannot be collated; `k` varies them."""
    return {
        "ints": [1 + k, 2, 3], "floats": [1.5 + k, 2.0], "bools": [True, False],
        "int_then_float": [1, 2.5 + k], "float_then_int": [2.5 + k, 1],
        "bool_then_int": [True, 3 + k], "int_then_bool": [3 + k, True],
        "big_int": [2**40 + k, 1], "int_overflow": [2**63 + k, 1],
        "strs": ["a" * (k + 1), "bc"], "bytes": [b"a", b"bc"], "str_then_int": ["a", 1],
        "int_then_str": [1, "a"], "none": [None, None], "int_then_none": [1, None],
    }


def tensor_batches(k):
    t = torch.tensor
    matrix = torch.arange(6, dtype=torch.float32).reshape(2, 3) + k
    return {
        "scalar_tensors": [t(1 + k), t(2)], "vec": [t([1, 2 + k]), t([3, 4])],
        "mat_f32": [matrix] * 2, "u8": [t([1 + k, 255], dtype=torch.uint8)] * 3,
        "f16": [t([0.5 + k], dtype=torch.float16)] * 2,
        "bf16": [t([1.5], dtype=torch.bfloat16)] * 2,
        "ragged": [t([1, 2, 3 + k]), t([1, 2])],
        "ragged_small_first": [t([1, 2]), t([1, 2, 3 + k])],
        "ragged_ndim": [t([[1, 2]]), t([1, 2])],
        "mixed_dtype_int_float": [t([1]), t([1.5 + k])],
        "mixed_dtype_float_int": [t([1.5 + k]), t([1])],
        "mixed_dtype_f32_f64": [t([1.5]), t([2.5 + k], dtype=torch.float64)],
        "mixed_dtype_f64_f32": [t([1.5], dtype=torch.float64), t([2.5 + k])],
        "mixed_u8_i64": [t([1], dtype=torch.uint8), t([300 + k])],
        "mixed_u16_f32": [t([1], dtype=torch.uint16), t([2.5 + k])], "mixed_f32_u16": [t([1.5]), t([2 + k], dtype=torch.uint16)],
        "mixed_u16_i64": [t([1], dtype=torch.uint16), t([2 + k])], "mixed_i64_u16": [t([1]), t([2 + k], dtype=torch.uint16)],
        "mixed_f32_u16_c64": [t([1.5]), t([2 + k], dtype=torch.uint16), t([1j])], "mixed_i8_bool_u8": [t([1], dtype=torch.int8), t([True]), t([2], dtype=torch.uint8)],
        "mixed_bool_f16_u8": [t([True]), t([1.5], dtype=torch.float16), t([2], dtype=torch.uint8)],
        "zero_dim0": [torch.zeros(0, 3), torch.zeros(0, 3)], "tensor_then_int": [t(1), 2],
        "int_then_tensor": [1, t(2 + k)], "float_then_tensor": [1.0, t(2 + k)],
    }


def container_batches(k):
    t = torch.tensor
    return {
        "tuple": [(1 + k, 2.5), (3, 4.5)], "list": [[1 + k, 2.5], [3, 4.5]],
        "nested": [({"a": [1 + k, (t([1, 2]), "s")]}, b"x"), ({"a": [2, (t([3, 4]), "t")]}, b"y")],
        "tuple_len_mismatch": [(1, 2 + k), (1, 2, 3)], "list_len_mismatch": [[1, 2, 3], [1 + k]],
        "empty_tuple": [(), ()], "empty_list": [[], []],
        "dict": [{"a": 1 + k, "b": 2.0}, {"a": 3, "b": 4.0}],
        "dict_order": [{"b": 1, "a": 2 + k}, {"a": 3, "b": 4}],
        "dict_missing": [{"a": 1, "b": 2}, {"a": 1 + k}],
        "dict_extra": [{"a": 1}, {"a": 2 + k, "b": 3}], "dict_empty": [{}, {"a": 1}],
        "ordered_dict": [collections.OrderedDict(a=1 + k, b=2)] * 2,
        "dict_int_keys": [{1: 5 + k}, {1: 6}], "namedtuple": [Point(1 + k, 2.0), Point(3, 4.0)],
        "dict_none_value": [{"a": None}, {"a": None}], "list_of_str": [["a", "b"], ["c", "d"]],
        "range": [range(k, k + 2), range(2)],
    }


def mismatched_batches(k):
    """Samples that are not what the first one is."""
    t, others = torch.tensor, {}
    for name, other in {
            "0d": t(1), "vec": t([1 + k]), "mat": torch.zeros(2, 2), "array_0d": np.array(1), "array": np.array([1 + k]), "text_array": np.array(["a"]),
            "np_f32": np.float32(1), "np_str": np.str_("a"), "np_str2": np.str_("ab"), "str": "ab", "bytes": b"ab", "range": range(3), "complex": 1j,
            "none": None, "int": 1 + k, "tuple": (1, 2, 3), "point": Point(1, 2), "text_pair": np.array(["a", "b"])}.items():
        others |= {f"dict_then_{name}": [{"k0": 1}, other], f"point_then_{name}": [Point(1, 2), other], f"pair_then_{name}": [(1, 2), other]}
    array = np.array([1.5 + k])
    for name, other in {
            "str": ["ab"], "np_str": [np.str_("ab")], "no_str": [""], "bytes": [b"ab"], "late_str": [[1], ["a"]], "texts": [np.array(["a"])],
            "point": Point("a", t(1)), "ragged": [[1, 2], [3 + k]], "rows": [[1], 1], "none_inside": [(), 1], "flat": [1, [1]], "range": [range(3)],
            "arrays": [np.array([1, 2 + k])], "array_then_int": [np.array([1, 2]), 1], "vec": [t([1, 2])], "vec_of_1": [t([1 + k])],
            "row_then_vec": [[1], t([2 + k])], "complex": [[1.5, 1j + k]], "0d": [np.array(1 + k)], "no_rows": [np.zeros((2, 0))], "dict": [{"a": 1}], "bool": [[True], [False]]}.items():
        others[f"array_then_nested_{name}"] = [array, other]
    return others | {
        "dict_missing_behind_a_failure": [{"a": Point(1, 2), "b": 1}, {"a": True}], "dict_missing_before_a_failure": [{"a": 1, "b": Point(1, 2)}, {"b": True}],
        "dict_missing_twice": [{"a": 1, "b": 2}, {"a": 1}, {"b": 1 + k}], "dict_missing_then_none": [{"a": 1, "b": 2}, {"a": 1}, None],
        "dict_then_vec_by_a_letter": [{"k": 1}, t([[1 + k]])], "point_then_1": [Point(1, 2), (1,)], "point_then_0": [Point(1, 2), ()],
        "short_before_none": [(1, 2), (1,), None], "complex128_then_tuple": [np.complex128(1), (b"a", k)], "complex128_then_str": [np.complex128(1), np.str_("a")],
    }


def numpy_batches(k):
    return {
        "ndarray": [np.array([1 + k, 2]), np.array([3, 4])],
        "ndarray_f32": [np.array([1.5 + k], dtype=np.float32)] * 2,
        "ndarray_u16": [np.array([1, 65535 - k], dtype=np.uint16)] * 2,
        "ndarray_str": [np.array(["a"]), np.array(["b"])],
        "ndarray_0d": [np.array(1.5 + k), np.array(2.5)],
        "np_f32": [np.float32(1.5 + k), np.float32(2)],
        "np_f64": [np.float64(1.5 + k), np.float64(2)], "np_i32": [np.int32(1 + k), np.int32(2)],
        "np_bool": [np.bool_(True), np.bool_(False)], "np_u8": [np.uint8(200 + k), np.uint8(3)],
        "np_str": [np.str_("a"), np.str_("b")],
        "int_then_np_bool": [1 + k, np.bool_(True)], "bool_then_np_bool": [True, np.bool_(False)], "np_i8_then_np_bool": [np.int8(1), np.bool_(True)],
        "np_f32_then_np_bool": [np.float32(1 + k), np.bool_(True)], "int_then_0d_bool": [1, np.array(True)], "int_then_tensor_bool": [1, torch.tensor(True)],
        "np_u16": [np.uint16(3), np.uint16(65535 - k)], "np_u64": [np.uint64(3), np.uint64(4)], "float_then_np_u64": [1.5, np.uint64(3 + k)],
        "np_f32_then_np_u64": [np.float32(1.5), np.uint64(3)], "np_f16_then_1d": [np.float16(1), np.array([1 + k])],
        "int_then_f16_vec": [5, torch.tensor([1, 2 + k], dtype=torch.float16)], "int_then_f16_1d": [5, np.array([1 + k], dtype=np.float16)],
        "np_i8_then_vec": [np.int8(1), torch.tensor([1, 2 + k])], "np_i8_then_big": [np.int8(3), 300 + k], "np_i8_then_np_u8": [np.int8(-3), np.uint8(200)],
    }


def complex_batches(k):
    t, c64, c128 = torch.tensor, np.complex64, np.complex128
    return {
        "complex": [1j + k, 2j], "complex_then_int": [1j, 2 + k], "int_then_complex": [1 + k, 2j], "bool_then_complex": [True, 1.5 + 2j],
        "float_then_complex": [1.5 + k, 2j], "complex_in_tuple": [(1, 1j), (2, 2j)], "int_float_complex": [1, 2.5 + k, 1j],
        "np_c64": [c64(1j + k), c64(2)], "np_c128": [c128(1j + k), c128(2)], "np_c64_then_c128": [c64(1j), c128(2j + k)],
        "int_then_np_c64": [1, c64(2j + k)], "float_then_np_c64": [1.5, c64(2j + k)], "np_f64_then_complex": [np.float64(1 + k), 2j],
        "np_f32_then_complex": [np.float32(1 + k), 2j], "np_i64_then_np_c64": [np.int64(1), c64(2j + k)], "np_u16_then_complex": [np.uint16(3), 1j],
        "np_c64_then_none": [c64(1), None], "np_c64_then_str": [c64(1), "a"], "np_c64_then_list": [c64(1), [1 + k]],
        "np_c64_then_tensor": [c64(1), t([1 + 2j])], "np_c64_then_vec": [c64(1), t([1, 2 + k])], "np_c64_then_big": [c64(1), 2**63 + k],
        "ndarray_c64": [np.array([1j + k], dtype=c64)] * 2, "ndarray_c128": [np.array([[1j, k]])] * 2, "ndarray_c128_0d": [np.array(1j + k)] * 2,
        "np_c64_then_0d": [c64(1), np.array(1j + k)], "np_c64_then_1d": [c64(1), np.array([1j])], "float_then_0d_c128": [1.5, np.array(1j + k)],
        "tensor_c64": [t([1j, k]), t([2, 3j])], "tensor_c64_0d": [t(1j + k), t(2j)], "tensor_c32": [t([1j, k], dtype=torch.complex32)] * 2,
        "tensor_c64_then_f32": [t([1j + k]), t([1.5])], "tensor_i64_then_c64": [t([1 + k]), t([1.5j])],
        "tensor_c128_then_c64": [t([1j], dtype=torch.complex128), t([1j + k])], "int_then_tensor_c64": [1, t(1j + k)],
        "float_then_tensor_c64": [1.5, t(1j)], "float_then_tensor_real": [1.5, t(2 + 0j)], "int_then_tensor_c32": [1, t(1j, dtype=torch.complex32)],
        "conjugates": [t([1j + k]).conj(), t([2j])], "np_c64_then_conjugate": [c64(1), t(1 + 2j).conj()],
    }


def strange_batches():
    return {"set": [{1}, {2}], "object": [object(), object()],
            "empty_batch": [], "sparse": [torch.eye(2).to_sparse()] * 2}


def samples_to_convert(k):
    return {
        "int": 3 + k, "float": 1.5, "str": "s", "bytes": b"s", "none": None,
        "tensor": torch.tensor([1, k]), "ndarray": np.array([1, k]), "np_f32": np.float32(1.5),
        "np_i64": np.int64(k), "ndarray_str": np.array(["a"]), "np_str": np.str_("q"),
        "list": [np.array([1, k]), 2, "s"], "tuple": (np.array([1]), 2),
        "namedtuple": Point(np.array(k), 2), "dict": {"a": np.array([k]), "b": "x"},
        "nested": {"a": (1, [np.float64(2.5)])}, "range": range(2), "bool": True, "set": {1},
        "complex": 1j + k, "np_c64": np.complex64(1j + k), "ndarray_c128": np.array([1j, k]), "tensor_c64": torch.tensor([1j, k]),
        "tuple_complex": (1j, np.complex128(k)),
    }


def through_worker(batch):
    """What a loader with one worker gives for these samples as its one batch."""
    loader = data.DataLoader(Kept(batch), batch_size=len(batch), num_workers=1)
    try:
        return {"out": described(next(iter(loader)))}
    except Exception as error:  # whatever the worker passes on is the case
        whole = described_error(error)
        lines = whole["message"].strip().split("\n")
        return {"error": {**whole, "message": lines[0], "last_line": lines[-1]}}


def collate_cases(profile):
    cases = Cases("collate", NOTES)
    k = profile.shift
    batches = (number_batches(k) | tensor_batches(k) | container_batches(k) | numpy_batches(k)
               | strange_batches() | complex_batches(k) | mismatched_batches(k))
    for name, batch in batches.items():
        samples = [described_sample(sample) for sample in batch]
        cases.add("default_collate", {"name": name, "via": "main", "samples": samples},
                  **attempt(lambda: described(data.default_collate(batch))))
        if name in IN_WORKER:
            cases.add("default_collate", {"name": name, "via": "worker", "samples": samples},
                      **through_worker(batch))
    for name, sample in samples_to_convert(k).items():
        cases.add("default_convert", {"name": name, "sample": described(sample)},
                  **attempt(lambda: described(data.default_convert(sample))))
    return cases
