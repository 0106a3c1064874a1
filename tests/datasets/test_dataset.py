"""A data set turns vectors into images and back, cuts cubes, and is told what is known of its materials."""

import io
from dataclasses import replace

import numpy as np
import pytest
import scipy.io

from atnmf_core import InputError, load_dataset
from atnmf_core.datasets import Dataset, Truth, normalise, read_truth, truth_from_arrays


def cube_of(order, bands=4, rows=3, cols=5):
    """A cube in which every pixel of band f at (row, col) is f * 100 + row * 10 + col."""
    f, row, col = np.meshgrid(np.arange(bands), np.arange(rows), np.arange(cols), indexing="ij")
    pictures = f * 100.0 + row * 10 + col
    V = np.stack([picture.flatten(order=order) for picture in pictures])
    return Dataset(V=V, kind="cube", name="numbers", image_shape=(rows, cols), order=order), pictures


@pytest.mark.parametrize("order", ["F", "C"])
def test_every_band_or_face_comes_out_as_the_picture_that_went_in(order):
    data, pictures = cube_of(order)
    faces = replace(data, V=data.V.T, kind="faces")
    np.testing.assert_array_equal(data.vector(pictures[3]), data.V[3])
    for one in (data, faces):
        vectors = one.V if one is data else one.V.T
        np.testing.assert_array_equal(one.image(vectors[2]), pictures[2])
        np.testing.assert_array_equal(one.images(), pictures)
    np.testing.assert_array_equal(faces.images(faces.V[:, 1:]), pictures[1:])


@pytest.mark.parametrize("order", ["F", "C"])
def test_a_subset_has_the_chosen_pixels_and_bands(order):
    data, pictures = cube_of(order)
    data = Dataset(
        V=data.V, kind="cube", name="n", image_shape=(3, 5), order=order, wavelengths=[400, 500, 600, 700],
        truth=Truth(np.arange(8.0).reshape(4, 2), np.stack([data.V[0], data.V[1]])),
    )  # fmt: skip
    part = data.subset(rows=slice(1, 3), cols=[4, 0], bands=[3, 1])
    np.testing.assert_array_equal(part.images(), pictures[[3, 1]][:, 1:3][:, :, [4, 0]])
    np.testing.assert_array_equal(part.wavelengths, [700, 500])
    np.testing.assert_array_equal(part.truth.endmembers, [[6, 7], [2, 3]])
    np.testing.assert_array_equal(part.image(part.truth.abundances[1]), pictures[1][1:3][:, [4, 0]])


def test_equal_data_has_equal_hashes_and_any_change_shows():
    data, _ = cube_of("F")
    again, _ = cube_of("F")
    other_order, _ = cube_of("C")
    changed = data.V.copy()
    changed[0, 0] += 1e-9
    one_entry = Dataset(V=changed, kind="cube", name="numbers", image_shape=(3, 5))
    with_wavelengths = Dataset(
        V=data.V, kind="cube", name="numbers", image_shape=(3, 5), wavelengths=[1, 2, 3, 4]
    )
    hashes = [one.content_hash for one in (data, other_order, one_entry, with_wavelengths)]
    assert data.content_hash == again.content_hash
    assert len(set(hashes)) == 4
    assert all(len(one) == 64 for one in hashes)


def test_the_values_cannot_be_overwritten_and_the_callers_array_can():
    mine = np.array([[1, np.nan], [0, 3]])
    data = Dataset(V=mine, kind="matrix", name="m")
    with pytest.raises(ValueError, match="read-only"):
        data.V[0, 0] = 2
    mine[0, 0] = 2
    np.testing.assert_array_equal(data.observed, [[True, False], [True, True]])


def test_bands_are_labelled_by_number_and_wavelength():
    data, _ = cube_of("F")
    assert data.wavelength_label(0) == "band 1"
    spectral = Dataset(
        V=data.V, kind="cube", name="n", image_shape=(3, 5), wavelengths=[400, 512.5, 600, 2400]
    )
    assert spectral.wavelength_label(1) == "band 2, 512.5 nm"
    assert spectral.wavelength_label(3) == "band 4, 2400 nm"
    with pytest.raises(InputError, match="numbered 0 to 3"):
        spectral.wavelength_label(4)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"image_shape": (3, 4)}, "does not have the 15 pixels"),
        ({"image_shape": None}, "needs"),
        ({"order": "K"}, "order"),
        ({"kind": "movie"}, "kind"),
        ({"wavelengths": [1, 2]}, "2 wavelengths for the 4 rows"),
        ({"V": np.ones(15)}, "shape"),
    ],
)
def test_contradictions_are_refused(change, words):
    sound = {"V": cube_of("F")[0].V, "kind": "cube", "name": "n", "image_shape": (3, 5)}
    with pytest.raises(InputError, match=words):
        Dataset(**sound | change)


MATRIX = Dataset(V=np.ones((4, 4)), kind="matrix", name="m")


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda cube: MATRIX.image(MATRIX.V[0]), "has no images"),
        (lambda cube: MATRIX.images(), "has no images"),
        (lambda cube: MATRIX.subset(rows=[0]), "only a cube"),
        (lambda cube: cube.image(np.ones(14)), "15 pixels"),
        (lambda cube: cube.images(np.ones((4, 14))), "holds no images"),
        (lambda cube: cube.vector(np.ones((5, 3))), r"\(3, 5\)"),
        (lambda cube: cube.subset(rows=slice(3, 3)), "rows"),
        (lambda cube: cube.subset(rows=[7]), "rows"),
        (lambda cube: cube.subset(rows="x"), "rows"),
        (lambda cube: cube.subset(rows=[[0]]), "rows"),
        (lambda cube: normalise(cube, "unit"), "'maximum'"),
    ],
)
def test_what_a_data_set_does_not_have_is_refused(ask, words):
    with pytest.raises(InputError, match=words):
        ask(cube_of("F")[0])


@pytest.mark.parametrize("scale", [1e-300, 1e-20, 1, 1e20, 1e300])
def test_lee_seung_gives_each_image_its_mean_and_sample_deviation_before_clipping_at_any_scale(scale):
    V = np.random.default_rng(0).uniform(1, 1.01, (50, 3))
    data = normalise(Dataset(V=V * scale, kind="matrix", name="m"), "lee-seung")
    for column, original in zip(data.V.T, V.T, strict=True):
        expected = (original - original.mean()) / original.std(ddof=1) * 0.25 + 0.25
        np.testing.assert_allclose(column, np.clip(expected, 0, 1), atol=1e-9)
    assert data.normalisation == "lee-seung"


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_lee_seung_leaves_missing_entries_missing_and_constant_images_flat(dtype):
    V = np.array([[1.0, 0.1], [np.nan, 0.1], [3.0, 0.1], [8.0, 0.1]], dtype=dtype)
    result = normalise(Dataset(V=V, kind="matrix", name="m"), "lee-seung").V
    np.testing.assert_array_equal(np.isnan(result), np.isnan(V))
    known = np.array([1.0, 3.0, 8.0])
    expected = np.clip((known - 4) / known.std(ddof=1) * 0.25 + 0.25, 0, 1)
    np.testing.assert_allclose(result[[0, 2, 3], 0], expected, rtol=1e-6)
    np.testing.assert_array_equal(result[:, 1], 0.25)
    # Rounding makes no noise of a long one either.
    flat = Dataset(V=np.full((361, 1), 0.1, dtype=dtype), kind="matrix", name="m")
    np.testing.assert_array_equal(normalise(flat, "lee-seung").V, 0.25)


def test_maximum_brings_the_largest_entry_to_one():
    data = normalise(Dataset(V=np.array([[1, np.nan], [4, 8.0]]), kind="matrix", name="m"), "maximum")
    np.testing.assert_array_equal(data.V, [[0.125, np.nan], [0.5, 1]])
    zero = normalise(Dataset(V=np.zeros((2, 2)), kind="matrix", name="m"), "maximum")
    np.testing.assert_array_equal(zero.V, 0)


SCENE = load_dataset("simulated-scene", rows=6, cols=8, bands=15, materials=3)
E, A = SCENE.truth.endmembers, SCENE.truth.abundances


def uploaded(array: np.ndarray, name: str = "known.npy") -> tuple[str, bytes]:
    file = io.BytesIO()
    np.save(file, array)
    return name, file.getvalue()


@pytest.mark.parametrize("spectra", [None, E, E.T], ids=["none", "F x K", "K x F"])
@pytest.mark.parametrize(
    "abundances", [SCENE.images(A).transpose(1, 2, 0), A, A.T], ids=["maps", "K x N", "N x K"]
)
def test_abundances_and_spectra_are_taken_upright_or_lying_or_as_maps(abundances, spectra):
    given = (
        [uploaded(abundances)] if spectra is None else [uploaded(spectra), uploaded(abundances, "maps.npy")]
    )
    truth = read_truth(SCENE, given)

    np.testing.assert_allclose(truth.abundances, A)
    assert truth.count == 3
    if spectra is None:
        assert truth.endmembers.size == 0
    else:
        np.testing.assert_allclose(truth.endmembers, E)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ([np.ones((7, 9))], "7 x 9 fits neither abundance maps of 6 x 8 pixels nor spectra of 15 bands"),
        ([np.ones((5, 8, 3))], "5 x 8 x 3 fits neither"),
        ([E, A[:2]], "3 spectra and 2 abundance maps"),
        ([np.where(np.eye(15, 3) == 1, np.nan, E)], "some entries are missing"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_size(arrays, words):
    with pytest.raises(InputError, match=words):
        truth_from_arrays(SCENE, arrays)


def test_abundances_and_spectra_may_be_in_one_file_if_they_fit():
    for arrays in ({"A": A, "M": E, "cood": np.ones((4, 2))}, {"X": np.ones((7, 9))}):
        file = io.BytesIO()
        scipy.io.savemat(file, arrays)
        if "A" in arrays:
            truth = read_truth(SCENE, ("end3.mat", file.getvalue()))
            np.testing.assert_allclose(truth.endmembers, E)
            np.testing.assert_allclose(truth.abundances, A)
        else:
            with pytest.raises(InputError, match="neither abundances for the 48 pixels"):
                read_truth(SCENE, ("x.mat", file.getvalue()))


def test_spectra_in_other_units_are_scaled_to_the_data():
    bright = replace(SCENE, V=SCENE.V * 5000)
    truth = truth_from_arrays(bright, [E, A])
    np.testing.assert_allclose(truth.endmembers, 5000 * E, rtol=0.01)
    assert "to the units of the data" in truth.notes[0]
    assert truth_from_arrays(SCENE, [E * 1e300, A]).count == 3, "absurd units give no warning"

    alone = truth_from_arrays(bright, [E])
    assert 0.5 < alone.endmembers.max() / (5000 * E.max()) < 2
