[
    "DataLoader", "PyTorch", "Loadscope", "Python", "IterableDataset", "JSON", "PNG", "JPEG", "SPDL", "LotusTrace", "Perfetto", "CPU",
    "GPU", "NumPy", "CSV", "SQL", "Ctrl", "Shift", "Alt", "Esc", "Enter", "Space", "Home", "End", "Tab", "English", "rank", "Rank",
    "True", "False", "None", "ms", "ns", "kB", "MB", "GB", "dataset", "shuffle", "sampler", "timeout", "generator", "epochs", "step",
    "collate", "replacement", "default", "fork", "spawn", "forkserver", "mlock", "RSS", "PSS", "ID", "id", "NaN", "inf", "digits",
]
