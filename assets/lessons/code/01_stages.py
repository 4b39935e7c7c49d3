import torch
from torch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    def __len__(self):
        return 7

    def __getitem__(self, index):
        print("dataset[%d]" % index)
        return index * index


def collate(samples):
    print("collate_fn", samples)
    return torch.tensor(samples)


loader = DataLoader(Squares(), batch_size=3, collate_fn=collate)
print("sampler", list(loader.sampler))
print("batch_sampler", list(loader.batch_sampler))
print("len(loader)", len(loader))
print(next(iter(loader)))
