"""Lines of words."""

import json
import random

import numpy as np


def make_texts(maker):
    rng = random.Random(14)
    words = ["a", "b", "ä", "€uro", "😀", "the", "<unk>", "x" * 40]
    spaces = [" ", "  ", "\t", "\u00a0", "\u2003", "\x1c", "\x0b", "\u3000"]
    lines = ["".join(rng.choice(words + ["other"]) + rng.choice(spaces) for _ in range(rng.randrange(12))) for _ in range(500)]
    path = maker.path("text/lines.txt")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    maker.case("text", "plain", path, lines)
    vocabulary = maker.path("text/words.txt")
    vocabulary.write_text("\n".join(words) + "\n", encoding="utf-8")
    ids = {word: i for i, word in enumerate(words)}
    rows = [np.array([ids.get(w, ids["<unk>"]) for w in line.split()], np.int64) for line in lines]
    maker.case("text", "words", path, rows, vocab=str(vocabulary))
    other = maker.path("text/words.json")
    other.write_text(json.dumps({word: i * 7 for word, i in ids.items()}))
    maker.case("text", "json", path, [row * 7 for row in rows], vocab=str(other))
