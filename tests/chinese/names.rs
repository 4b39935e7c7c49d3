[
    "DataLoader", "PyTorch", "Loadscope", "Python", "IterableDataset", "SequentialSampler", "RandomSampler", "ValueError",
    "UnidentifiedImageError", "JSON", "PNG", "JPEG", "SPDL", "LotusTrace", "Perfetto", "CPU", "GPU", "NumPy", "CSV", "SQL", "Ctrl",
    "Shift", "Alt", "Esc", "Enter", "Space", "Home", "End", "Tab", "Backspace", "PageDown", "PageUp", "English", "rank", "Rank", "True",
    "False", "None", "ms", "ns", "kB", "MB", "GB", "dataset", "shuffle", "sampler", "timeout", "generator", "epochs", "step", "collate",
    "replacement", "default", "fork", "spawn", "forkserver", "mlock", "RSS", "PSS", "ID", "id", "NaN", "inf", "digits", "loader", "data",
    "min", "max", "mean", "std", "class", "jsonl", "loadscope", "watch", "python",
    // Search terms are typed in English.
    "batch", "sample", "worker", "slower", "than", "slowest", "waits", "longer", "errors", "out", "of", "order", "at", "late", "early", "fetch",
    // Messages of a recording.
    "cos", "dow", "is", "empty", "Delete", "it", "or", "copy", "again", "in",
]
