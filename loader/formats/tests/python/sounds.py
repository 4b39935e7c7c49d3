"""Sounds."""

import numpy as np
import soundfile as sf


def noise(rng, frames, channels):
    return (rng.random((frames, channels)) * 2 - 1) * 0.9


def make_sounds(maker):
    rng = np.random.default_rng(12)
    forms = {
        "wav": ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ULAW", "ALAW"], "flac": ["PCM_S8", "PCM_16", "PCM_24"],
        "ogg": ["VORBIS"],
    }
    for ending, subtypes in forms.items():
        for subtype in subtypes:
            for channels in range(1, 9):
                for frames, rate in ((0, 8000), (1, 44100), (5001, 16000), (40_000, 48000)):
                    # Ogg Vorbis of more than two channels is refused.
                    if ending == "ogg" and channels > 2:
                        continue
                    if frames == 0 and ending != "wav" or channels in (4, 5, 7) and frames > 6000:
                        continue
                    name = f"{ending}-{subtype}-{channels}-{frames}"
                    path = maker.path(f"audio/{name}.{ending}")
                    sf.write(path, noise(rng, frames, channels), rate, subtype=subtype)
                    read, rate = sf.read(path, dtype="float32", always_2d=True)
                    row = {"waveform": np.ascontiguousarray(read.T), "rate": rate}
                    close = 2e-6 if ending == "ogg" else None
                    maker.case("audio", name, path, [row], close=close)


def make_folders(maker):
    rng = np.random.default_rng(13)
    rows = []
    for label, name in enumerate(["bird", "cat"]):
        for i in range(3):
            path = maker.path(f"audio/classes/{name}/{i}/{label}.wav")
            sf.write(path, noise(rng, 50 + i, 1), 8000)
            read, rate = sf.read(path, dtype="float32", always_2d=True)
            rows.append({"waveform": read.T, "rate": rate, "label": label})
    maker.path("audio/classes/cat/notes.txt").write_text("no sound")
    maker.case("audio", "classes", maker.path("audio/classes"), rows, classes=["bird", "cat"], labels=[0, 0, 0, 1, 1, 1])
