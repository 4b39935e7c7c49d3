"""Makes a folder of classes with pictures in the formats and modes of torchvision's ImageFolder, and writes what it makes of them.

    python folders.py FOLDER

Each class has one kind of picture. FOLDER/kinds.json lists which classes are compressed without loss, and the pictures that are refused.
Needs torch, torchvision, numpy and Pillow.
"""

import json
import pathlib
import sys

import numpy
from PIL import Image
from torchvision import datasets
from torchvision.transforms.functional import pil_to_tensor

from expected import write

SIDE = 24
SEEDS = range(4)


def colors(seed):
    """Smooth colors with some noise."""
    rng = numpy.random.default_rng(seed)
    y, x = numpy.mgrid[0:SIDE, 0:SIDE]
    planes = [x * 10, y * 10, (x + y) * 5]
    return (numpy.stack(planes, -1) + rng.integers(0, 16, (SIDE, SIDE, 3))).clip(0, 255).astype("uint8")


def rgb(seed):
    return Image.fromarray(colors(seed))


def alpha(seed):
    return Image.fromarray(numpy.dstack([colors(seed), colors(seed + 9)[..., 0]]))


def grey16(seed):
    """Depths: of 12 bits, of 16 bits, some below 256."""
    values = colors(seed)[..., 0].astype("uint16")
    return Image.fromarray(values * (1, 16, 257, 3)[seed % 4] + (0, 0, 255, 1)[seed % 4])


def ink(seed):
    black = colors(seed + 5)[..., :1]
    return Image.fromarray(numpy.concatenate([colors(seed), black], -1), "CMYK")


def turned(seed):
    exif = Image.Exif()
    exif[0x0112] = (6, 8, 3, 2)[seed % 4]
    return exif


def png_of(color, depth, samples):
    """A PNG of modes that Pillow does not write: 16 bits of colors, 2 and 4 bits of grey."""

    def save(seed, path):
        import struct
        import zlib

        rng = numpy.random.default_rng(seed)
        if depth == 16:
            lines = rng.integers(0, 65536, (SIDE, SIDE * samples)).astype(">u2")
            lines = [line.tobytes() for line in lines]
        else:
            lines = [rng.bytes(SIDE * depth // 8) for _ in range(SIDE)]
        chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        head = struct.pack(">IIBBBBB", SIDE, SIDE, depth, color, 0, 0, 0)
        data = zlib.compress(b"".join(b"\0" + line for line in lines))
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b""))

    return save


def pnm(kind, most, ending="ppm"):
    """A file of the PNM family: `kind` 2, 3 as text, 4, 5, 6 in binary."""

    def save(seed, path):
        rng = numpy.random.default_rng(seed)
        shape = (SIDE, SIDE * (3 if kind in (3, 6) else 1))
        values = rng.integers(0, most + 1, shape)
        head = f"P{kind}\n# made by hand\n{SIDE} {SIDE}\n" + (f"{most}\n" if kind != 4 else "")
        if kind in (2, 3):
            data = "\n".join(" ".join(map(str, line)) for line in values).encode()
        elif kind == 4:
            data = numpy.packbits(values.astype(bool), axis=1).tobytes()
        else:
            data = values.astype(">u2" if most > 255 else "u1").tobytes()
        path.write_bytes(head.encode() + data)

    return save, ending


def by(make, ending, **options):
    return (lambda seed, path: make(seed).save(path, **options)), ending


# A kind of picture: its saver, its ending, and whether nothing is lost.
EXACT = {
    "png_rgb": by(rgb, "png"), "png_rgba": by(alpha, "png"), "png_grey": by(lambda s: rgb(s).convert("L"), "png"),
    "png_grey16": by(grey16, "png"), "png_la": by(lambda s: alpha(s).convert("LA"), "png"), "png_one_bit": by(lambda s: rgb(s).convert("1"), "png"),
    "png_palette": by(lambda s: rgb(s).quantize(16), "png"), "png_palette_alpha": by(lambda s: rgb(s).quantize(200), "png", transparency=3),
    "png_transparent": by(rgb, "png", transparency=(0, 0, 0)), "png_as_jpeg": by(rgb, "JPEG", format="png"), "png_upper": by(rgb, "PNG"),
    "png_rgb16": (png_of(2, 16, 3), "png"), "png_rgba16": (png_of(6, 16, 4), "png"), "png_la16": (png_of(4, 16, 2), "png"),
    "png_two_bits": (png_of(0, 2, 1), "png"), "png_four_bits": (png_of(0, 4, 1), "png"),
    "bmp_rgb": by(rgb, "bmp"), "bmp_grey": by(lambda s: rgb(s).convert("L"), "bmp"), "bmp_palette": by(lambda s: rgb(s).quantize(16), "bmp"),
    "bmp_one_bit": by(lambda s: rgb(s).convert("1"), "bmp"), "bmp_rgba": by(alpha, "bmp"),
    "tiff_rgb": by(rgb, "tiff"), "tiff_lzw": by(rgb, "tif", compression="tiff_lzw"), "tiff_deflate": by(rgb, "tiff", compression="tiff_adobe_deflate"),
    "tiff_packbits": by(rgb, "tiff", compression="packbits"), "tiff_grey": by(lambda s: rgb(s).convert("L"), "tiff"), "tiff_grey16": by(grey16, "tiff"),
    "tiff_rgba": by(alpha, "tiff"), "tiff_one_bit": by(lambda s: rgb(s).convert("1"), "tiff"), "tiff_la": by(lambda s: alpha(s).convert("LA"), "tiff"),
    "tiff_turned": ((lambda s, path: rgb(s).save(path, exif=turned(s))), "tiff"),
    "tiff_pages": ((lambda s, path: rgb(s).save(path, save_all=True, append_images=[rgb(s + 1)])), "tiff"),
    "ppm": by(rgb, "ppm"), "pgm": by(lambda s: rgb(s).convert("L"), "pgm"), "pnm_2": pnm(2, 255, "pgm"), "pnm_3": pnm(3, 255), "pnm_4": pnm(4, 1),
    "pnm_5_low": pnm(5, 31, "pgm"), "pnm_6_low": pnm(6, 100), "pnm_5_deep": pnm(5, 65535, "pgm"), "pnm_5_12": pnm(5, 4095, "pgm"), "pnm_6_deep": pnm(6, 65535),
    "webp_lossless": by(rgb, "webp", lossless=True), "webp_lossless_alpha": by(alpha, "webp", lossless=True, exact=True),
    "webp_animated": ((lambda s, path: rgb(s).save(path, save_all=True, append_images=[rgb(s + 1)], lossless=True)), "webp"),
}
LOSSY = {
    "jpg": by(rgb, "jpg", quality=95), "jpg_420": by(rgb, "jpg", quality=90, subsampling=2), "jpg_progressive": by(rgb, "jpeg", progressive=True),
    "jpg_grey": by(lambda s: rgb(s).convert("L"), "jpg"), "jpg_cmyk": by(lambda s: rgb(s).convert("CMYK"), "jpg", quality=95),
    "jpg_ink": by(ink, "jpg", quality=95), "jpg_turned": ((lambda s, path: rgb(s).save(path, exif=turned(s))), "JPG"),
    "webp": by(rgb, "webp", quality=90), "webp_alpha": by(alpha, "webp", quality=80), "tiff_jpeg": by(rgb, "tiff", compression="jpeg"),
    "tiff_cmyk": by(ink, "tiff"),
}
# Named for what they are.
REFUSED = {
    "gif.png": (lambda path: rgb(0).save(path, format="gif"), "is a GIF file. Convert it to JPEG or PNG"),
    "palette.tiff": (lambda path: rgb(0).quantize(16).save(path), "pixel format that is not supported"),
    "float.tiff": (lambda path: Image.fromarray(colors(0)[..., 0].astype("float32")).save(path), "pixel format that is not supported"),
    "cut.webp": (lambda path: path.write_bytes(b"RIFF\x10\0\0\0WEBPVP8 "), "is incomplete"),
    "text.bmp": (lambda path: path.write_bytes(b"hello"), "cannot identify image file"),
}


def main():
    folder = pathlib.Path(sys.argv[1])
    root = folder / "data"
    for name, (save, ending) in (EXACT | LOSSY).items():
        for seed in SEEDS:
            path = root / name / f"{seed}.{ending}"
            path.parent.mkdir(parents=True, exist_ok=True)
            save(seed, path)
    refused = []
    for name, (save, says) in REFUSED.items():
        path = folder / "refused" / name / name
        path.parent.mkdir(parents=True, exist_ok=True)
        save(path)
        refused.append([name, says])
    data = datasets.ImageFolder(str(root))
    write(folder / "expected", "folder", [(pil_to_tensor(image), label) for image, label in data])
    kinds = {"classes": data.classes, "exact": sorted(EXACT), "refused": refused}
    (folder / "kinds.json").write_text(json.dumps(kinds))


if __name__ == "__main__":
    main()
