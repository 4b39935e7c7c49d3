import warnings

import torch
from torch.utils.data import DataLoader
from torch.utils.data._utils.pin_memory import pin_memory


class Pair:
    def __init__(self, first, second):
        self.first, self.second = first, second

    def pin_memory(self):
        print("Pair.pin_memory() is called")
        return self


class Plain:
    pass


pin_memory({"pair": Pair(1, 2), "name": "kept as it is"})
plain = Plain()
print("a type without the method is left as it is:", pin_memory([plain])[0] is plain)
if not torch.accelerator.is_available():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        batch = next(iter(DataLoader(range(4), pin_memory=True)))
    print("UserWarning:", caught[0].message)
    print("is_pinned:", batch.is_pinned())
