import os
import re

from torch.utils.data import DataLoader, Dataset


class Deadly(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index == 1:
            os._exit(3)
        return index


def without_pids(error):
    return re.sub(r"[0-9]+(?=\))", "PID", str(error)).split("\n")[0]


try:
    list(DataLoader(Deadly(), num_workers=2))
except RuntimeError as error:
    # Which of the two is raised depends on where the main process is when the worker ends.
    print("RuntimeError:", without_pids(error.__cause__ or error))
