"""`python -m atnmf_core data` on the command line."""

import numpy as np
import pytest

from atnmf_core.__main__ import main
from atnmf_core.sweep import load_source


def call(*words):
    return main(["data", *words])


def test_list_shows_every_data_set_and_whether_it_is_here(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("ATNMF_DATA_DIR", str(tmp_path))
    assert call("list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 7
    assert any(line.startswith("lfw ") and "625 x 100" in line and "bundled" in line for line in lines)
    assert any(
        line.startswith("cbcl ") and "361 x 2429" in line and "fetch, 2.3 MB" in line for line in lines
    )


def test_fetch_verifies_what_is_already_here(capsys, paper_data):
    assert call("fetch", "synthetic-paper", "--folder", str(paper_data)) == 0
    assert "synthetic-paper: 8 files, verified" in capsys.readouterr().out


def test_fetch_without_a_network_says_what_to_do_in_one_line(capsys, tmp_path, monkeypatch):
    nowhere = ("http://127.0.0.1:9/",)
    monkeypatch.setattr("atnmf_core.datasets.download.BASE_URLS", {"authors": nowhere, "faces": nowhere})
    assert call("fetch", "moffet", "--folder", str(tmp_path)) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert str(tmp_path / "moffet" / "clean_Moffet.mat") in captured.err


@pytest.mark.parametrize(
    ("array", "options", "told"),
    [
        (
            np.arange(120.0).reshape(6, 5, 4),
            [],
            [
                "cube",
                "4 x 30, float64",
                "6 x 5, column by column",
                "Axis 2 (4 long) was taken to count the bands",
            ],
        ),
        (
            np.arange(-1.0, 119).reshape(30, 4),
            ["--image-shape", "6x5", "--order", "C", "--negative", "zero", "--nodata", "7"],
            ["4 x 30", "6 x 5, row by row", "1 negative entry was set to 0.", "0.8%"],
        ),
    ],
    ids=["alone", "with options"],
)
def test_info_says_how_a_file_is_read(array, options, told, capsys, tmp_path):
    np.save(tmp_path / "scene.npy", array)
    assert call("info", str(tmp_path / "scene.npy"), *options) == 0
    out = capsys.readouterr().out
    assert [words for words in told if words not in out] == []


def test_info_on_a_bad_file_is_one_line_and_exit_code_1(capsys, tmp_path):
    path = tmp_path / "scene.npy"
    path.write_bytes(b"nothing")
    assert call("info", str(path)) == 1
    error = capsys.readouterr().err
    assert error.startswith("atnmf_core data: scene.npy is not a .npy file")
    assert error.count("\n") == 1


def test_convert_writes_what_info_and_a_sweep_read_without_options(capsys, tmp_path):
    path, out = tmp_path / "pixels.npy", tmp_path / "mine.npz"
    np.save(path, np.arange(-1.0, 119).reshape(30, 4))
    options = ["--image-shape", "6x5", "--negative", "zero", "--nodata", "7"]
    call("info", str(path), *options)
    facts = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())

    assert call("convert", str(path), *options, "--out", str(out)) == 0
    assert load_source(str(out)).content_hash == facts["content"].split()[1]
    assert call("info", str(out)) == 0
    assert "6 x 5, row by row" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["delete"],
        ["fetch"],
        ["fetch", "mnist"],
        ["info"],
        ["info", "x", "--image-shape", "50"],
        ["info", "x", "--order", "K"],
    ],
)
def test_wrong_usage_ends_with_exit_code_2(words, capsys):
    with pytest.raises(SystemExit) as end:
        call(*words)
    assert end.value.code == 2
    assert "Traceback" not in capsys.readouterr().err
