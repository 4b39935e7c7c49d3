"""A headless Chromium, driven through WebDriver: pages are opened, clicked and typed into, and asked what is on the screen."""

import base64
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request

BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
DRIVERS = ("chromedriver",)
# Drawing by the processor, as a host without a graphics card does.
FLAGS = (
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
)
# Seconds that anything may take.
DEADLINE = 120

KEYS = {"Control": "\ue009", "Shift": "\ue008", "Left": "\ue012", "Right": "\ue014", "Up": "\ue013", "Down": "\ue015", "Enter": "\ue007",
        "Escape": "\ue00c", "Home": "\ue011", "End": "\ue010", "Space": " "}  # fmt: skip

ASK = """
const tell = arguments[arguments.length - 1];
if (typeof wasm_bindgen === "undefined" || !document.getElementById("note").hidden) { tell(""); return; }
wasm_bindgen.ask_screen();
const look = () => { const text = wasm_bindgen.screen_text(); text ? tell(text) : setTimeout(look, 5); };
look();
"""


def found(names):
    return next((path for path in map(shutil.which, names) if path), None)


def missing():
    """What is not there, or nothing."""
    absent = [names[0] for names in (BROWSERS, DRIVERS) if found(names) is None]
    return " and ".join(absent)


class Screen:
    """What was on the screen."""

    def __init__(self, told):
        self.texts = [(text, x, y) for text, x, y, _, _ in told["texts"]]
        # Left, top, right and bottom of each text, points.
        self.boxes = [(x - w / 2, y - h / 2, x + w / 2, y + h / 2) for _, x, y, w, h in told["texts"]]
        self.state = told["state"]
        self.longest_ms = told["longest_ms"]
        self.frames = told["frames"]

    def has(self, text):
        return any(text in one for one, _, _ in self.texts)

    def where(self, text, nth=0):
        exact = [(x, y) for one, x, y in self.texts if one == text]
        part = [(x, y) for one, x, y in self.texts if text in one]
        places = exact or part
        assert len(places) > nth, (text, [one for one, _, _ in self.texts])
        return places[nth]

    def __str__(self):
        return "\n".join(text for text, _, _ in self.texts)


class Browser:
    """A page of this size in points."""

    def __init__(self, width, height, dark=True):
        self.driver = subprocess.Popen(
            [found(DRIVERS), "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", start_new_session=True
        )
        port = None
        for line in self.driver.stdout:
            port = re.search(r"successfully on port (\d+)", line)
            if port:
                break
        assert port, "chromedriver does not start"
        self.base = "http://127.0.0.1:%s" % port.group(1)
        flags = [*FLAGS, "--window-size=%d,%d" % (width, height)]
        options = {"binary": found(BROWSERS), "args": flags}
        asked = {"capabilities": {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}}
        self.session = None
        told = self.call("POST", "/session", asked)
        self.session = told["sessionId"]
        self.process = told["capabilities"].get("goog:processID")
        self.call("POST", "/timeouts", {"script": DEADLINE * 1000, "pageLoad": DEADLINE * 1000})
        self.emulate(dark)

    def emulate(self, dark):
        value = "dark" if dark else "light"
        self.cdp("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": value}]})

    def still(self):
        """Nothing glides or fades."""
        wishes = {"prefers-color-scheme": "dark", "prefers-reduced-motion": "reduce"}
        self.cdp("Emulation.setEmulatedMedia", {"features": [{"name": name, "value": value} for name, value in wishes.items()]})

    def cdp(self, command, parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def call(self, method, path, body=None):
        if self.session is not None:
            path = "/session/%s%s" % (self.session, path)
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data=data, method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE + 10) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode(errors="replace")[:2000]) from None

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.end_browser()
            # And what else it has started: all of it is in its group.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.driver.pid, signal.SIGKILL)
            self.driver.wait(timeout=20)

    def end_browser(self):
        """A browser whose driver goes away too early draws on for ever."""
        # 0 and -1 would be many processes.
        if not isinstance(self.process, int) or self.process <= 1:
            return
        until = time.monotonic() + 5
        with contextlib.suppress(ProcessLookupError):
            while time.monotonic() < until:
                os.kill(self.process, 0)
                time.sleep(0.05)
            os.kill(self.process, signal.SIGKILL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def script(self, text, *arguments):
        return self.call("POST", "/execute/sync", {"script": text, "args": list(arguments)})

    def read(self):
        """What is on the screen now; nothing while the page is starting."""
        told = self.call("POST", "/execute/async", {"script": ASK, "args": []})
        return Screen(json.loads(told)) if told else None

    def until(self, holds, what, deadline=DEADLINE):
        """Waits until that holds of the screen."""
        began = time.monotonic()
        screen = None
        while time.monotonic() - began < deadline:
            screen = self.read() or screen
            if screen is not None and holds(screen):
                return screen
            time.sleep(0.02)
        raise AssertionError("%s: not within %d s. On the screen:\n%s\n%s" % (what, deadline, screen and screen.state, screen or self.note()))

    def note(self):
        return self.script("return document.getElementById('note').textContent")

    def laid_out(self):
        """The texts that the page itself shows, in one line. No script is needed for it, and no text that is hidden is in it."""
        told = self.cdp("DOMSnapshot.captureSnapshot", {"computedStyles": []})
        texts = [told["strings"][at] for document in told["documents"] for at in document["layout"]["text"] if at >= 0]
        return " ".join(" ".join(texts).split())

    def shows(self, text, deadline=DEADLINE):
        return self.until(lambda screen: screen.has(text), "%r is not shown" % text, deadline)

    def opened(self, deadline=DEADLINE):
        """Waits until a run is shown."""
        return self.until(lambda screen: screen.state["source"] in ("recording", "finished"), "nothing is opened", deadline)

    def click(self, text, nth=0):
        x, y = self.read().where(text, nth)
        self.click_at(x, y)

    def click_at(self, x, y):
        move = {"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)}
        pause = {"type": "pause", "duration": 60}
        actions = [move, pause, {"type": "pointerDown", "button": 0}, pause, {"type": "pointerUp", "button": 0}, pause]
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]})

    def press(self, *keys):
        """Presses a key, the others held: `press("Control", "k")`."""
        codes = [KEYS.get(key, key) for key in keys]
        downs = [{"type": "keyDown", "value": code} for code in codes]
        ups = [{"type": "keyUp", "value": code} for code in reversed(codes)]
        actions = [*downs, {"type": "pause", "duration": 40}, *ups, {"type": "pause", "duration": 40}]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def type(self, text):
        for letter in text:
            self.press(letter)

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def complaints(self):
        """What the browser has noted of this page, errors first of all."""
        return [entry for entry in self.call("POST", "/se/log", {"type": "browser"}) if entry["level"] == "SEVERE"]

    def memory(self):
        """Of the program in the page, bytes."""
        return self.script("return performance.memory ? performance.memory.totalJSHeapSize : 0")
