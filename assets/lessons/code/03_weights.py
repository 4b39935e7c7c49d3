import torch
from torch.utils.data import RandomSampler, SubsetRandomSampler, WeightedRandomSampler

weights = [1, 1, 8]
draws = list(WeightedRandomSampler(weights, 10, generator=torch.Generator().manual_seed(0)))
print("weighted:", draws, "index 2 comes", draws.count(2), "times")
try:
    list(WeightedRandomSampler(weights, 10, replacement=False))
except RuntimeError as error:
    print("RuntimeError:", error)
again = list(RandomSampler(range(8), replacement=True, generator=torch.Generator().manual_seed(0)))
print("with replacement:", again, "different ones:", len(set(again)))
subset = list(SubsetRandomSampler([10, 20, 30], generator=torch.Generator().manual_seed(0)))
print("subset:", subset)
