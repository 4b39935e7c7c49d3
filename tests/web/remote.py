"""Who is at the other end: a server of OpenSSH on this host, and a viewer that reads nothing."""

import base64
import os
import pathlib
import shutil
import socket
import subprocess
import time

SSHD = "/usr/sbin/sshd"
# Seconds until the server answers.
DEADLINE = 20


class Server:
    """`sshd` with keys and a configuration of its own, at 127.0.0.1 alone."""

    def __init__(self, folder, port):
        self.folder, self.port = folder, port
        self.ssh = "ssh -F %s" % (folder / "ssh_config")

    @staticmethod
    def start(folder):
        """Nothing where OpenSSH is not installed."""
        if not pathlib.Path(SSHD).exists() or shutil.which("ssh-keygen") is None:
            return None
        # As root it wants the folder that its package makes at the start of the system.
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        keys = folder / "ssh"
        keys.mkdir()
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", keys / name], check=True)
        shutil.copy(keys / "user.pub", keys / "allowed")
        (keys / "sshd_config").write_text(
            "ListenAddress 127.0.0.1\nPort %d\nHostKey %s\nAuthorizedKeysFile %s\nPidFile none\nStrictModes no\nPasswordAuthentication no\n"
            % (port, keys / "host", keys / "allowed")
        )
        (keys / "ssh_config").write_text(
            "Host gpu7\n  HostName 127.0.0.1\n  Port %d\n  IdentityFile %s\n  IdentitiesOnly yes\n  StrictHostKeyChecking no\n"
            "  UserKnownHostsFile %s\n  LogLevel ERROR\n" % (port, keys / "user", keys / "known")
        )
        return Server(keys, port)

    def __enter__(self):
        self.process = subprocess.Popen([SSHD, "-D", "-e", "-f", str(self.folder / "sshd_config")], stderr=subprocess.DEVNULL)
        until = time.monotonic() + DEADLINE
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except ConnectionRefusedError:
                assert time.monotonic() < until, "sshd does not answer"
                time.sleep(0.02)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=DEADLINE)


class Ignorant:
    """A page that asks for the recording as it grows, and then reads nothing of it."""

    def __init__(self, port, token):
        self.port, self.token = port, token

    def __enter__(self):
        self.socket = socket.socket()
        # So that what waits for it does not fit into the system's buffers.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(DEADLINE)
        self.socket.connect(("127.0.0.1", self.port))
        key = base64.b64encode(os.urandom(16)).decode()
        asked = (
            "GET /%s/live HTTP/1.1\r\nHost: localhost:%d\r\nOrigin: http://localhost:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n" % (self.token, self.port, self.port, key)
        )
        self.socket.sendall(asked.encode())
        answer = self.socket.recv(12)
        assert answer == b"HTTP/1.1 101", answer
        return self

    def __exit__(self, *_):
        self.socket.close()
