import numpy
from torch.utils.data import DataLoader

samples = [(numpy.zeros(3), number) for number in range(4)]
loader = DataLoader(samples, batch_size=2)
array, number = next(iter(loader))
print("batch_size=2:", tuple(array.shape), number)
loader = DataLoader(samples, batch_size=None)
array, number = next(iter(loader))
print("batch_size=None:", tuple(array.shape), number)
print("batch_sampler:", loader.batch_sampler)
print("len(loader):", len(loader))
