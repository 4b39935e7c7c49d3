import warnings

from torch.utils.data import DataLoader, IterableDataset


class Numbers(IterableDataset):
    def __len__(self):
        return 3

    def __iter__(self):
        return iter(range(3))

    def __repr__(self):
        return "Numbers()"


loader = DataLoader(Numbers(), batch_size=None, num_workers=2)
print("len(loader):", len(loader))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print("samples:", len(list(loader)))
print("warnings:", len(caught))
print(str(caught[0].message).split(". ")[0])
