"""The table of outcomes: one row a check, one column a release. What is not tried this time stays as it is."""

import fcntl
import pathlib
import zlib

MADE_WITH = ("CRC-32 of the probe", "")
NOT_TRIED = "—"
# What another probe did.
EARLIER = " †"


class Results:
    """A file with a table; several may write to it at once. Without a path it keeps nothing. `order`: what a row is sorted by."""

    def __init__(self, path, head, probe, order):
        self.path = path and pathlib.Path(path)
        self.head = head
        self.order = order
        self.stamp = "%08x" % zlib.crc32(probe.encode())

    def note(self, release, start, name, outcomes):
        """Outcomes of the check of this name, by the names of their rows."""
        if self.path is None:
            return
        with open(self.path, "a", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            rows = self.read()
            if rows.setdefault(MADE_WITH, {}).get(release) != self.stamp:
                for others in rows.values():
                    if release in others and not others[release].endswith(EARLIER):
                        others[release] += EARLIER
            rows[MADE_WITH][release] = self.stamp
            # One that fails has no rows of its own.
            if outcomes:
                rows.get((name, start), {}).pop(release, None)
            for check, outcome in outcomes.items():
                rows.setdefault((check, start), {})[release] = outcome.replace("|", "/").splitlines()[0]
            self.write(rows)

    def read(self):
        """By check and way of starting workers: by release, the outcome."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
        if not table or table[0][:2] != ["check", "workers"]:
            return {}
        releases = table[0][2:]
        return {
            (check, start): {release: outcome for release, outcome in zip(releases, outcomes) if outcome != NOT_TRIED}
            for check, start, *outcomes in table[2:]
        }

    def write(self, rows):
        releases = sorted({release for outcomes in rows.values() for release in outcomes}, key=by_number)
        lines = [self.head, "", cells(["check", "workers", *releases]), "|---" * (len(releases) + 2) + "|"]
        for check, start in sorted(rows, key=lambda row: (row != MADE_WITH, self.order(*row))):
            outcomes = rows[check, start]
            if outcomes:
                lines.append(cells([check, start, *(outcomes.get(release, NOT_TRIED) for release in releases)]))
        self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def cells(words):
    return "| %s |" % " | ".join(words)


def by_number(release):
    return [int(part) if part.isdigit() else 0 for part in release.split(",")[0].split(".")]
