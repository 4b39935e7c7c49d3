import os
import time

from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        start = time.monotonic()
        time.sleep(0.05)
        return os.getpid(), start, time.monotonic()


def epoch(workers):
    pids, reads, steps = set(), [], []
    for pid, start, end in DataLoader(Slow(), batch_size=2, num_workers=workers):
        pids.update(pid.tolist())
        reads += zip(start.tolist(), end.tolist())
        begun = time.monotonic()
        time.sleep(0.05)
        steps.append((begun, time.monotonic()))
    overlap = any(a < d and c < b for a, b in reads for c, d in steps)
    print("num_workers=%d:" % workers, len(pids), "process(es) load, the main process:", os.getpid() in pids, "reading overlaps training:", overlap)


epoch(0)
epoch(2)
