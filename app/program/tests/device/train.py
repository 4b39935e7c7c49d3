"""Training steps that add 30 ms of work for a simulated device and return at once."""

import json, sys, time
sys.path.insert(0, sys.argv[1])
import torch
from torch.utils.data import DataLoader, Dataset
import simulated_device as device

class Samples(Dataset):
    def __len__(self):
        return 120
    def __getitem__(self, index):
        time.sleep(float(sys.argv[3]))
        return torch.zeros(8)

device.install()
waits = []
batches = iter(DataLoader(Samples(), 2, num_workers=1))
for _ in range(60):
    start = time.perf_counter()
    next(batches)
    waits.append((start, time.perf_counter()))
    device.launch(0.03)
time.sleep(0.6)
next(batches, None)
idle = sum(device.idle_within(*wait) for wait in waits)
waited = sum(end - start for start, end in waits)
json.dump([idle, waited, device.waits_of_probe], open(sys.argv[2], "w"))
