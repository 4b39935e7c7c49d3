import time

from torch.utils.data import DataLoader, Dataset


class Broken(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        if index == 2:
            raise ValueError("sample 2 is broken")
        if index == 5:
            time.sleep(9)
        return index


iterator = iter(DataLoader(Broken(), num_workers=2, timeout=4))
got = []
while True:
    try:
        got.append(next(iterator).item())
    except StopIteration:
        break
    except ValueError as error:
        print("ValueError:", str(error).splitlines()[0], "…", str(error).splitlines()[-1])
    except RuntimeError as error:
        print("RuntimeError:", error)
        break
print("batches that came:", got)
