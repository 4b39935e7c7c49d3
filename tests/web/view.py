"""Tries `loadscope view`: one recording, two on one page, and one that another process is writing."""

import contextlib
import fcntl
import subprocess
import time

from browser import Browser


@contextlib.contextmanager
def viewed(attempt, *recordings):
    """The link of `loadscope view`."""
    command = [attempt.binary, "view", *recordings, "--port", "0"]
    running = subprocess.Popen(command, cwd=attempt.folder, stdout=subprocess.PIPE, encoding="utf-8")
    try:
        link = running.stdout.readline().strip()
        assert link.startswith("http://localhost:"), link
        yield link
    finally:
        running.terminate()
        running.wait(timeout=20)


def served(attempt):
    with viewed(attempt, "small.jsonl.zst") as link, Browser(1100, 700) as browser:
        browser.open(link)
        screen = browser.opened()
        assert screen.state["batches_of_all"] == 20, screen.state
    attempt.row("loadscope view", link.split("/")[2], True)


def together(attempt):
    """Two recordings on one page, from disk and from a server."""
    pair = ("small.jsonl.zst", "ten_thousand.jsonl.zst")
    page = attempt.folder / "together.html"
    attempt.loadscope("share", *pair, "-o", page)
    with viewed(attempt, *pair) as link:
        for address in (page.as_uri(), link):
            with Browser(1100, 700) as browser:
                browser.open(address)
                screen = browser.opened()
                assert screen.state["batches_of_all"] == 20, screen.state
                # The page opens at the comparison, and stays there when the forecasts above it are complete.
                browser.shows("ten_thousand.jsonl.zst", 60)
                time.sleep(4.0)
                browser.shows("Compared with another run", 5)
                attempt.picture(browser, "together " + address.split(":")[0])
                assert browser.complaints() == [], browser.complaints()
    attempt.row("two recordings on one page", "from disk and from a server", True)


def growing(attempt):
    """A recording that another process writes, while it grows."""
    whole = (attempt.folder / "ten_thousand.jsonl.zst").read_bytes()
    path = attempt.folder / "growing.jsonl.zst"
    with open(path, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(whole[: len(whole) // 2])
        file.flush()
        with viewed(attempt, path.name) as link, Browser(1100, 700) as browser:
            browser.open(link)
            begun = lambda screen: screen.state["source"] == "live" and screen.state["batches_of_all"] > 1_000
            some = browser.until(begun, "the first half", 60).state["batches_of_all"]
            assert some < 10_000, some
            file.write(whole[len(whole) // 2 :])
            file.close()
            over = lambda screen: screen.state["source"] != "live" and screen.state["batches_of_all"] == 10_000
            browser.until(over, "the end", 60)
            attempt.picture(browser, "growing")
            assert browser.complaints() == [], browser.complaints()
    attempt.row("loadscope view of a growing recording", "%d batches, then all 10,000" % some, True)
