import random

import numpy
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Noise(Dataset):
    def __init__(self):
        self.own = numpy.random.default_rng(0)

    def __len__(self):
        return 4

    def __getitem__(self, index):
        info = get_worker_info()
        return info.id, info.seed, torch.initial_seed(), random.random(), numpy.random.rand(), self.own.random()


def new_generator(worker):
    dataset = get_worker_info().dataset
    dataset.own = numpy.random.default_rng(torch.initial_seed())


def samples(**options):
    generator = torch.Generator().manual_seed(0)
    loader = DataLoader(Noise(), batch_size=None, num_workers=2, generator=generator, **options)
    return [list(loader), list(loader)]


first, second = samples()
zero, one = first[0], first[1]
print("seed of worker 1 minus seed of worker 0:", one[1] - zero[1])
print("torch.initial_seed() is that seed:", zero[1] == zero[2])
print("random differs between workers:", zero[3] != one[3])
print("numpy.random differs between workers:", zero[4] != one[4])
print("own generator differs between workers:", zero[5] != one[5])
print("own generator differs between epochs:", zero[5] != second[0][5])
print("seeds differ between epochs:", zero[1] != second[0][1])
first, second = samples(worker_init_fn=new_generator)
print("with worker_init_fn, it differs between workers:", first[0][5] != first[1][5])
print("with worker_init_fn, it differs between epochs:", first[0][5] != second[0][5])
first, second = samples(persistent_workers=True)
print("persistent workers keep their seeds:", first[0][1] == second[0][1])
