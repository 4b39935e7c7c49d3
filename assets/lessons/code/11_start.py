from torch.utils.data import DataLoader


def numbers(method):
    loader = DataLoader(range(4), batch_size=2, num_workers=1, collate_fn=lambda all: sum(all), multiprocessing_context=method)
    try:
        return list(loader)
    except Exception as error:
        return type(error).__name__


if __name__ == "__main__":
    for method in ("fork", "spawn"):
        print(method, "with a lambda:", numbers(method))
