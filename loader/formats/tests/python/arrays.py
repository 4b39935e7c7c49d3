"""Arrays: npy, npz, safetensors."""

import numpy as np

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
SHAPES = [(5,), (5, 3), (4, 2, 3), (3, 1, 2, 2), (0, 3), (3, 0)]


def numbers(rng, dtype, shape):
    """Numbers of any bits, NaN with payloads included."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    count = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer(rng.bytes(count), dtype).reshape(shape)


def make_npy(maker):
    rng = np.random.default_rng(0)
    for dtype in DTYPES:
        for order in "CF":
            for endian in "<>":
                for at, shape in enumerate(SHAPES):
                    data = np.array(numbers(rng, dtype, shape), np.dtype(dtype).newbyteorder(endian), order=order)
                    name = f"{dtype.replace('?', 'bool')}-{order}-{'le' if endian == '<' else 'be'}-{at}"
                    path = maker.path(f"npy/{name}.npy")
                    np.save(path, data)
                    read = np.load(path, mmap_mode="r") if data.size else np.load(path)
                    maker.case("npy", name, path, [read[i] for i in range(len(read))])


def make_windows(maker):
    rng = np.random.default_rng(1)
    for order in "CF":
        path = maker.path(f"npy/windows-{order}.npy")
        np.save(path, np.array(numbers(rng, "f4", (17, 3)), order=order))
        read = np.load(path, mmap_mode="r")
        rows = [read[i * 2:i * 2 + 5] for i in range((17 - 5) // 2 + 1)]
        maker.case("npy", f"windows-{order}", path, rows, length=5, stride=2)


def make_npz(maker):
    rng = np.random.default_rng(2)
    arrays = {
        "x": numbers(rng, "f4", (7, 3, 2)),
        "y": rng.integers(0, 9, 7),
        "f": np.asfortranarray(numbers(rng, ">i4", (7, 4))),
    }
    others = dict(arrays, longer=np.arange(9))
    for name, save in [("stored", np.savez), ("packed", np.savez_compressed)]:
        path = maker.path(f"npz/{name}.npz")
        save(path, **arrays)
        read = np.load(path)
        rows = [{key: read[key][i] for key in read.files} for i in range(7)]
        maker.case("npz", name, path, rows, labels=[int(label) for label in arrays["y"]])
        path = maker.path(f"npz/{name}-chosen.npz")
        save(path, **others)
        read = np.load(path)
        rows = [{key: read[key][i] for key in ["x", "f"]} for i in range(7)]
        maker.case("npz", f"{name}-chosen", path, rows, names=["x", "f"])


def make_large_npz(maker):
    """Larger than what is unpacked to see the header."""
    path = maker.path("npz/large.npz")
    data = np.arange(300_000, dtype=np.int64).reshape(3, -1)
    np.savez_compressed(path, a=data)
    maker.case("npz", "large", path, [{"a": row} for row in data])


def make_safetensors(maker):
    import torch
    from safetensors.torch import load_file, save_file

    rng = np.random.default_rng(3)
    names = {
        "bool": torch.bool, "u8": torch.uint8, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
        "u16": torch.uint16, "u32": torch.uint32, "u64": torch.uint64, "f16": torch.float16, "bf16": torch.bfloat16,
        "f32": torch.float32, "f64": torch.float64, "c64": torch.complex64, "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2,
    }
    tensors = {}
    for name, dtype in names.items():
        for shape in [(4,), (4, 3)]:
            width = torch.empty((), dtype=dtype).element_size()
            data = torch.from_numpy(np.frombuffer(rng.bytes(width * int(np.prod(shape))), np.uint8).copy())
            if dtype == torch.bool:
                data = data % 2
            tensors[f"{name}-{len(shape)}"] = data.view(dtype).reshape(shape)
    path = maker.path("safetensors/all.safetensors")
    save_file(tensors, path, metadata={"a": "b"})
    read = load_file(path)
    for name in tensors:
        maker.case("safetensors", name, path, [{name: read[name][i]} for i in range(4)], names=[name])
    # In the order in which they lie in the file, which is by the size of their elements.
    pair = {"image": torch.rand(6, 2, 2), "label": torch.arange(6)}
    path = maker.path("safetensors/pair.safetensors")
    save_file(pair, path)
    rows = [{"label": pair["label"][i], "image": pair["image"][i]} for i in range(6)]
    maker.case("safetensors", "pair", path, rows, labels=list(range(6)))
