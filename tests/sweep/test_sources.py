"""A sweep finds its data by name or in a file, and gets it unchanged."""

from pathlib import Path

import numpy as np
import pytest

from atnmf_core import Dataset, InputError, load_dataset
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
