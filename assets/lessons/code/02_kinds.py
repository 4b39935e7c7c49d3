from torch.utils.data import DataLoader, IterableDataset


class Lines(IterableDataset):
    def __iter__(self):
        yield from ("a", "b", "c")


loader = DataLoader(Lines(), batch_size=2)
print(list(loader))
try:
    print(len(loader))
except TypeError as error:
    print("TypeError:", error)
try:
    DataLoader(Lines(), shuffle=True)
except ValueError as error:
    print("ValueError:", error)
