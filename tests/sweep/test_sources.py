"""A sweep finds its data by name or in a file, and gets it unchanged."""

from pathlib import Path

import numpy as np
import pytest

from atnmf_core import Dataset, InputError, load_dataset
from atnmf_core.datasets import UnreadableData
from atnmf_core.sweep import load_source, save_dataset


def test_a_name_of_the_catalogue_is_loaded() -> None:
    assert load_source("lfw").content_hash == load_dataset("lfw").content_hash


@pytest.mark.parametrize("name", ["lfw", "simulated-scene", "synthetic"])
def test_a_data_set_of_any_kind_comes_back_as_it_was(name: str, tmp_path: Path) -> None:
    data = load_dataset(name)
    save_dataset(data, tmp_path / "data.npz")

    again = load_source(str(tmp_path / "data.npz"))

    assert again.content_hash == data.content_hash
    assert (again.kind, again.name, again.image_shape) == (data.kind, data.name, data.image_shape)


def test_entries_that_nobody_knows_stay_unknown(tmp_path: Path) -> None:
    V = np.array([[0.0, np.nan], [1.0, 2.0]], dtype=np.float32)
    save_dataset(Dataset(V=V, kind="matrix", name="mine"), tmp_path / "data.npz")

    np.testing.assert_array_equal(load_source(str(tmp_path / "data.npz")).V, V)


def test_a_file_of_the_user_is_read(tmp_path: Path) -> None:
    np.save(tmp_path / "mine.npy", np.arange(6.0).reshape(2, 3))

    np.testing.assert_array_equal(load_source(str(tmp_path / "mine.npy")).V, np.arange(6.0).reshape(2, 3))


def test_what_is_neither_is_refused_with_the_names_that_exist() -> None:
    with pytest.raises(InputError, match=r"'nowhere' is neither a file nor one of lfw,"):
        load_source("nowhere")


def test_a_file_is_read_as_the_options_say_and_what_is_ready_takes_none(tmp_path: Path) -> None:
    np.save(tmp_path / "mine.npy", np.arange(-1.0, 5.0).reshape(2, 3))
    save_dataset(load_dataset("synthetic"), tmp_path / "ready.npz")

    assert load_source(str(tmp_path / "mine.npy"), negative="zero").V.min() == 0
    for source in ("lfw", str(tmp_path / "ready.npz")):
        with pytest.raises(InputError, match=r"negative='zero': .* is read in one way only"):
            load_source(source, negative="zero")


def spoilt(kept: bytes) -> dict[str, bytes]:
    """Ways in which an archive arrives that is none any more."""
    directory = kept.rindex(b"PK\x01\x02")
    return {
        "is empty": b"",
        "is a bare array": kept[kept.index(b"\x93NUMPY") :],
        "is cut short": kept[: len(kept) // 2],
        "has other bytes inside": kept[:400] + bytes(200) + kept[600:],
        "has a spoilt directory": kept[:directory] + b"XXXX" + kept[directory + 4 :],
    }


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("damage", spoilt(b"\x93NUMPY PK\x01\x02"))
def test_a_damaged_archive_is_refused_by_its_name(damage: str, marked: bool, tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    V = load_dataset("synthetic").V
    save_dataset(load_dataset("synthetic"), path) if marked else np.savez(path, V)
    path.write_bytes(spoilt(path.read_bytes())[damage])

    with pytest.raises(UnreadableData, match=r"^mine\.npz is "):
        load_source(str(path))
