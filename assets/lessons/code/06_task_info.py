import time

from torch.utils.data import DataLoader, Dataset


class OneSlow(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        time.sleep(1.0 if index == 0 else 0.01)
        return index


iterator = iter(DataLoader(OneSlow(), batch_size=1, num_workers=2))
print("yielded:", next(iterator).item())
time.sleep(0.2)
for index, info in sorted(iterator._task_info.items()):
    print("task", index, "worker", info[0], "has data:", len(info) == 2)
print("_rcvd_idx", iterator._rcvd_idx, "_send_idx", iterator._send_idx)
