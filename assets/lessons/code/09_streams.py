from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Numbers(IterableDataset):
    def __iter__(self):
        return iter(range(6))


class Shared(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(first, 6, step))


for dataset in (Numbers(), Shared()):
    batches = [batch.tolist() for batch in DataLoader(dataset, batch_size=2, num_workers=2)]
    print(type(dataset).__name__, batches, "samples:", sum(map(len, batches)))
loader = DataLoader(Shared(), batch_size=2, num_workers=2, drop_last=True)
print("drop_last", [batch.tolist() for batch in loader])
