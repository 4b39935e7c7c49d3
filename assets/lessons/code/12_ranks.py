from torch.utils.data import DistributedSampler

dataset = range(10)
for rank in range(4):
    sampler = DistributedSampler(dataset, num_replicas=4, rank=rank, shuffle=False)
    print("rank", rank, list(sampler))
for rank in range(4):
    sampler = DistributedSampler(dataset, num_replicas=4, rank=rank, shuffle=False, drop_last=True)
    print("drop_last, rank", rank, list(sampler))
sampler = DistributedSampler(dataset, num_replicas=4, rank=0, seed=7)
print("without set_epoch", list(sampler), list(sampler))
first = list(sampler)
sampler.set_epoch(1)
print("with set_epoch", first, list(sampler))
