"""Downloads, against a real HTTP server on the loopback address."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from atnmf_core import load_dataset
from atnmf_core.datasets import DataUnavailable, Transfer, fetch
from atnmf_core.datasets.registry import AUTHORS, FACES, RemoteFile, addresses, files_of


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


@pytest.fixture
def server(tmp_path_factory, monkeypatch):
    """A server of a small stand-in for the paper's synthetic data, which the registry then pins."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "synthetic").mkdir()
    random = np.random.default_rng(0)
    savemat(folder / "synthetic" / "X.mat", {"X": random.uniform(size=(50, 100))})
    for number in range(1, 8):
        savemat(folder / "synthetic" / f"mask{number}.mat", {"mask": random.integers(0, 2, (50, 100))})
    files = [
        RemoteFile(
            f"synthetic/{path.name}", path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest()
        )
        for path in sorted((folder / "synthetic").iterdir())
    ]
    monkeypatch.setattr("atnmf_core.datasets.registry._registry", lambda: files)
    server = Server(folder)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server
    server.closing.set()
    server.shutdown()
    server.server_close()


def test_fetched_data_is_complete_and_loads(server, tmp_path):
    paths = fetch("synthetic", folder=tmp_path, transfer=server.transfer)
    assert {path.relative_to(tmp_path).as_posix() for path in paths} == {
        file.path for file in files_of("synthetic")
    }
    ours, theirs = (load_dataset("synthetic-paper", folder=folder) for folder in (tmp_path, server.folder))
    assert ours.content_hash == theirs.content_hash


def test_a_verified_file_is_used_without_asking_the_server(server, tmp_path):
    fetch("synthetic", folder=tmp_path, transfer=server.transfer)
    asked = len(server.requests)
    fetch("synthetic", folder=tmp_path, transfer=server.transfer)
    assert asked == len(files_of("synthetic"))
    assert len(server.requests) == asked


def test_only_what_is_missing_or_damaged_is_fetched_again(server, tmp_path):
    fetch("synthetic", folder=tmp_path, transfer=server.transfer)
    (tmp_path / "synthetic" / "mask3.mat").unlink()
    (tmp_path / "synthetic" / "mask5.mat").write_bytes(b"damaged")
    server.requests.clear()
    fetch("synthetic", folder=tmp_path, transfer=server.transfer)
    assert server.requests == ["/Synthetic/mask3.mat", "/Synthetic/mask5.mat"]


def test_progress_runs_to_the_total(server, tmp_path):
    seen = []
    fetch("synthetic", folder=tmp_path, transfer=server.transfer, progress=lambda *now: seen.append(now))
    done = [step[0] for step in seen]
    total = sum(file.size for file in files_of("synthetic"))
    assert done == sorted(done)
    assert len(set(done)) > len(files_of("synthetic"))
    assert seen[-1][:2] == (total, total)


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("tampered", "answered with other contents than the paper's data"),
        ("error", "answered 500 Internal Server Error"),
        ("silent", "sent nothing for 0.3 seconds"),
        ("stall", "sent nothing for 0.3 seconds"),
        ("cut", "cannot be reached|other contents"),
        ("endless", r"sends more than the [0-9,]+ bytes"),
    ],
)
def test_a_bad_server_gets_a_clear_answer_and_leaves_nothing_behind(server, tmp_path, behaviour, words):
    server.behaviour = behaviour
    with pytest.raises(DataUnavailable, match=words) as refusal:
        fetch("synthetic", folder=tmp_path, transfer=server.transfer)
    first = files_of("synthetic")[0]
    assert f"put it at {tmp_path / first.path}" in str(refusal.value)
    assert addresses(first)[0] in str(refusal.value)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_server_that_is_not_there_gets_the_same_answer(tmp_path):
    nowhere = ("http://127.0.0.1:9/",)
    transfer = Transfer(base_urls={AUTHORS: nowhere, FACES: nowhere}, stall_seconds=0.5)
    with pytest.raises(DataUnavailable, match=r"cannot be reached.*put it at"):
        fetch("cbcl", folder=tmp_path, transfer=transfer)


def test_the_next_address_is_tried_when_the_first_fails(server, tmp_path):
    good = server.transfer.base_urls[AUTHORS]
    transfer = Transfer(base_urls={AUTHORS: ("http://127.0.0.1:9/", *good), FACES: good})
    assert len(fetch("synthetic", folder=tmp_path, transfer=transfer)) == 8


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "occupied").write_text("a file, not a folder")
    with pytest.raises(DataUnavailable, match=r"occupied.*ATNMF_DATA_DIR"):
        fetch("synthetic", folder=tmp_path / "occupied")


def test_public_addresses_are_pinned_to_commits():
    for folder in ("cbcl", "moffet", "madonna", "synthetic"):
        for file in files_of(folder):
            for address in addresses(file):
                assert address.startswith("https://")
                assert any(len(part) == 40 for part in address.split("/"))


def test_the_registry_agrees_with_the_published_checksums(paper_data):
    listed = dict(reversed(line.split()) for line in (paper_data / "SHA256SUMS").read_text().splitlines())
    ours = {
        f"./{file.path}": file.sha256
        for name in ("cbcl", "moffet", "madonna", "synthetic")
        for file in files_of(name)
    }
    assert ours == listed
