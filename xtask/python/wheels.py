"""Finds the wheels that libtorch is made of and downloads them, going on where a download stopped.

Asks the package index that pip is configured for, checks its sha256 sums, and leaves the download
to pip where that cannot work. Needs Python 3.9 and its standard library.
"""

import ast
import errno
import hashlib
import html.parser
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

TORCH = "2.13.0"
SPARE = 64 << 20  # bytes that stay free on the disk
AGAIN = "then run the same command again: what is there is kept"
# A wheel of any CPython will do, since nothing of Python is taken from it; but their libraries are
# built separately, and everybody is to have the same one where there is a choice.
PYTHON = "312"
PLATFORM_TAGS = {
    "linux-x86_64": r"(manylinux\w*_x86_64\.?)+",
    "linux-aarch64": r"(manylinux\w*_aarch64\.?)+",
    "macos-aarch64": r"macosx_\d+_\d+_arm64",
    "windows-x86_64": r"win_amd64",
}
CUDA_13 = r"13\.0\.\d+"


class Problem(Exception):
    """A sentence for the user: what, where, remedy."""


class NotDirectly(Exception):
    """Only pip may be able to get this wheel (log-in, odd proxy, no checksum)."""


def wheels_for(platform):
    """Project, version and where its wheel keeps the files, for every wheel that is needed."""
    wanted = [("torch", re.escape(TORCH), "torch==" + TORCH)]
    if platform == "linux-x86_64":
        # The wheel is built with CUDA: libtorch_cpu.so cannot be loaded without these two.
        wanted.append(("nvidia-cuda-runtime", CUDA_13, "nvidia-cuda-runtime==13.0.*"))
        wanted.append(("nvidia-cuda-cupti", CUDA_13, "nvidia-cuda-cupti==13.0.*"))
    return wanted


def wheel_pattern(project, version, platform):
    python = r"cp3\d+-(cp3\d+|none)" if project == "torch" else r"py3-none"
    name = project.replace("-", "_")
    return re.compile(rf"{name}-(?P<version>{version})-{python}-{PLATFORM_TAGS[platform]}\.whl")


def say(text):
    print(text, file=sys.stderr, flush=True)


class Progress:
    """One updating line on a terminal, a line every ten seconds elsewhere."""

    def __init__(self, what, total, done=0):
        self.what, self.total, self.done = what, total, done
        self.began = self.shown = time.monotonic()
        self.first, self.terminal = done, sys.stderr.isatty()

    def add(self, count):
        self.done += count
        now = time.monotonic()
        if now - self.shown > (0.1 if self.terminal else 10):
            self.shown = now
            self.show("")

    def show(self, end):
        speed = (self.done - self.first) / max(time.monotonic() - self.began, 0.001)
        percent = f"{100 * self.done // self.total:3} %" if self.total else ""
        text = f"{self.what}: {percent} {self.done >> 20} MiB, {speed / 2**20:.0f} MiB/s"
        if self.terminal:
            print("\r\x1b[K" + text, end=end, file=sys.stderr, flush=True)
        else:
            say(text)

    def finish(self):
        self.show("\n")


def pip_settings():
    """The user's pip configuration: section [download] over [global], environment over both."""
    listed = subprocess.run([sys.executable, "-m", "pip", "config", "list"], text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL).stdout
    ranked = {}
    for line in listed.splitlines():
        key, _, value = line.partition("=")
        section, _, name = key.rpartition(".")
        rank = {"global": 0, "download": 1}.get(section)
        if rank is not None and rank >= ranked.get(name, (-1, ""))[0]:
            ranked[name] = (rank, str(ast.literal_eval(value)))
    found = {name: value for name, (_, value) in ranked.items()}
    for name, value in os.environ.items():
        if name.startswith("PIP_") and value:
            found[name[4:].lower().replace("_", "-")] = value
    return found


class Links(html.parser.HTMLParser):
    """The files of an index page in HTML."""

    def __init__(self, page):
        super().__init__()
        self.files = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "a" and attributes.get("href") and "data-yanked" not in attributes:
            url, _, fragment = attributes["href"].partition("#")
            sha256 = fragment[7:] if fragment.startswith("sha256=") else None
            self.files.append((urllib.parse.unquote(url.rsplit("/", 1)[-1]), url, sha256))


class Index:
    """A package index, asked the way pip would ask it."""

    def __init__(self, settings):
        self.pages = [settings.get("index-url", "https://pypi.org/simple")]
        self.pages += settings.get("extra-index-url", "").split()
        if settings.get("no-index"):
            raise NotDirectly("pip's configuration says no-index")
        cert = settings.get("cert")
        context = ssl.create_default_context(
            cafile=cert if cert and os.path.isfile(cert) else None,
            capath=cert if cert and os.path.isdir(cert) else None)
        handlers = [urllib.request.HTTPSHandler(context=context)]
        if settings.get("proxy"):
            proxy = settings["proxy"]
            handlers.append(urllib.request.ProxyHandler({"http": proxy, "https": proxy}))
        self.opener = urllib.request.build_opener(*handlers)

    def open(self, url, **headers):
        headers = {"User-Agent": "loadscope-setup", "Accept-Encoding": "identity", **headers}
        return self.opener.open(urllib.request.Request(url, headers=headers), timeout=60)

    def find(self, project, pattern):
        """Name, address and checksum of the newest wheel that fits."""
        trouble = f"no wheel of {project} fits"
        for page in self.pages:
            page = f"{page.rstrip('/')}/{project}/"
            try:
                with self.open(page, Accept="application/vnd.pypi.simple.v1+json,"
                                            " text/html;q=0.2") as reply:
                    files = self.parse(reply)
                    page = reply.url
            except (OSError, ValueError, http.client.HTTPException) as error:
                trouble = f"{page} did not answer: {error}"
                continue
            fitting = []
            for name, url, sha256 in files:
                match = pattern.fullmatch(name)
                if match:
                    version = [int(number) for number in match["version"].split(".")]
                    fitting.append((version, f"-cp{PYTHON}-" in name, name, url, sha256))
            if fitting:
                _, _, name, url, sha256 = max(fitting)
                if not sha256:
                    raise NotDirectly(f"{page} gives no sha256 for {name}")
                return name, urllib.parse.urljoin(page, url), sha256
        raise NotDirectly(trouble)

    @staticmethod
    def parse(reply):
        text = reply.read().decode()
        if "json" not in reply.headers.get("Content-Type", ""):
            return Links(text).files
        return [(f["filename"], f["url"], f["hashes"].get("sha256"))
                for f in json.loads(text)["files"] if not f.get("yanked")]


def checksum(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def require_space(folder, needed):
    free = shutil.disk_usage(folder).free
    if free < needed + SPARE:
        raise Problem(f"The disk of {folder} is too full: {needed >> 20} MiB are needed and "
                      f"{free >> 20} MiB are free. Free some space or set LOADSCOPE_CACHE to a "
                      f"folder on another disk, {AGAIN}.")


def receive(index, url, name, part):
    """Appends to `part` what it still lacks; returns when the server has sent all of it."""
    have = part.stat().st_size if part.exists() else 0
    try:
        reply = index.open(url, **({"Range": f"bytes={have}-"} if have else {}))
    except urllib.error.HTTPError as error:
        if error.code == 416 and have:
            return  # Nothing is left to send: the checksum decides what `part` is worth.
        if error.code >= 500:
            raise  # The server may be better in a moment.
        raise NotDirectly(f"{url} answered {error.code}") from error
    with reply:
        start = re.match(r"bytes (\d+)-", reply.headers.get("Content-Range", ""))
        if have and not (reply.status == 206 and start and int(start[1]) == have):
            have = 0  # The server sends the whole file again.
        length = reply.headers.get("Content-Length")
        total = have + int(length) if length else 0
        require_space(part.parent, max(total - have, 0))
        # The whole name would not fit on one line.
        progress = Progress("Downloading " + "-".join(name.split("-")[:2]), total, have)
        with open(part, "ab" if have else "wb") as file:
            while block := reply.read(1 << 18):
                file.write(block)
                progress.add(len(block))
        progress.finish()
    if total and part.stat().st_size < total:
        raise ConnectionError(f"the connection ended after {part.stat().st_size} of {total} bytes")


def download(index, name, url, sha256, folder):
    """The wheel, whole and with the right checksum, in `folder`."""
    wheel, part = folder / name, folder / (name + ".part")
    if wheel.exists():
        if checksum(wheel) == sha256:
            return wheel
        say(f"{wheel} is damaged; downloading it again.")
        wheel.unlink()
    failures, received = 0, False
    while True:
        before = part.stat().st_size if part.exists() else 0
        try:
            receive(index, url, name, part)
            break
        except (OSError, http.client.HTTPException) as error:
            if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
                raise
            grown = part.exists() and part.stat().st_size > before
            received = received or grown
            failures = 1 if grown else failures + 1
            if failures > 4:
                if not received:
                    raise NotDirectly(f"{url} cannot be reached: {error}") from error
                raise Problem(f"Downloading {name} stopped half-way: {error}. Check the network, "
                              f"{AGAIN}.") from error
            say(f"Downloading {name}: {error}; trying again where it stopped.")
            time.sleep(2 ** (failures - 1))
    found = checksum(part)
    if found != sha256:
        part.unlink()
        raise Problem(f"The download of {name} from {url} has the wrong checksum (sha256 {found} "
                      f"instead of {sha256}) and was removed. Run the same command again; if it "
                      f"happens again, a proxy or mirror on the way changes the file.")
    os.replace(part, wheel)
    return wheel


def download_with_pip(wanted, platform, folder, why):
    """Leaves the whole download to pip, which checks the sums that the index gives it."""
    say(f"Downloading libtorch with pip ({why}).")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:",
               "--dest", str(folder)]
    if platform.startswith("linux"):
        # So that a Python for which there is no torch can still fetch one.
        command += [f"--python-version={PYTHON}", "--implementation=cp", f"--abi=cp{PYTHON}"]
        tags = ["_2_28", "_2_27", "_2_25", "_2_17", "2014"]
        architecture = platform.split("-")[1]
        command += [f"--platform=manylinux{tag}_{architecture}" for tag in tags]
    code = subprocess.run(command + [requirement for _, _, requirement in wanted],
                          stdin=subprocess.DEVNULL, stdout=sys.stderr, cwd=folder).returncode
    if code:
        raise Problem(f"The wheels of libtorch could not be downloaded to {folder}: {why}, and "
                      f"`{sys.executable} -m pip download` failed as well (see above). Check the "
                      f"network and pip's configuration (index-url, proxy, cert) and that pip is "
                      f"installed (Debian: apt-get install python3-pip), {AGAIN}. Or unpack "
                      f"libtorch {TORCH} yourself and set LIBTORCH to its folder.")
    found = []
    for project, version, _ in wanted:
        pattern = wheel_pattern(project, version, platform)
        found += [file for file in folder.iterdir() if pattern.fullmatch(file.name)][:1]
    if len(found) < len(wanted):
        raise Problem(f"pip left no wheel of libtorch for {platform} in {folder}. Set LIBTORCH to "
                      f"the folder of a libtorch {TORCH} instead.")
    return found


def get_wheels(platform, folder):
    wanted = wheels_for(platform)
    if os.environ.get("LOADSCOPE_DOWNLOADER") == "pip":
        return download_with_pip(wanted, platform, folder, "LOADSCOPE_DOWNLOADER says so")
    try:
        index = Index(pip_settings())
        found = [index.find(project, wheel_pattern(project, version, platform))
                 for project, version, _ in wanted]
        return [download(index, *wheel, folder) for wheel in found]
    except NotDirectly as trouble:
        return download_with_pip(wanted, platform, folder, str(trouble))
