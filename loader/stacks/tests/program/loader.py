"""A training whose trainer or whose dataset sleeps. Arguments: the number of workers, and the seconds per batch of both."""

import sys
import time

from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        if LOAD:
            time.sleep(LOAD)  # load
        return index


if __name__ == "__main__":
    workers = int(sys.argv[1])
    LOAD, TRAIN = map(float, sys.argv[2:])
    for batch in DataLoader(Samples(), batch_size=1, num_workers=workers):
        if TRAIN:
            time.sleep(TRAIN)  # train
