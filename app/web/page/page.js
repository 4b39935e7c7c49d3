// Starts the window, and brings it what the page holds, what a server sends, and the files that are chosen. What a recording says
// is bytes for the window; nothing of it becomes markup or code.
"use strict";

const loadscopePage = (() => {
    const { begin, open, fetching, live_begun, live_piece, live_ended, failed } = wasm_bindgen;
    const note = document.getElementById("note");
    // The report as text: for browsers without the window, and until it is there.
    const report = document.getElementById("report");

    // Base64 in pieces: a browser has no room for a very long text and its bytes at the same time.
    const PIECE = 1 << 22;
    // Seconds between two attempts to reach the server again, and how many there are.
    const AGAIN = 1;
    const ATTEMPTS = 30;

    function complain(text) {
        note.hidden = false;
        note.className = "error";
        note.textContent = text;
    }

    function text(id) {
        const element = document.getElementById(id);
        const held = element.textContent.trim();
        element.remove();
        return held;
    }

    function bytes(base64) {
        const parts = [];
        for (let at = 0; at < base64.length; at += PIECE) {
            parts.push(Uint8Array.from(atob(base64.slice(at, at + PIECE)), (c) => c.charCodeAt(0)));
        }
        const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
        let at = 0;
        for (const part of parts) {
            all.set(part, at);
            at += part.length;
        }
        return all;
    }

    // What xtask/src/web/digits.rs writes: four bytes are five digits.
    const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?~,;()[]{}_%$#';

    function program() {
        const element = document.getElementById("program");
        const length = Number(element.dataset.bytes);
        const digits = text("program");
        const values = new Uint8Array(128);
        for (let value = 0; value < DIGITS.length; value += 1) {
            values[DIGITS.charCodeAt(value)] = value;
        }
        const all = new DataView(new ArrayBuffer(digits.length / 5 * 4));
        for (let from = 0, to = 0; from < digits.length; from += 5, to += 4) {
            let number = 0;
            for (let at = from; at < from + 5; at += 1) {
                number = number * 85 + values[digits.charCodeAt(at)];
            }
            all.setUint32(to, number);
        }
        return new Uint8Array(all.buffer, 0, length);
    }

    // A file of the same origin, piece by piece, so that the window can say how far it is.
    async function fetched(url, name, isSilent) {
        const response = await fetch(url, { mode: "same-origin", credentials: "same-origin" });
        if (!response.ok) {
            throw new Error(`the server answers ${response.status}`);
        }
        const size = Number(response.headers.get("content-length")) || 0;
        const parts = [];
        let length = 0;
        for (const reader = response.body.getReader(); ;) {
            const { done, value } = await reader.read();
            if (done) {
                break;
            }
            parts.push(value);
            length += value.length;
            if (!isSilent) {
                fetching(name, size > 0 ? Math.min(length / size, 1) : 0);
            }
        }
        const all = new Uint8Array(length);
        let at = 0;
        for (const part of parts) {
            all.set(part, at);
            at += part.length;
        }
        return all;
    }

    async function openUrl(address, name, compare) {
        try {
            const url = new URL(address, document.baseURI);
            if (url.origin !== location.origin) {
                throw new Error("it is of another origin");
            }
            const last = decodeURIComponent(url.pathname.split("/").pop());
            const shown = name || last || "the recording";
            open(shown, await fetched(url, shown, compare), compare);
        } catch (error) {
            failed(`Cannot fetch ${address}: ${error.message}`);
        }
    }

    // The recording of a program that runs, as it grows. What was received is not sent again.
    function follow(path) {
        let received = 0;
        // Place of the first byte: a page that is opened late begins in the middle of the recording.
        let first = 0;
        let attempts = 0;
        let isOver = false;
        live_begun();
        const connect = () => {
            const url = new URL(received > 0 ? `${path}?from=${first + received}` : path, document.baseURI);
            url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
            const socket = new WebSocket(url);
            socket.binaryType = "arraybuffer";
            socket.onmessage = (message) => {
                attempts = 0;
                if (typeof message.data === "string" && message.data.startsWith("@")) {
                    first = Number(message.data.slice(1));
                    return;
                }
                if (typeof message.data === "string") {
                    isOver = true;
                    live_ended(message.data || undefined);
                    return;
                }
                received += message.data.byteLength;
                live_piece(new Uint8Array(message.data));
                // How far this page has come: a page that says nothing for long is not sent more.
                socket.send(String(first + received));
            };
            socket.onclose = () => {
                if (isOver) {
                    return;
                }
                attempts += 1;
                if (attempts <= ATTEMPTS) {
                    setTimeout(connect, AGAIN * 1000);
                } else {
                    live_ended("The connection to the recorded program is lost. What came before is shown");
                }
            };
        };
        connect();
    }

    function pick(compare) {
        const input = document.createElement("input");
        input.type = "file";
        input.onchange = async () => {
            for (const file of input.files) {
                open(file.name, new Uint8Array(await file.arrayBuffer()), compare);
            }
        };
        input.click();
    }

    async function start() {
        const about = JSON.parse(new TextDecoder().decode(bytes(text("about"))) || "{}");
        const recording = text("recording");
        const other = text("other");
        if (typeof WebAssembly === "undefined") {
            throw new Error("this browser runs no WebAssembly. It is too old, or it is switched off");
        }
        await wasm_bindgen({ module_or_path: loadscopeUnpack(program()) });
        if (recording) {
            open(about.name || "the recording", bytes(recording), false);
        }
        if (other) {
            open(about.other || "the other recording", bytes(other), true);
        }
        await begin("window");
        note.hidden = true;
        report.hidden = true;
        if (about.name) {
            // Of ASCII alone, whatever encoding a server says the page has: its script has to keep its hash.
            document.title = `${about.name} \u00b7 Loadscope`;
        }
        if (about.url) {
            await openUrl(about.url, about.name, false);
            if (about.other_url) {
                await openUrl(about.other_url, about.other, true);
            }
        } else if (about.live) {
            follow(about.live);
        } else if (!recording && location.hash.startsWith("#url=")) {
            await openUrl(decodeURIComponent(location.hash.slice(5)), undefined, false);
        }
    }

    addEventListener("error", (event) => {
        if (String(event.message).includes("unreachable") || event.error instanceof WebAssembly.RuntimeError) {
            complain("The window has stopped; this is a bug in Loadscope. Reload the page to go on");
        }
    });
    start().catch((error) => complain(`The window cannot be shown: ${error.message || error}`));
    return { pick };
})();
