"""Opens a site that `cargo xtask site` wrote, in a headless Chromium: from disk, and from a plain file server.

    python site.py FOLDER
"""

import functools
import http.server
import pathlib
import sys
import threading

from browser import Browser, missing

BROKEN = "return [...document.images].filter(one => one.complete && !one.naturalWidth).map(one => one.src)"
READY = "return document.readyState === 'complete' && [...document.images].every(one => one.complete)"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A plain file server that prints nothing."""

    def log_message(self, *_):
        pass


def opened(base, site):
    """Opens every page of documentation and every recording; the lessons in the last one."""
    pages = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    recordings = [page for page in pages if page.startswith("recordings/")]
    documents = [page for page in pages if page not in recordings and page not in ("404.html", "toc.html", "print.html")]
    assert recordings and documents, pages
    with Browser(1280, 900) as browser:
        for page in documents:
            browser.open(f"{base}/{page}")
            for _ in range(200):
                if browser.script(READY):
                    break
            broken = browser.script(BROKEN)
            assert not broken, (page, broken)
            assert browser.script("return document.title").endswith("Loadscope"), page
            assert browser.complaints() == [], page
        for page in recordings:
            browser.open(f"{base}/{page}")
            browser.opened()
            assert browser.read().state["batches"] > 0, page
        browser.press("Control", "l")
        browser.shows("From index to batch", 20)
        assert browser.complaints() == []
    print(f"{base.split(':')[0]}: {len(documents)} pages, {len(recordings)} recordings in the window, the lessons")


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    absent = missing()
    if absent:
        print(f"NOT RUN: there is no {absent}", file=sys.stderr)
        return
    opened(site.as_uri(), site)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    opened(f"http://127.0.0.1:{server.server_port}", site)


if __name__ == "__main__":
    main()
