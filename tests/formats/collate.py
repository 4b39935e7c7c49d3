"""Puts samples together with the functions that Loadscope prints, and writes both.

    python collate.py FOLDER

FOLDER holds `NAME.py`, the functions of one way, of which the last is called `collate`. Needs torch.
"""

import pathlib
import sys

import torch

from expected import write


def samples():
    """Samples of every form that a dataset may have."""
    torch.manual_seed(0)
    annotated = [
        (
            torch.randint(255, (3, 4 + k, 9 - k), dtype=torch.uint8),
            {"boxes": torch.rand(k, 4), "labels": torch.arange(k), "name": f"n{k}", "id": k},
        )
        for k in (2, 0, 3)
    ]
    rows = [{"ids": torch.arange(k), "label": k, "weight": k / 2, "on": k > 1, "fixed": torch.rand(2)} for k in (1, 4, 2)]
    plain = [torch.arange(k, dtype=torch.int32) for k in (3, 1, 5)]
    lists = [[torch.rand(k, 2), torch.tensor(k)] for k in (1, 2)]
    same = [(torch.rand(2, 3), k) for k in range(3)]
    return {"annotated": annotated, "rows": rows, "plain": plain, "lists": lists, "same": same}


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, all_samples in samples().items():
        write(folder, name, all_samples)
        for way in sorted(folder.glob("*.py")):
            names = {"torch": torch}
            exec(way.read_text(), names)
            try:
                batch = names["collate"](all_samples)
            except RuntimeError:
                # What cannot be put together is an error here as well.
                continue
            write(folder, f"{name}-{way.stem}", [batch])


if __name__ == "__main__":
    main()
