import os

from torch.utils.data import DataLoader, Dataset


class Process(Dataset):
    def __len__(self):
        return 5

    def __getitem__(self, index):
        return os.getpid()


for persistent in (False, True):
    loader = DataLoader(Process(), batch_size=2, num_workers=2, persistent_workers=persistent)
    epochs = [set(pid for batch in loader for pid in batch.tolist()) for _ in range(2)]
    print("persistent_workers=%s: the same processes in both epochs:" % persistent, epochs[0] == epochs[1])
for drop_last in (False, True):
    loader = DataLoader(Process(), batch_size=2, drop_last=drop_last)
    print("drop_last=%s: sizes" % drop_last, [len(batch) for batch in loader], "len(loader)", len(loader))
