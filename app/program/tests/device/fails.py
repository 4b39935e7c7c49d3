"""A device whose events raise errors after the tenth one."""

import sys
sys.path.insert(0, sys.argv[1])
import torch
from torch.utils.data import DataLoader
import simulated_device as device

class Event(device.Event):
    count = 0

    def record(self, stream=None):
        Event.count += 1
        if Event.count > 10:
            raise RuntimeError("CUDA error: device-side assert triggered")
        super().record(stream)

device.install()
torch.cuda.Event = Event
for epoch in range(2):
    for batch in DataLoader(torch.zeros(20, 8), num_workers=1):
        device.launch(0.001)
print("events", Event.count)
