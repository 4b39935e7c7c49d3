"""WAV files of pipes, long recordings and big-endian programs."""

import io
import struct

import numpy as np
import soundfile as sf

from sounds import noise

MAXIMA = {"ff": 0xFFFFFFFF, "7f": 0x7FFFFFFF, "80": 0x80000000, "sox": 0x7FFFF000, "ffe": 0xFFFFFFFE}
INFO = b"LIST" + struct.pack("<I", 26) + b"INFOISFT" + struct.pack("<I", 14) + b"Lavf60.16.100\0"


def wav(channels, width, data, riff, size, magic=b"RIFF", extra=b"", order="<", tag=1):
    block = channels * width
    head = struct.pack(f"{order}HHIIHH", tag, channels, 8000, 8000 * block, block, 8 * width)
    return (magic + struct.pack(f"{order}I", riff) + b"WAVEfmt " + struct.pack(f"{order}I", 16) + head + extra + b"data"
            + struct.pack(f"{order}I", size) + data)


def read(path):
    samples, rate = sf.read(path, dtype="float32", always_2d=True)
    return [{"waveform": np.ascontiguousarray(samples.T), "rate": rate}]


def put(maker, kind, name, data, says=None):
    path = maker.path(f"foreign-audio/{name}.wav")
    path.write_bytes(data)
    maker.foreign(kind, "audio", name, path, lambda: read(path), says=says)


def make_pipes(maker):
    rng = np.random.default_rng(31)
    for name, size in MAXIMA.items():
        for channels, width in ((1, 2), (2, 2), (1, 1), (6, 3), (2, 4)):
            data = rng.bytes(channels * width * 501)
            rounded = size - size % (channels * width) if name == "sox" else size
            for extra in (b"", INFO):
                kind = f"{name}-{channels}-{width}-{len(extra)}"
                put(maker, "WAV of a pipe", kind, wav(channels, width, data, min(size + 36, 2**32 - 1), rounded, extra=extra))
    data = rng.bytes(2002)
    put(maker, "WAV of a pipe", "cut", wav(2, 2, data, 2**32 - 1, 2**32 - 1))
    put(maker, "WAV of a pipe", "not-closed", wav(1, 2, data, 8, 0))
    put(maker, "WAV of a pipe", "empty", wav(1, 2, b"", 36, 0))
    put(maker, "WAV of a pipe", "empty-list", wav(1, 2, INFO, 36 + len(INFO), 0))
    for name, riff in (("open-36", 36), ("open-0", 0), ("open-ff", 2**32 - 1)):
        put(maker, "WAV of a pipe", name, wav(1, 2, data, riff, 0), says="declares 0 samples, but samples follow")
    put(maker, "WAV of a pipe", "float", wav(2, 4, noise(rng, 99, 2).astype("<f4").tobytes(), 2**32 - 1, 2**32 - 1, tag=3))


def make_long_and_big_endian(maker):
    rng = np.random.default_rng(32)
    for subtype in ("PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ULAW", "ALAW"):
        for channels in (1, 2, 6):
            for form, endian in (("RF64", "FILE"), ("WAV", "BIG"), ("WAVEX", "BIG"), ("WAVEX", "FILE")):
                if not sf.check_format(form, subtype, endian):
                    continue
                buffer = io.BytesIO()
                sf.write(buffer, noise(rng, 333, channels), 16000, format=form, subtype=subtype, endian=endian)
                put(maker, f"WAV, {form} {endian}", f"{form}-{endian}-{subtype}-{channels}", buffer.getvalue())


def make_other_sounds(maker):
    rng = np.random.default_rng(33)
    for form, subtype, says in (
        ("AIFF", "PCM_16", "it is AIFF, and only"), ("AU", "PCM_16", "it is AU, and only"), ("CAF", "PCM_16", "it is CAF, and only"),
        ("MP3", "MPEG_LAYER_III", "it is MP3, and only"), ("WAV", "GSM610", "WAV with GSM 6.10"), ("OGG", "OPUS", "it is Ogg Opus"),
        ("WAV", "MS_ADPCM", "WAV with Microsoft ADPCM"), ("WAV", "IMA_ADPCM", "WAV with IMA ADPCM"), ("W64", "PCM_16", "it is Wave64"),
    ):
        buffer = io.BytesIO()
        sf.write(buffer, noise(rng, 4000, 1), 8000, format=form, subtype=subtype)
        put(maker, "sounds of other formats", f"other-{form}-{subtype}", buffer.getvalue(), says=says)
    put(maker, "sounds of other formats", "text", b"hello, this is no sound\n" * 50, says="not a supported WAV, FLAC or Ogg Vorbis")
