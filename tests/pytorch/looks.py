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


def check_contents(loadscope, python, start, folder):
    """What belongs together comes with it: targets of detection, masks of padding, curves of sounds, columns."""
    command = [python, str(HERE / "contents.py"), start]
    bare = run(command)
    must(bare.returncode == 0, "the bare program fails: " + bare.stderr[-500:])
    log = os.path.join(folder, "contents.jsonl")
    came = recorded(loadscope, log, command, "--previews", str(KEPT))
    must((came.returncode, came.stdout) == (0, bare.stdout), "the output differs: " + came.stdout + came.stderr[-500:])
    recording = Recording(log)
    recording.whole()
    contents = [[event for event in events if event["e"] == "content"] for events in recording.runs.values()]
    must(len(contents) == 4 and all(contents), "batches were looked into: %s" % list(map(len, contents)))
    detection, words, sounds, rows = ({field["name"]: field for field in events[0]["fields"]} for events in contents)
    check_detection(detection)
    values = [words[name]["data"]["numbers"] for name in ('["input_ids"]', '["attention_mask"]')]
    must(values[1] == [float(value != 0) for value in values[0]], "the mask is that of the values")
    check_sounds(sounds)
    must(rows['["height"]']["data"]["numbers"][3] == "NaN", "a missing number: %s" % rows['["height"]']["data"])
    must(rows['["name"]']["data"]["text"] == ["person %d" % k for k in range(6)], "texts: %s" % rows['["name"]'])
    return "%d batches of detection, words, sounds and rows" % sum(map(len, contents))


def check_detection(fields):
    for sample in range(6):
        at = "[1][%d]" % sample
        height, width = fields["[0][%d]" % sample]["shape"][1:]
        data = fields["[0][%d]" % sample]["data"]
        must(("pictures" in data) == (sample < KEPT) and (sample < KEPT or data == "omitted"), "picture %d: %s" % (sample, str(data)[:80]))
        boxes = fields[at + '["boxes"]']["data"]["numbers"]
        masks = fields[at + '["masks"]']["data"]["pictures"]
        must(len(boxes) == 4 * (sample % 4 + 1), "boxes of %d: %s" % (sample, boxes))
        pixels = base64.b64decode(masks["pixels"])
        must(set(pixels) == {0, 1}, "values of masks: %s" % set(pixels))
        # The first mask is the area of the first box, however that was given.
        step = -(-max(height, width) // 96)
        one = pixels[: masks["width"] * masks["height"]]
        columns = [at % masks["width"] for at, value in enumerate(one) if value]
        must(abs(min(columns) * step - boxes[0]) <= step and abs((max(columns) + 1) * step - boxes[2]) <= step + 1, "box %d: %s" % (sample, boxes))
        must(fields[at + '["captions"]']["data"]["text"] == ["picture number %d" % sample], "the caption of %d" % sample)
        must(len(fields[at + '["keypoints"]']["data"]["numbers"]) == 3 * (sample % 4 + 1), "keypoints of %d" % sample)


def check_sounds(fields):
    curve = fields['["waveform"].envelope']
    values = curve["data"]["numbers"]
    must(curve["shape"] == [KEPT, 1, 200, 2] and len(values) == KEPT * 400, "the curve: %s" % curve["shape"])
    must(0.9 < max(values) <= 1.0 and -1.0 <= min(values) < -0.9, "the curve reaches from %s to %s" % (min(values), max(values)))
    picture = fields['["waveform"].spectrogram']["data"]["pictures"]
    must((picture["width"], picture["height"]) == (200, 64), "the spectrogram: %s" % fields['["waveform"].spectrogram']["shape"])
    pixels = base64.b64decode(picture["pixels"])[: 64 * 200]
    column = pixels[0::200]
    # 200 Hz at the start, of bands of 62.5 Hz from below.
    must(abs(64 - column.index(max(column)) - 200 / 62.5) <= 1.5, "the loudest frequency is in row %d" % column.index(max(column)))
