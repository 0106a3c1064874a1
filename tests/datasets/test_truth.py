"""Files about the materials of a cube are recognised by their shape."""

import io
from dataclasses import replace

import numpy as np
import pytest
import scipy.io

from atnmf_core import InputError, load_dataset
from atnmf_core.datasets import read_truth, truth_from_arrays

SCENE = load_dataset("simulated-scene", rows=6, cols=8, bands=15, materials=3)
E, A = SCENE.truth.endmembers, SCENE.truth.abundances


def uploaded(array: np.ndarray, name: str = "known.npy") -> tuple[str, bytes]:
    file = io.BytesIO()
    np.save(file, array)
    return name, file.getvalue()


@pytest.mark.parametrize(
    "abundances", [SCENE.images(A).transpose(1, 2, 0), A, A.T], ids=["maps", "K x N", "N x K"]
)
def test_abundances_are_taken_as_maps_or_as_a_matrix(abundances: np.ndarray) -> None:
    truth = read_truth(SCENE, uploaded(abundances))

    np.testing.assert_allclose(truth.abundances, A)
    assert truth.endmembers.size == 0
    assert truth.count == 3


@pytest.mark.parametrize("spectra", [E, E.T], ids=["F x K", "K x F"])
def test_spectra_are_taken_upright_or_lying(spectra: np.ndarray) -> None:
    truth = read_truth(SCENE, [uploaded(spectra), uploaded(A, "maps.npy")])

    np.testing.assert_allclose(truth.endmembers, E)
    np.testing.assert_allclose(truth.abundances, A)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ([np.ones((7, 9))], "7 x 9 fits neither abundance maps of 6 x 8 pixels nor spectra of 15 bands"),
        ([np.ones((5, 8, 3))], "5 x 8 x 3 fits neither"),
        ([E, A[:2]], "3 spectra and 2 abundance maps"),
        ([np.where(np.eye(15, 3) == 1, np.nan, E)], "some entries are missing"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_size(arrays: list[np.ndarray], words: str) -> None:
    with pytest.raises(InputError, match=words):
        truth_from_arrays(SCENE, arrays)


def test_abundances_and_spectra_may_be_in_one_file() -> None:
    file = io.BytesIO()
    scipy.io.savemat(file, {"A": A, "M": E, "cood": np.ones((4, 2))})
    truth = read_truth(SCENE, ("end3.mat", file.getvalue()))

    np.testing.assert_allclose(truth.endmembers, E)
    np.testing.assert_allclose(truth.abundances, A)


def test_spectra_in_other_units_are_scaled_to_the_data() -> None:
    bright = replace(SCENE, V=SCENE.V * 5000)
    truth = truth_from_arrays(bright, [E, A])
    np.testing.assert_allclose(truth.endmembers, 5000 * E, rtol=0.01)
    assert "to the units of the data" in truth.notes[0]

    alone = truth_from_arrays(bright, [E])
    assert 0.5 < alone.endmembers.max() / (5000 * E.max()) < 2


def test_a_file_that_fits_in_no_way_is_refused() -> None:
    file = io.BytesIO()
    scipy.io.savemat(file, {"X": np.ones((7, 9))})
    with pytest.raises(InputError, match="neither abundances for the 48 pixels"):
        read_truth(SCENE, ("x.mat", file.getvalue()))


def test_absurd_numbers_are_taken_without_a_warning() -> None:
    vast = truth_from_arrays(SCENE, [E * 1e300, A])
    assert vast.count == 3
