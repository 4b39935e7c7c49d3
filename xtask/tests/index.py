"""A small package index on 127.0.0.1 for download.rs, which interrupts its downloads.

Usage: index.py FOLDER. Prints its port. FOLDER/mode says how it answers from now on: `whole`,
`stall` (sends half of a file, then nothing) or `no-range`. FOLDER/requests lists what was asked.
"""

import hashlib
import http.server
import io
import pathlib
import random
import re
import sys
import time
import zipfile

FOLDER = pathlib.Path(sys.argv[1])
NOISE = random.Random(1)


def wheel(files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, size in files.items():
            archive.writestr(name, NOISE.randbytes(size))
    return data.getvalue()


TORCH = {
    "torch/lib/libtorch.so": 100,
    "torch/lib/libtorch_cpu.so": 3 << 20,
    "torch/lib/libc10.so": 100,
    "torch/lib/libgomp.so.1": 100,
    "torch/lib/libtorch_cuda.so": 1 << 20,
    "torch/lib/libtorch_python.so": 100,
    "torch/lib/libshm/alloc_info.h": 10,
    "torch/include/torch/csrc/api/include/torch/torch.h": 10,
    "torch/include/ATen/ATen.h": 10,
    "torch/include/c10/util/Exception.h": 10,
    "torch/__init__.py": 10,
    "torch-2.13.0.dist-info/RECORD": 10,
}
WHEELS = {
    "torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl": wheel(TORCH),
    "nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl":
        wheel({"nvidia/cu13/lib/libcudart.so.13": 50}),
    "nvidia_cuda_cupti-13.0.85-py3-none-manylinux_2_25_x86_64.whl":
        wheel({"nvidia/cu13/lib/libcupti.so.13": 50, "nvidia/cu13/lib/libcheckpoint.so": 50}),
}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        asked = self.headers.get("Range", "-")
        with open(FOLDER / "requests", "a") as log:
            print(self.path, asked, file=log)
        name = self.path.strip("/").rsplit("/", 1)[-1]
        if name in WHEELS:
            return self.send_wheel(WHEELS[name], asked)
        links = [f'<a href="/files/{file}#sha256={hashlib.sha256(data).hexdigest()}">{file}</a>'
                 for file, data in WHEELS.items()
                 if file.startswith(name.replace("-", "_") + "-")]
        self.send(200 if links else 404, "\n".join(links).encode(), "text/html")

    def send_wheel(self, data, asked):
        mode = (FOLDER / "mode").read_text().strip()
        start = 0
        if asked != "-" and mode != "no-range":
            start = int(re.match(r"bytes=(\d+)-", asked)[1])
            if start >= len(data):
                return self.send(416, b"", "text/plain")
        half = len(data) // 2 if mode == "stall" else len(data)
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        self.wfile.write(data[start:half])
        if mode == "stall":
            self.wfile.flush()
            time.sleep(120)

    def send(self, code, body, kind):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
