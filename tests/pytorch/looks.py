"""Pictures of batches, on request: really there, of what is a picture and of nothing else, and the program does not notice."""

import base64
import os

from recording import HERE, Recording, check_joined, must, recorded, run

KEPT = 4
# Side of what is kept, in pixels: half of what the program loads.
SIDE = 64
RAMPS = {
    "chw bytes": (SIDE, SIDE, 3),
    "hwc bytes": (SIDE, SIDE, 3),
    "chw unit": (SIDE, SIDE, 3),
    "chw normalised": (SIDE, SIDE, 3),
    "chw half": (SIDE, SIDE, 3),
    "chw grey": (SIDE, SIDE, 1),
    "hwc grey": (SIDE, SIDE, 1),
    "bytes without a channel": (SIDE, SIDE, 1),
    "wide": (SIDE, 4, 3),
}


def check_previews(loadscope, python, start, folder):
    """The batches, the random numbers and the output are the same with pictures and without."""
    command = [python, str(HERE / "previews.py"), start]
    bare = run(command)
    must(bare.returncode == 0, "the bare program fails: " + bare.stderr[-500:])
    seen = 0
    for kept in (0, KEPT):
        log = os.path.join(folder, "log-%d.jsonl" % kept)
        came = recorded(loadscope, log, command, "--previews", str(kept))
        must((came.returncode, came.stdout) == (0, bare.stdout), "the output differs: " + came.stdout + came.stderr[-500:])
        recording = Recording(log)
        recording.whole()
        check_joined(recording.runs[0], "previews")
        contents = [event for event in recording.runs[0] if event["e"] == "content"]
        must(contents, "no batch was looked into")
        for content in contents:
            seen += check_fields({field["name"]: field for field in content["fields"]}, kept)
    must(seen, "no pictures came")
    return "%d pictures of %d batches" % (seen, len(contents))


def check_fields(fields, kept):
    """Answers how many pictures there are."""
    pictures = {name[2:-2]: field["data"]["pictures"] for name, field in fields.items() if "pictures" in field["data"]}
    expected = {*RAMPS, "noise"} if kept else set()
    must(set(pictures) == expected, "pictures of %s" % sorted(pictures))
    must('["label"]' in fields and '["empty"]' in fields, "fields are missing: %s" % sorted(fields))
    seen = 0
    for name, shape in RAMPS.items() if kept else ():
        picture = pictures[name]
        came = picture["width"], picture["height"], picture["channels"]
        must(came == shape, "%s: width, height, channels are %s" % (name, came))
        pixels = base64.b64decode(picture["pixels"])
        must(len(pixels) == kept * came[0] * came[1] * came[2], "%s: %d bytes" % (name, len(pixels)))
        row = pixels[: came[0] * came[2] : came[2]]
        must(list(row) == sorted(row) and row[0] < 8 and row[-1] > 240, "%s is no ramp: %s" % (name, list(row)))
        seen += kept
    return seen
