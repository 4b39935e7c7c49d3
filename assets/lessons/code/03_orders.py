import torch
from torch.utils.data import DataLoader, Dataset


class Augmented(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        torch.rand(1)
        return index


def order(dataset, **options):
    loader = DataLoader(dataset, batch_size=None, shuffle=True, **options)
    return [list(loader), list(loader)]


for seed in (1, 1, 2):
    first, second = order(range(8), generator=torch.Generator().manual_seed(seed))
    print("seed", seed, "epoch 0", first, "epoch 1", second)
for workers in (0, 2):
    torch.manual_seed(0)
    first, second = order(Augmented(), num_workers=workers)
    print("manual_seed", workers, "workers", first, "epoch 1", second)
