"""Makes annotated pictures in the layouts of PASCAL VOC and COCO, and writes what torchvision and pycocotools make of them.

    python pictures.py FOLDER [--count 60]

Needs torch, torchvision, pycocotools, numpy and Pillow.
"""

import argparse
import json
import pathlib
import random

import numpy
import torch
from PIL import Image
from pycocotools import mask as coco_mask
from torchvision import datasets, tv_tensors
from torchvision.transforms import v2
from torchvision.transforms.functional import pil_to_tensor

from expected import write

CLASSES = ("aeroplane", "cat", "dog", "person", "tvmonitor")
SQUARE = 64
# The sizes of pictures: small ones in all forms, of which many are compared; with --large as VOC and COCO have them, baseline JPEG with
# 4:2:0, a few grey.
SIZES = {"width": (24, 220), "height": (24, 180)}


def picture(rng, path, at):
    """A picture of smooth colors with some texture, in one of the forms that JPEG has."""
    width, height = rng.randint(*SIZES["width"]), rng.randint(*SIZES["height"])
    x = numpy.linspace(0, 3 + at % 5, width)
    y = numpy.linspace(0, 2 + at % 3, height)[:, None]
    planes = [127 + 120 * numpy.sin(x * (k + 1) + y * (3 - k) + at) for k in range(3)]
    pixels = numpy.stack(planes, -1)
    pixels += numpy.random.default_rng(at).normal(0, 6, pixels.shape)
    image = Image.fromarray(pixels.clip(0, 255).astype("uint8"))
    is_real = SIZES["width"][0] > 400
    if at % (50 if is_real else 7) == 3:
        image = image.convert("L")
    if path.suffix == ".png":
        image.save(path)
    elif is_real:
        image.save(path, quality=75 + at % 20, subsampling="4:2:0")
    else:
        image.save(path, quality=60 + at % 40, subsampling=at % 3, progressive=at % 5 == 4)
    return width, height


def voc_xml(rng, name, width, height):
    """An annotation, and what it says of difficult objects."""
    objects = []
    for _ in range(rng.randint(0, 4)):
        x0, y0 = rng.randint(1, width - 8), rng.randint(1, height - 8)
        x1, y1 = rng.randint(x0 + 1, width), rng.randint(y0 + 1, height)
        part = (
            "<part>\n<name>head</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></part>"
            if rng.random() < 0.3
            else ""
        )
        objects.append(
            f"\t<object>\n\t\t<name>{rng.choice(CLASSES)}</name>\n\t\t<pose>Left</pose>\n\t\t<truncated>0</truncated>\n"
            f"\t\t<difficult>{int(rng.random() < 0.3)}</difficult>\n\t\t<bndbox>\n\t\t\t<xmin>{x0}</xmin>\n"
            f"\t\t\t<ymin>{y0}</ymin>\n\t\t\t<xmax>{x1}</xmax>\n\t\t\t<ymax>{y1}</ymax>\n\t\t</bndbox>{part}\n\t</object>\n"
        )
    return (
        f"<annotation>\n\t<folder>VOC2012</folder>\n\t<filename>{name}.jpg</filename>\n\t<size>\n\t\t<width>{width}</width>\n"
        f"\t\t<height>{height}</height>\n\t\t<depth>3</depth>\n\t</size>\n\t<segmented>1</segmented>\n"
        f"{''.join(objects)}</annotation>\n"
    )


def make_voc(root, count):
    rng = random.Random(1)
    base = root / "VOCdevkit" / "VOC2012"
    for folder in ("Annotations", "JPEGImages", "SegmentationClass", "ImageSets/Main", "ImageSets/Segmentation"):
        (base / folder).mkdir(parents=True, exist_ok=True)
    names = [f"2012_{at:06}" for at in range(count)]
    for at, name in enumerate(names):
        width, height = picture(rng, base / "JPEGImages" / f"{name}.jpg", at)
        (base / "Annotations" / f"{name}.xml").write_text(voc_xml(rng, name, width, height))
        mask = numpy.zeros((height, width), "uint8")
        for _ in range(3):
            x, y = rng.randrange(width), rng.randrange(height)
            mask[y : y + 20, x : x + 30] = rng.choice([1, 8, 15, 20, 255])
        image = Image.fromarray(mask, "P" if at % 4 else "L")
        if at % 4:
            image.putpalette([rng.randrange(256) for _ in range(768)])
        image.save(base / "SegmentationClass" / f"{name}.png")
    train, val = names[::2], names[1::2]
    rng.shuffle(train)
    for kind in ("Main", "Segmentation"):
        (base / "ImageSets" / kind / "train.txt").write_text("".join(f"{name}\n" for name in train))
        (base / "ImageSets" / kind / "val.txt").write_text("".join(f"{name}\n" for name in val))


def voc_target(target, raw):
    """What torchvision's own wrapper makes of an annotation, in our order; it leaves an empty one without boxes."""
    objects = raw["annotation"].get("object", [])
    boxes = target["boxes"].float() if "boxes" in target else torch.zeros(0, 4)
    return {
        "image_id": raw["annotation"]["filename"].removesuffix(".jpg"),
        "boxes": boxes.as_subclass(torch.Tensor),
        "labels": torch.tensor(list(target.get("labels", [])), dtype=torch.int64),
        "difficult": torch.tensor([int(one["difficult"]) for one in objects], dtype=torch.int64),
    }


def tensor(image):
    return pil_to_tensor(image.convert("RGB"))


def write_voc(root, out):
    plain = datasets.VOCDetection(str(root), year="2012", image_set="train")
    wrapped = datasets.wrap_dataset_for_transforms_v2(
        datasets.VOCDetection(str(root), year="2012", image_set="train"), target_keys="all"
    )
    samples = []
    squares = []
    resize = v2.Resize((SQUARE, SQUARE), antialias=True)
    for at in range(len(plain)):
        raw = plain[at][1]
        objects = raw["annotation"].get("object", [])
        # The wrapper cannot make boxes of no objects.
        image, target = wrapped[at] if objects else (plain[at][0], {})
        samples.append((tensor(image), voc_target(target, raw)))
        small = voc_target(target, raw)
        if objects:
            boxes = tv_tensors.BoundingBoxes(target["boxes"].float(), format="XYXY", canvas_size=image.size[::-1])
            small["boxes"] = resize(boxes).as_subclass(torch.Tensor)
        squares.append((resize(tensor(image)), small))
    write(out, "voc", samples)
    write(out, "voc_square", squares)
    masks = []
    mask_squares = []
    segmentation = datasets.VOCSegmentation(str(root), year="2012", image_set="val")
    detection = datasets.VOCDetection(str(root), year="2012", image_set="val")
    wrapped = datasets.wrap_dataset_for_transforms_v2(
        datasets.VOCDetection(str(root), year="2012", image_set="val"), target_keys="all"
    )
    for at, ((image, mask), (_, raw)) in enumerate(zip(segmentation, detection)):
        target = voc_target(wrapped[at][1] if raw["annotation"].get("object") else {}, raw)
        mask = torch.from_numpy(numpy.array(mask))
        masks.append((tensor(image), target | {"mask": mask}))
        mask_squares.append(resize(tv_tensors.Mask(mask[None]))[0].as_subclass(torch.Tensor))
    write(out, "voc_segmentation", masks)
    write(out, "voc_masks_square", mask_squares)


def outline(rng, width, height):
    """Polygons of all kinds: usual ones, outside of the picture, thin, doubled, with corners between pixels."""
    kind = rng.randrange(6)
    count = rng.randint(3, 9)
    spread = 1.6 if kind == 1 else 1.0
    cx, cy = rng.uniform(0, width), rng.uniform(0, height)
    corners = []
    for _ in range(count):
        x = cx + rng.uniform(-0.5, 0.5) * width * spread
        y = cy + rng.uniform(-0.5, 0.5) * height * spread
        if kind == 2:
            x, y = round(x), round(y)
        elif kind == 3:
            x, y = round(x * 2) / 2, round(y * 2) / 2
        elif kind == 0:
            x = cx
        elif kind == 4:
            y = cy + rng.uniform(-1, 1)
        corners += [round(x, 2), round(y, 2)]
    if kind == 5:
        corners += corners[:2]
    return corners


def segmentation(rng, width, height):
    kind = rng.randrange(4)
    if kind < 2:
        return [outline(rng, width, height) for _ in range(rng.randint(1, 3))], 0
    pixels = numpy.zeros((height, width), "uint8", order="F")
    x, y = rng.randrange(width), rng.randrange(height)
    pixels[y : y + rng.randint(1, 60), x : x + rng.randint(1, 60)] = 1
    pixels[rng.randrange(height), :: rng.randint(1, 5)] = 1
    if kind == 2:
        flat = pixels.flatten(order="F")
        ends = numpy.flatnonzero(numpy.diff(flat)) + 1
        runs = numpy.diff([0, *ends, len(flat)]).tolist()
        counts = ([0] if flat[0] else []) + runs
        return {"counts": counts, "size": [height, width]}, 1
    packed = coco_mask.encode(pixels)
    return {"counts": packed["counts"].decode(), "size": [height, width]}, 1


def make_coco(root, count):
    rng = random.Random(2)
    images = root / "images"
    images.mkdir(parents=True, exist_ok=True)
    listed, notes, captions, people = [], [], [], []
    ids = rng.sample(range(1000), count)
    for at, image_id in enumerate(ids):
        ending = "png" if at % 6 == 5 and SIZES["width"][0] < 400 else "jpg"
        name = f"{image_id:012}.{ending}"
        width, height = picture(rng, images / name, at + 500)
        listed.append({"id": image_id, "file_name": name, "width": width, "height": height, "license": 1})
        for _ in range(rng.randint(0, 5)):
            cut, crowd = segmentation(rng, width, height)
            x, y = rng.uniform(0, width / 2), rng.uniform(0, height / 2)
            bbox = [round(v, 2) for v in (x, y, rng.uniform(1, width / 2), rng.uniform(1, height / 2))]
            note = {"id": len(notes) + 1, "image_id": image_id, "category_id": rng.choice([1, 3, 18]), "bbox": bbox}
            note |= {"area": round(bbox[2] * bbox[3], 3), "iscrowd": crowd, "segmentation": cut}
            notes.append(note)
            points = [rng.choice([0, rng.randrange(width), rng.randrange(3)]) for _ in range(3 * 5)]
            people.append(note | {"keypoints": points, "num_keypoints": 5, "category_id": 1})
        for _ in range(rng.randint(0, 5)):
            text = rng.choice(["A cat.", 'Two "dogs" play\n', "Ein Hund auf der Straße", "猫 🐈", "a\\b"])
            captions.append({"id": len(captions) + 1, "image_id": image_id, "caption": text})
    rng.shuffle(notes)
    categories = [{"id": 1, "name": "person"}, {"id": 3, "name": "car"}, {"id": 18, "name": "dog"}]
    for name, found in (("instances", notes), ("captions", captions), ("keypoints", people)):
        whole = {"info": {"year": 2012}, "images": listed, "annotations": found}
        # Captions have no classes.
        whole |= {} if name == "captions" else {"categories": categories}
        (root / f"{name}.json").write_text(json.dumps(whole))


def coco_sample(dataset, at, keypoints):
    image, notes = dataset[at]
    width, height = image.size
    boxes = torch.tensor([note["bbox"] for note in notes], dtype=torch.float32).reshape(-1, 4)
    target = {
        "image_id": dataset.ids[at],
        "boxes": torch.cat([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], 1),
        "labels": torch.tensor([note["category_id"] for note in notes], dtype=torch.int64),
        "area": torch.tensor([note["area"] for note in notes], dtype=torch.float32),
        "iscrowd": torch.tensor([note["iscrowd"] for note in notes], dtype=torch.int64),
    }
    if keypoints:
        points = torch.tensor([note["keypoints"] for note in notes], dtype=torch.float32)
        target["keypoints"] = points.reshape(len(notes), -1 if notes else 0, 3)
    else:
        masks = [torch.from_numpy(dataset.coco.annToMask(note)) for note in notes]
        target["masks"] = torch.stack(masks) if masks else torch.zeros(0, height, width, dtype=torch.uint8)
    return tensor(image), target


def write_coco(root, out):
    instances = datasets.CocoDetection(str(root / "images"), str(root / "instances.json"))
    samples = [coco_sample(instances, at, False) for at in range(len(instances))]
    write(out, "coco", samples)
    resize = v2.Resize((SQUARE, SQUARE), antialias=True)
    squares = []
    for image, target in samples:
        boxes = tv_tensors.BoundingBoxes(target["boxes"], format="XYXY", canvas_size=image.shape[1:])
        small = target | {
            "boxes": resize(boxes).as_subclass(torch.Tensor),
            "masks": resize(tv_tensors.Mask(target["masks"])).as_subclass(torch.Tensor)
            if len(target["masks"])
            else torch.zeros(0, SQUARE, SQUARE, dtype=torch.uint8),
        }
        squares.append((resize(image), small))
    write(out, "coco_square", squares)
    people = datasets.CocoDetection(str(root / "images"), str(root / "keypoints.json"))
    write(out, "coco_keypoints", [coco_sample(people, at, True) for at in range(len(people))])
    told = datasets.CocoCaptions(str(root / "images"), str(root / "captions.json"))
    write(
        out,
        "coco_captions",
        [(tensor(image), {"image_id": told.ids[at], "captions": texts}) for at, (image, texts) in enumerate(told)],
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--only-data", action="store_true", help="make the pictures, not what is expected of them")
    parser.add_argument("--large", action="store_true", help="pictures of the sizes of VOC and COCO")
    options = parser.parse_args()
    if options.large:
        SIZES.update(width=(480, 640), height=(333, 480))
    make_voc(options.folder / "voc", options.count)
    make_coco(options.folder / "coco", options.count)
    if not options.only_data:
        write_voc(options.folder / "voc", options.folder / "expected")
        write_coco(options.folder / "coco", options.folder / "expected")


if __name__ == "__main__":
    main()
