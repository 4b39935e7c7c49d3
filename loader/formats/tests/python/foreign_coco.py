"""Annotations in COCO as annotation tools write them, read by pycocotools as torchvision's CocoDetection does."""

import contextlib
import io
import json
import random

import numpy as np
from PIL import Image
from pycocotools.coco import COCO

from common import Picture

WIDTH, HEIGHT = 30, 20
NAMES = ["1.png", "2.png", "sub/3.png"]
IMAGES = [{"id": i + 1, "file_name": name, "width": WIDTH, "height": HEIGHT} for i, name in enumerate(NAMES)]
CATEGORIES = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]
LEFT_OUT = object()


def note(own, image, **keys):
    whole = {
        "id": own, "image_id": image, "category_id": 1, "bbox": [2, 3, 10, 8], "area": 80, "iscrowd": 0,
        "segmentation": [[2, 3, 12, 3, 12, 11, 2, 11]],
    } | keys
    return {key: value for key, value in whole.items() if value is not LEFT_OUT}


def images_with(**keys):
    return [image | {key: value(image) for key, value in keys.items()} for image in IMAGES]


def first(**keys):
    return [note(1, 1, **keys), note(2, 2)]


RLE = {"counts": [40, 10, 10, 10, 530], "size": [HEIGHT, WIDTH]}
MINUS = {"area": LEFT_OUT, "iscrowd": LEFT_OUT}

# Files that pycocotools reads.
READ = {
    "plain": first(), "rle_not_crowd": first(segmentation=RLE), "crowd_with_polygons": first(iscrowd=1),
    "short_second_polygon": first(segmentation=[[5, 5, 9, 5, 9, 9], [2, 3, 12, 3]]), "odd_polygon": first(segmentation=[[2, 3, 12, 3, 12, 11, 7]]),
    "floats": [note(1, 1.0, category_id=2.0, iscrowd=0.0, bbox=[2.0, 3.0, 10.0, 8.0])], "same_annotation_id": [*first(), note(1, 2, bbox=[0, 0, 5, 5])],
    "same_id_in_image": [note(1, 1), note(1, 1, bbox=[0, 0, 5, 5])], "lost": [note(1, 1), note(2, 77)], "lost_null": [note(1, 1), note(2, None)],
    "nan_in_bbox": first(bbox=[2, 3, float("nan"), 8]), "infinite_bbox": first(bbox=[2, 3, float("inf"), 8]), "truths": first(iscrowd=False),
    "large_ids": [note(2**63 + 5, 1), note(2**63 + 6, 2)], "outside": first(bbox=[-5, -5, 90, 90], segmentation=[[-5, -5, 90, -5, 90, 90]]),
    "inverted": first(bbox=[12, 11, -10, -8]), "far_category": first(category_id=90), "no_annotations": [], "keys_twice": first(),
    "float_runs": first(segmentation={"counts": [40.0, 10.0, 10.0, 10.0, 530.0], "size": [20.0, 30.0]}),
}
# Files that it refuses, or whose tensors torch refuses, and what is reported of them here.
REFUSED = {
    "bbox_null": (first(bbox=None), "in annotation 1, null is not four numbers"), "bbox_empty": (first(bbox=[]), "in annotation 1, [] is not four"),
    "bbox_text": (first(bbox=["2", "3", "10", "8"]), "is not four numbers"), "bbox_of_five": (first(bbox=[1, 2, 3, 4, 5]), "is not four numbers"),
    "bbox_missing": (first(bbox=LEFT_OUT), "'bbox': in annotation 1, it is missing"), "area_text": (first(area="80"), 'in annotation 1, "80" is not a number'),
    "area_of_two": (first(area=[80, 90]), "[80, 90] is not a number"), "category_text": (first(category_id="1"), '"1" is not an integer'),
    "category_half": (first(category_id=1.5), "1.5 is not an integer"), "category_missing": (first(category_id=LEFT_OUT), "'category_id': in annotation 1"),
    "crowd_text": (first(iscrowd="no"), '"no" is not 0 or 1'), "swapped": (first(segmentation=RLE | {"size": [WIDTH, HEIGHT]}), "20×30 pixels, but its image"),
    "two_points": (first(segmentation=[[2, 3, 12, 3]]), "fewer than three"),
    "two_points_first": (first(segmentation=[[2, 3, 12, 3], [5, 5, 9, 5, 9, 9]]), "fewer than three"), "flat": (first(segmentation=[2, 3, 12, 3, 12, 11]), "must be polygons"),
    "text_polygon": (first(segmentation=[["2", "3", "12", "3", "12", "11"]]), "must be polygons"), "null_polygon": (first(segmentation=[None]), "must be polygons"),
    "nan_polygon": (first(segmentation=[[2, float("nan"), 12, 3, 12, 11]]), "NaN or infinite"), "short_polygon": (first(segmentation=[[2, 3]]), "fewer than three"),
    "runs_too_long": (first(segmentation=RLE | {"counts": [1000]}), "its runs cover more than"), "no_counts": (first(segmentation={"size": [20, 30]}), "must be polygons"),
}


def sample(coco, folder, image_id):
    """A sample of torchvision's CocoDetection, with tensors."""
    image = coco.loadImgs(image_id)[0]
    notes = coco.loadAnns(coco.getAnnIds(image_id))
    boxes = np.array([one["bbox"] for one in notes], "f4").reshape(-1, 4)
    with np.errstate(invalid="ignore"):
        boxes = np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], 1)
    masks = [coco.annToMask(one) for one in notes]
    return (Picture((folder / image["file_name"]).read_bytes()), {
        "image_id": image_id, "boxes": boxes, "labels": np.array([one["category_id"] for one in notes], "i8"),
        "area": np.array([one.get("area", 0) for one in notes], "f4").reshape(-1), "iscrowd": np.array([one.get("iscrowd", 0) for one in notes], "i8"),
        "masks": np.stack(masks) if masks else np.zeros((0, HEIGHT, WIDTH), "u1"),
    })


def read(folder, path):
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO(str(path))
    return [sample(coco, folder, image_id) for image_id in sorted(coco.imgs)]


def pictures(maker):
    folder = maker.path("coco/images/sub/3.png").parent.parent
    x, y = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))
    for i, name in enumerate(NAMES):
        Image.fromarray(np.stack([x * 8, y * 10, (x + y) * 4 + i], -1).astype(np.uint8)).save(folder / name)
    return folder


def put(maker, folder, name, images, notes, categories=CATEGORIES, says=None, text=None, rows=None):
    whole = {"images": images, "annotations": notes} | ({} if categories is None else {"categories": categories})
    path = maker.path(f"coco/{name}.json")
    path.write_bytes(text or json.dumps(whole).encode())
    kind = "COCO, refused by the reference" if says else "COCO"
    maker.foreign(kind, "coco", name, [folder, path], rows or (lambda: read(folder, path)), says=says)


def make_annotations(maker):
    folder = pictures(maker)
    for name, notes in READ.items():
        put(maker, folder, name, IMAGES, notes)
    for name, (notes, says) in REFUSED.items():
        put(maker, folder, name, IMAGES, notes, says=says)
    put(maker, folder, "areas_in_lists", IMAGES, [note(1, 1, area=[80]), note(2, 2, area=[90.5])])
    put(maker, folder, "no_area_no_iscrowd", IMAGES, first(**MINUS))
    put(maker, folder, "no_categories", IMAGES, first(), categories=None)
    put(maker, folder, "category_zero", IMAGES, first(category_id=0), [{"id": 0, "name": "cat"}, {"id": 1, "name": "dog"}])
    put(maker, folder, "category_without_name", IMAGES, first(), [{"id": 1}, {"id": 2, "name": None}])
    put(maker, folder, "same_image_id", [*IMAGES, IMAGES[1] | {"id": 1}], first())
    put(maker, folder, "one_digit_texts", images_with(id=lambda image: str(image["id"])), [note(1, "1"), note(2, "2")])
    put(maker, folder, "large_image_ids", images_with(id=lambda image: 2**64 + image["id"]), [note(1, 2**64 + 1)])
    put(maker, folder, "other_order", IMAGES[::-1], first()[::-1])
    put(maker, folder, "no_file_name", [IMAGES[0] | {"file_name": None}], first(), says="in image 1, it is missing")
    put(maker, folder, "windows_path", images_with(file_name=lambda image: image["file_name"].replace("/", "\\")), first(), says="Write / instead of")
    put(maker, folder, "url", images_with(file_name=lambda image: "http://localhost/1.png"), first(), says="Download the image")
    put(maker, folder, "no_image_id", [{"file_name": "1.png"}], first(), says="an image has no id")
    put(maker, folder, "size_text", images_with(width=lambda image: "30"), first(), says="its width and height must be integers")
    put(maker, folder, "lone_surrogate", [IMAGES[0] | {"file_name": "\ud800.png"}], first(), says="lone surrogate")
    put(maker, folder, "list", IMAGES, first(), text=b"[1]", says="must have an object")


def make_read_here_only(maker):
    """Files that pycocotools refuses, and that have one meaning: the same as another file."""
    folder = pictures(maker)
    whole = json.dumps({"images": IMAGES, "annotations": first(), "categories": CATEGORIES})
    plain = maker.path("coco/plain.json")
    same = lambda: read(folder, plain)
    put(maker, folder, "mark", None, None, text=b"\xef\xbb\xbf" + whole.encode(), rows=same)
    put(maker, folder, "utf16", None, None, text=whole.encode("utf-16"), rows=same)
    put(maker, folder, "size_as_float", images_with(width=lambda i: 30.0, height=lambda i: 20.0), first(), rows=same)
    put(maker, folder, "size_null", images_with(width=lambda i: None, height=lambda i: None), first(), rows=same)
    named = images_with(id=lambda image: image["file_name"])
    texts = lambda: [(picture, target | {"image_id": name}) for (picture, target), name in zip(same(), NAMES)]
    put(maker, folder, "name_as_id", named, [note(1, "1.png"), note(2, "2.png")], rows=texts)

    def without_mask():
        rows = same()
        rows[0][1]["masks"] = np.zeros_like(rows[0][1]["masks"])
        return rows

    for name, cut in {"empty_segmentation": [], "empty_polygon": [[]], "segmentation_null": None, "no_segmentation": LEFT_OUT}.items():
        put(maker, folder, name, IMAGES, first(segmentation=cut), rows=without_mask)


def make_random_polygons(maker):
    folder = pictures(maker)
    for n in range(20):
        rng = random.Random(n)
        notes = []
        for own in range(8):
            count = rng.choice([3, 3, 4, 5, 9])
            spread = rng.choice([1, 1, 2])
            corner = lambda size: round(rng.uniform(1 - spread, spread) * size, rng.randrange(3))
            polygons = [[corner(size) for _ in range(count) for size in (WIDTH, HEIGHT)] for _ in range(rng.randrange(1, 3))]
            notes.append(note(own, rng.randrange(1, 4), segmentation=polygons, category_id=rng.randrange(1, 3), iscrowd=rng.choice([0, 1, 0.0, True])))
        put(maker, folder, f"random-{n}", IMAGES, notes)
