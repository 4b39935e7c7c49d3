"""Encodes each folder of frames in FRAMES as FOLDER/NAME.webp. Needs Pillow.

    python film.py FRAMES FOLDER
"""

import pathlib
import sys

from PIL import Image

# Time between two frames, and of the last frame before the repetition, ms.
BETWEEN, LAST = 83, 2000
# Maximum size of an image, bytes. Larger ones delay the pages that show them.
LARGEST = 2_000_000

folders = sorted(pathlib.Path(sys.argv[1]).iterdir())
if not folders:
    sys.exit("The test drew no frames.")
for folder in folders:
    images = [Image.open(path).convert("RGBA") for path in sorted(folder.iterdir())]
    path = pathlib.Path(sys.argv[2], folder.name + ".webp")
    # Lossless encoding keeps text sharp, and unchanged areas are free.
    images[0].save(path, save_all=True, append_images=images[1:], lossless=True, quality=60, method=3, minimize_size=True, loop=0,
                   duration=[BETWEEN] * (len(images) - 1) + [LAST])
    size = path.stat().st_size
    print("%s: %d frames, %.0f kB" % (path, len(images), size / 1e3))
    if size > LARGEST:
        sys.exit("%s is larger than 2 MB. Make its film shorter." % path)
