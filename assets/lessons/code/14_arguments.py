from torch.utils.data import DataLoader, SequentialSampler

WRONG = [
    dict(persistent_workers=True),
    dict(num_workers=-1),
    dict(shuffle=True, sampler=SequentialSampler(range(8))),
    dict(batch_size=None, drop_last=True),
]
for arguments in WRONG:
    try:
        DataLoader(range(8), **arguments)
    except ValueError as error:
        print(" ".join(arguments), "->", error)
loader = DataLoader(range(8), num_workers=2)
print("prefetch_factor:", loader.prefetch_factor, "in_order:", loader.in_order)
try:
    loader.batch_size = 4
except ValueError as error:
    print("batch_size ->", error)
