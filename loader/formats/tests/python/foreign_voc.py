"""Annotations in PASCAL VOC in the encodings that tools declare, read by `xml.etree` as torchvision's VOCDetection does."""

import xml.etree.ElementTree as ET

import numpy as np
from PIL import Image

from common import Picture

TEXTS = {
    "utf-8": "Käfer 猫", "UTF-8": "кот", "ISO-8859-1": "Käfer ÿ", "iso-8859-15": "Käfer €", "windows-1252": "“Käfer” €", "windows-1251": "кот",
    "windows-1250": "kočka", "windows-1253": "γάτα", "windows-1254": "kedi ş", "windows-1257": "kaķis", "iso-8859-2": "kočka", "iso-8859-5": "кот",
    "iso-8859-7": "γάτα", "iso-8859-9": "kedi ş", "koi8-r": "кот", "koi8-u": "кіт", "cp437": "Käfer", "cp850": "Käfer", "cp866": "кот", "us-ascii": "bug",
    "utf-16": "Käfer 猫😀",
}


def folder(maker, name):
    root = maker.path(f"voc/{name}/JPEGImages/a.jpg").parent.parent
    Image.new("RGB", (30, 20), (200, 20, 20)).save(root / "JPEGImages/a.jpg")
    (root / "Annotations").mkdir(exist_ok=True)
    return root


def xml(label, encoding=None, quote='"'):
    declared = f"<?xml version={quote}1.0{quote} encoding={quote}{encoding}{quote}?>\n" if encoding else ""
    return (f"{declared}<annotation><filename>a.jpg</filename><object><name>{label}</name><difficult>0</difficult>"
            "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>12</xmax><ymax>11</ymax></bndbox></object></annotation>")


def read(root):
    """As `parse_voc_xml`; the classes are those of the file."""
    tree = ET.parse(root / "Annotations/a.xml").getroot()
    objects = tree.findall("object")
    corner = lambda one, name: float(one.find("bndbox").find(name).text)
    boxes = [[corner(one, name) for name in ("xmin", "ymin", "xmax", "ymax")] for one in objects]
    return [(Picture((root / "JPEGImages/a.jpg").read_bytes()), {
        "image_id": "a", "boxes": np.array(boxes, "f4").reshape(-1, 4), "labels": np.arange(1, len(objects) + 1),
        "difficult": np.array([int(one.find("difficult").text) for one in objects], "i8"),
    })], ["__background__", *(one.find("name").text for one in objects)]


def put(maker, name, text, says=None):
    root = folder(maker, name)
    (root / "Annotations/a.xml").write_bytes(text)
    kind = "VOC, refused by the reference" if says else "VOC, encodings"
    maker.foreign(kind, "voc", name, root, lambda: read(root)[0], says=says)
    if says is None:
        maker.cases[-1]["classes"] = read(root)[1]


def make_encodings(maker):
    for encoding, label in TEXTS.items():
        for quote in ('"', "'"):
            put(maker, f"{encoding}-{ord(quote)}", xml(label, encoding, quote).encode(encoding))
    put(maker, "mark", b"\xef\xbb\xbf" + xml("Käfer", "utf-8").encode())
    put(maker, "no-declaration", xml("Käfer").encode())
    put(maker, "utf-16-plain", xml("Käfer").encode("utf-16"))
    put(maker, "utf-16-be", b"\xfe\xff" + xml("猫", "utf-16").encode("utf-16-be"))
    put(maker, "references", xml("a&amp;b &#228;&#x732b;", "us-ascii").encode())


def make_wrong_encodings(maker):
    put(maker, "latin-as-utf8", xml("Käfer", "utf-8").encode("latin-1"), says="a character is not of the encoding")
    put(maker, "latin-undeclared", xml("Käfer").encode("latin-1"), says="a character is not of the encoding")
    put(maker, "gbk", xml("猫", "gbk").encode("gbk"), says="its encoding gbk is not supported")
    put(maker, "shift-jis", xml("猫", "shift_jis").encode("shift_jis"), says="its encoding shift_jis is not supported")
    put(maker, "unknown", xml("cat", "x-klingon").encode(), says="its encoding x-klingon is not supported")
    put(maker, "ascii", xml("Käfer", "us-ascii").encode("utf-8"), says="a character is not of the encoding")
    put(maker, "cut", xml("cat", "utf-8").encode()[:-30], says="it is truncated")
    put(maker, "crossed", xml("cat").replace("</name>", "</nome>").encode(), says="</nome> closes <name>")
