import time

from torch.utils.data import DataLoader, Dataset


class OneSlow(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        time.sleep(1.5 if index == 2 else 0.1)
        return index


for in_order in (True, False):
    loader = DataLoader(OneSlow(), batch_size=1, num_workers=2, in_order=in_order)
    order = [batch.item() for batch in loader]
    print("in_order=%s: in the order of the sampler:" % in_order, order == sorted(order), "batch 2 comes late:", order.index(2) > 2)
