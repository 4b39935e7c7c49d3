"""`make FOLDER` writes shards of every kind; `samples CASES` prints the samples of the package, `null` behind each case, `braces PATTERN …` what braceexpand makes of
patterns, `keys NAME …` how the package cuts names. Rank and worker are those of the environment, as the package reads them."""

import gzip
import io
import json
import os
import sys
import tarfile
import warnings

import numpy

warnings.simplefilter("ignore")


def add(archive, name, data=b"", **attributes):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for key, value in attributes.items():
        setattr(info, key, value)
    archive.addfile(info, io.BytesIO(data))


def make(folder):
    kinds = [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]
    for shard in range(12):
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w", format=kinds[shard % 3]) as archive:
            add(archive, "folder", type=tarfile.DIRTYPE)
            add(archive, "__meta__", b"passed over")
            for i in range(20):
                key = f"folder/{shard:02}-{i:04}"
                if i == 7 and shard % 3:
                    key = "long/" * 40 + key
                if i == 8 and shard % 3 == 2:
                    key = "größer🐟/" + key
                add(archive, f"{key}.jpg", bytes([i]) * (i * 100))
                add(archive, f"{key}.cls", b" %d\n" % (i - 10))
                add(archive, f"{key}.TXT", "Fisch 🐟 größer".encode() * i)
                facts = {"z": [1, 2.5, None, {"b": i}], "a": {}, "big": 2**63 + i, "small": 1e-7}
                add(archive, f"{key}.json", json.dumps(facts).encode())
                add(archive, f"{key}.more.of.it.bin", os.urandom(0) + bytes(range(i)))
                add(archive, f"{key}.text.gz", gzip.compress(b"unpacked %d" % i, mtime=0))
                if i % 6 == 1:
                    array = io.BytesIO()
                    numpy.save(array, numpy.arange(i * 6, dtype=["<f4", ">i8", "u1"][i % 3]).reshape(2, i, 3)[:, :, :: i % 2 + 1])
                    add(archive, f"{key}.NPY", array.getvalue())
                if i % 5 == 0:
                    add(archive, f"{key}.link", type=tarfile.SYMTYPE, linkname="nowhere")
                    if shard != 1:
                        add(archive, f"{key}__.__note__", b"of its own")
                add(archive, f"{key}x/no_extension", b"no part of a sample")
        if shard % 4 == 3:
            data = io.BytesIO(gzip.compress(data.getvalue(), mtime=0))
        suffix = "tar.gz" if shard % 4 == 3 else "tar"
        # The end of an archive is the end of its last sample, also without the blocks that mark it.
        content = data.getvalue().rstrip(b"\0") if shard == 5 else data.getvalue()
        content += b"\0" * (-len(content) % 512) if shard == 5 else b""
        with open(f"{folder}/shard-{shard:03}.{suffix}", "wb") as file:
            file.write(content)


def samples(cases):
    import webdataset

    from shown import show

    for options in json.loads(cases):
        os.environ.update(options["environment"])
        samples_of(webdataset, options, show)
        print("null")


def samples_of(webdataset, options, show):
    dataset = webdataset.WebDataset(
        options["urls"],
        shardshuffle=options.get("shardshuffle", False) or None,
        detshuffle=options.get("detshuffle", False),
        nodesplitter=webdataset.split_by_node,
        seed=options.get("seed"),
    )
    if size := options.get("shuffle"):
        seed = options.get("seed")
        if options.get("detshuffle"):
            dataset = dataset.compose(webdataset.detshuffle(size, seed=seed))
        else:
            dataset = dataset.shuffle(size, seed=seed)
    if options.get("decode", True):
        dataset = dataset.decode()
    if fields := options.get("fields"):
        dataset = dataset.to_tuple(*fields)
    for epoch in range(options.get("epochs", 1)):
        for sample in dataset:
            if isinstance(sample, dict):
                sample.pop("__local_path__", None)
            show(sample)


def braces(*patterns):
    from braceexpand import braceexpand

    for pattern in patterns:
        try:
            names = list(braceexpand(pattern))
        except Exception as error:
            names = None
        print(json.dumps(names))


def keys(*names):
    from webdataset.tariterators import base_plus_ext

    for name in names:
        print(json.dumps(base_plus_ext(name)))


if __name__ == "__main__":
    {"make": make, "samples": samples, "braces": braces, "keys": keys}[sys.argv[1]](*sys.argv[2:])
