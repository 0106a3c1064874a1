"""A real HTTP server on the loopback address with a small stand-in for the paper's synthetic data."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
from scipy.io import savemat

from atnmf_core.datasets import Transfer
from atnmf_core.datasets.download import AUTHORS, FACES, RemoteFile


class Server(ThreadingHTTPServer):
    """Serves the paper's files under the folders of their origin, or misbehaves as told."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder = folder
        self.requests: list[str] = []
        self.behaviour = "serve"
        self.closing = threading.Event()

    def handle_error(self, request, client_address):
        """A client that hangs up is what these tests are about: nothing to print."""

    @property
    def transfer(self) -> Transfer:
        base = (f"http://127.0.0.1:{self.server_port}/",)
        # Short where the server is meant to be silent; otherwise long enough for a busy machine.
        patience = 0.3 if self.behaviour in ("silent", "stall") else 20
        return Transfer(base_urls={AUTHORS: base, FACES: base}, stall_seconds=patience)


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self):
        self.server.requests.append(self.path)
        data = (self.server.folder / self.path.lstrip("/").lower().replace("x.mat", "X.mat")).read_bytes()
        behaviour = self.server.behaviour
        if behaviour == "error":
            self.send_error(500)
            return
        if behaviour == "silent":
            self.server.closing.wait(30)
            return
        if behaviour == "tampered":
            data = data[:-1] + bytes([data[-1] ^ 1])
        if behaviour == "endless":
            data = data * 1000
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if behaviour in ("stall", "cut") else data)
        if behaviour == "stall":
            self.wfile.flush()
            self.server.closing.wait(30)

    def log_message(self, *args):
        """Not on the console."""


def stand_in(folder: Path) -> list[RemoteFile]:
    """Write files of the same names and shapes; the registry that pins them."""
    (folder / "synthetic").mkdir()
    random = np.random.default_rng(0)
    savemat(folder / "synthetic" / "X.mat", {"X": random.uniform(size=(50, 100))})
    for number in range(1, 8):
        savemat(folder / "synthetic" / f"mask{number}.mat", {"mask": random.integers(0, 2, (50, 100))})
    return [
        RemoteFile(
            f"synthetic/{path.name}", path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest()
        )
        for path in sorted((folder / "synthetic").iterdir())
    ]


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """A server of the files below a folder, until the block is left."""
    server = Server(folder)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
