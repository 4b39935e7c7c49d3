"""WebDataset: shards of tar files; the dataset makes the batches itself, so that each sample of the loader is one."""

import io
import json
import tarfile
import tempfile
import time

import torch
import webdataset as wds


def write_shards(folder):
    for shard in range(4):
        with tarfile.open("%s/shard-%04d.tar" % (folder, shard), "w") as tar:
            for number in range(60):
                for ending, data in (("txt", b"text %d" % number), ("cls", b"%d" % (number % 3))):
                    info = tarfile.TarInfo("%04d%04d.%s" % (shard, number, ending))
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))


def main():
    with tempfile.TemporaryDirectory() as folder:
        write_shards(folder)
        shards = folder + "/shard-{0000..0003}.tar"
        dataset = wds.WebDataset(shards, shardshuffle=False).decode().to_tuple("txt", "cls").batched(8)
        loader = wds.WebLoader(dataset, batch_size=None, num_workers=2)  # loader: train
        passes, total = [], 0
        for epoch in range(2):
            passes.append(0)
            for texts, labels in loader:
                total += int(torch.as_tensor(labels).sum())
                time.sleep(0.03)
                passes[-1] += 1
    print(total)
    print(json.dumps({"loaders": {"train": passes}}))


if __name__ == "__main__":
    main()
