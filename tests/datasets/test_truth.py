"""Files about the materials of a cube are recognised by their shape."""

import io

import numpy as np
import pytest

from atnmf_core import Dataset, InputError, load_dataset, read_dataset
from atnmf_core.datasets import truth_from

SCENE = load_dataset("simulated-scene", rows=6, cols=8, bands=15, materials=3)
E, A = SCENE.truth.endmembers, SCENE.truth.abundances


def uploaded(array: np.ndarray) -> Dataset:
    file = io.BytesIO()
    np.save(file, array)
    return read_dataset([("known.npy", file.getvalue())])


@pytest.mark.parametrize(
    "abundances", [SCENE.images(A).transpose(1, 2, 0), A, A.T], ids=["maps", "K x N", "N x K"]
)
def test_abundances_are_taken_as_maps_or_as_a_matrix(abundances: np.ndarray) -> None:
    truth = truth_from(SCENE, [uploaded(abundances)])

    np.testing.assert_allclose(truth.abundances, A)
    assert truth.endmembers.size == 0
    assert truth.count == 3


@pytest.mark.parametrize("spectra", [E, E.T], ids=["F x K", "K x F"])
def test_spectra_are_taken_upright_or_lying(spectra: np.ndarray) -> None:
    truth = truth_from(SCENE, [uploaded(spectra), uploaded(A)])

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
        truth_from(SCENE, [uploaded(array) for array in arrays])
