from torch.utils.data import DataLoader

loader = DataLoader(range(32), batch_size=2, num_workers=2, prefetch_factor=3)
iterator = iter(loader)
print("before the first next():", iterator._send_idx)
for count in (1, 2, 3):
    next(iterator)
    print("after", count, "batches:", iterator._send_idx)
try:
    DataLoader(range(32), prefetch_factor=3)
except ValueError as error:
    print("ValueError:", error)
