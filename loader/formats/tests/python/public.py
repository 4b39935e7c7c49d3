"""Public data as they come inside packages of PyPI and Debian: read where they lie, left out where the package is missing.

    scikit-learn                 iris, breast cancer, wine, Linnerud: tables as text
    vega_datasets                airports, temperatures, employment, …: tables as text
    palmerpenguins               penguins, with missing values and points in texts
    pyarrow                      tables by column that earlier releases wrote (in its tests)
    sound-theme-freedesktop      sounds of a desktop: Ogg Vorbis
    alsa-utils                   spoken names of loudspeakers: WAV
"""

import importlib.util
import warnings
from pathlib import Path

import numpy as np

SOUNDS = Path("/usr/share/sounds")


def folder_of(package):
    """Where a package lies; it is not imported."""
    spec = importlib.util.find_spec(package)
    return Path(spec.submodule_search_locations[0]) if spec else None


def make_public_tables(maker):
    import pandas as pd
    from tables import rows_of

    for package, inside in (("sklearn", "datasets/data"), ("vega_datasets", "_data"), ("palmerpenguins", "data")):
        root = folder_of(package)
        if root is None:
            maker.missing("public tables", package)
            continue
        for path in sorted((root / inside).glob("*.csv")):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                table = pd.read_csv(path, low_memory=False)
            # With fewer names than columns pandas makes an index of the first ones. Here such a table is refused.
            if isinstance(table.index, pd.RangeIndex):
                maker.case("csv", f"{package}-{path.stem}", path, list(rows_of(table)))


def make_public_columns(maker):
    root = folder_of("pyarrow")
    files = sorted((root / "tests/data/parquet").glob("*.parquet")) if root else []
    if not files:
        maker.missing("public tables by column", "pyarrow, with its tests")
        return
    import pyarrow.parquet as pq
    from columns import rows_of

    for path in files:
        # As the file has them: its note for pandas would make an index of columns.
        table = pq.ParquetFile(path).read()
        maker.case("parquet", f"pyarrow-{path.stem}", path, rows_of(table))


def make_public_sounds(maker):
    for package in ("freedesktop", "alsa"):
        files = [path for path in sorted((SOUNDS / package).rglob("*")) if path.suffix in (".oga", ".wav") and not path.is_symlink()]
        if not files:
            name = {"freedesktop": "sound-theme-freedesktop", "alsa": "alsa-utils"}[package]
            maker.missing("public sounds", f"{name} (of Debian)")
            continue
        try:
            import soundfile as sf
        except ModuleNotFoundError:
            maker.missing("public sounds", "soundfile")
            return
        for path in files:
            read, rate = sf.read(path, dtype="float32", always_2d=True)
            row = {"waveform": np.ascontiguousarray(read.T), "rate": rate}
            maker.case("audio", f"{package}-{path.stem}", path, [row], close=2e-6 if path.suffix == ".oga" else None)
