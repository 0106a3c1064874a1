"""Downloads, against a real HTTP server on the loopback address."""

import pytest

from atnmf_core import load_dataset
from atnmf_core.datasets import DataUnavailable, Transfer, fetch
from atnmf_core.datasets.download import AUTHORS, FACES, addresses, remote_files_of
from tests.datasets.paper_server import serving, stand_in


@pytest.fixture
def server(tmp_path_factory, monkeypatch):
    """A server of the stand-in, which the registry then pins."""
    folder = tmp_path_factory.mktemp("served")
    files = stand_in(folder)
    monkeypatch.setattr("atnmf_core.datasets.download.remote_files", lambda: files)
    with serving(folder) as server:
        yield server


def test_fetched_data_is_complete_and_loads_with_progress_that_runs_to_the_total(server, tmp_path):
    seen = []
    paths = fetch(
        "synthetic", folder=tmp_path, transfer=server.transfer, progress=lambda *now: seen.append(now)
    )
    files = remote_files_of("synthetic")
    assert {path.relative_to(tmp_path).as_posix() for path in paths} == {file.path for file in files}
    ours, theirs = (load_dataset("synthetic-paper", folder=folder) for folder in (tmp_path, server.folder))
    assert ours.content_hash == theirs.content_hash
    done, total = [step[0] for step in seen], sum(file.size for file in files)
    assert done == sorted(done)
    assert len(set(done)) > len(files)
    assert seen[-1][:2] == (total, total)


def test_only_what_is_missing_or_damaged_is_fetched_again_from_the_address_that_answers(server, tmp_path):
    good = server.transfer.base_urls[AUTHORS]
    transfer = Transfer(base_urls={AUTHORS: ("http://127.0.0.1:9/", *good), FACES: good})
    assert len(fetch("synthetic", folder=tmp_path, transfer=transfer)) == 8
    server.requests.clear()
    fetch("synthetic", folder=tmp_path, transfer=server.transfer)
    assert server.requests == []
    (tmp_path / "synthetic" / "mask3.mat").unlink()
    (tmp_path / "synthetic" / "mask5.mat").write_bytes(b"damaged")
    fetch("synthetic", folder=tmp_path, transfer=server.transfer)
    assert server.requests == ["/Synthetic/mask3.mat", "/Synthetic/mask5.mat"]


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("tampered", "answered with something other than the paper's data"),
        ("error", "answered 500 Internal Server Error"),
        ("silent", "sent nothing for 0.3 seconds"),
        ("stall", "sent nothing for 0.3 seconds"),
        ("cut", "cannot be reached|something other"),
        ("endless", r"sent more than the [0-9,]+ bytes"),
    ],
)
def test_a_bad_server_gets_a_clear_answer_and_leaves_nothing_behind(server, tmp_path, behaviour, words):
    server.behaviour = behaviour
    with pytest.raises(DataUnavailable, match=words) as refusal:
        fetch("synthetic", folder=tmp_path, transfer=server.transfer)
    first = remote_files_of("synthetic")[0]
    assert f"put it at {tmp_path / first.path}" in str(refusal.value)
    assert addresses(first)[0] in str(refusal.value)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_server_that_is_not_there_gets_the_same_answer(tmp_path):
    nowhere = ("http://127.0.0.1:9/",)
    transfer = Transfer(base_urls={AUTHORS: nowhere, FACES: nowhere}, stall_seconds=0.5)
    with pytest.raises(DataUnavailable, match=r"cannot be reached.*put it at"):
        fetch("cbcl", folder=tmp_path, transfer=transfer)


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "occupied").write_text("a file, not a folder")
    with pytest.raises(DataUnavailable, match=r"occupied.*ATNMF_DATA_DIR"):
        fetch("synthetic", folder=tmp_path / "occupied")


def test_public_addresses_are_pinned_to_commits():
    for folder in ("cbcl", "moffet", "madonna", "synthetic"):
        for file in remote_files_of(folder):
            for address in addresses(file):
                assert address.startswith("https://")
                assert any(len(part) == 40 for part in address.split("/"))


def test_the_registry_agrees_with_the_published_checksums(paper_data):
    listed = dict(reversed(line.split()) for line in (paper_data / "SHA256SUMS").read_text().splitlines())
    ours = {
        f"./{file.path}": file.sha256
        for name in ("cbcl", "moffet", "madonna", "synthetic")
        for file in remote_files_of(name)
    }
    assert ours.items() <= listed.items()
