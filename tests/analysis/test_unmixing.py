"""Materials are matched to the truth, a library and each other; abundances that sum to one are SciPy's."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from atnmf_core import InputError, hide_entries, load_dataset
from atnmf_core.analysis.unmixing import (
    Materials,
    materials_of,
    nearest_spectra,
    pure_materials,
    score,
    spectral_angles,
    unit_sum_abundances,
    with_unit_sums,
)
from atnmf_core.datasets import SpectralLibrary, Truth

RNG = np.random.default_rng(0)
E, A = RNG.random((20, 4)), RNG.dirichlet(np.ones(4), 200).T
A[:, :4] = np.eye(4)
SHUFFLED = np.array([2, 0, 3, 1])


def degrees(one: np.ndarray, other: np.ndarray) -> float:
    """By the textbook, over the bands that both spectra have."""
    both = ~np.isnan(one) & ~np.isnan(other)
    one, other = one[both].tolist(), other[both].tolist()
    dot = math.fsum(a * b for a, b in zip(one, other, strict=True))
    return math.degrees(math.acos(dot / math.hypot(*one) / math.hypot(*other)))


def test_the_angle_is_the_textbooks_to_the_last_digit_and_does_not_see_brightness():
    one, other = RNG.random((9, 3)), RNG.random((9, 5))
    other[RNG.random(other.shape) < 0.3] = np.nan
    other[:, 4] = np.nan

    angles = spectral_angles(one, other)

    assert np.isnan(angles[:, 4]).all()
    expected = [[degrees(a, b) for b in other.T[:4]] for a in one.T]
    np.testing.assert_allclose(angles[:, :4], expected, atol=1e-5)
    np.testing.assert_allclose(spectral_angles(3 * one, 0.1 * other), angles)
    tiny = np.radians(1e-7)
    angle = spectral_angles([[1.0], [0.0]], [[np.cos(tiny)], [np.sin(tiny)]])
    assert angle[0, 0] == pytest.approx(1e-7, rel=1e-6)
    black = spectral_angles(np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([[1.0], [1.0]]))
    np.testing.assert_allclose(black, [[90.0], [0.0]], atol=1e-9)
    with pytest.raises(InputError, match=r"\(3, 2\) and \(4, 2\)"):
        spectral_angles(np.ones((3, 2)), np.ones((4, 2)))


def test_factors_of_any_scale_give_back_abundances_that_sum_to_one_or_stay_in_sight():
    """A black material can be anywhere in any amount, and its abundances say nothing about the others."""
    scale = np.array([0.01, 3.0, 200.0, 1.0])

    W, H = with_unit_sums(E * scale, A / scale[:, None])
    np.testing.assert_allclose(H, A, atol=1e-9)
    np.testing.assert_allclose(W @ H, E @ A, atol=1e-9)

    H = RNG.random((3, 500)) * np.array([[1e-3], [1.0], [50.0]])
    H[2, :400] = 0.0
    _, scaled = with_unit_sums(RNG.random((10, 3)), H)
    most = np.sort(scaled, axis=1)[:, -5:].mean(axis=1)
    assert (most > 0.5).all()
    assert (most < 2).all()


def test_materials_take_the_places_of_the_true_ones_or_of_true_abundances_alone():
    for truth in (Truth(E, A), Truth(np.empty((20, 0)), A)):
        (found,), _ = materials_of([(E[:, SHUFFLED], A[SHUFFLED])], truth)

        np.testing.assert_allclose(found.spectra, E)
        np.testing.assert_allclose(found.abundances, A, atol=1e-9)
        scored = score(found, truth)
        assert scored.mean_error == pytest.approx(0, abs=1e-9)
        angle = 0 if truth.endmembers.size else np.nan
        assert scored.mean_angle == pytest.approx(angle, abs=1e-6, nan_ok=True)
    # The score is the angle and the error of each place.
    measured = score(Materials(E + 0.1, A + 0.05), Truth(E, A))
    expected = [degrees(a, b) for a, b in zip(E.T, (E + 0.1).T, strict=True)]
    np.testing.assert_allclose(measured.angles, expected)
    np.testing.assert_allclose(measured.errors, 0.05)
    assert measured.mean_angle == pytest.approx(np.mean(expected))
    # Truths are told apart by what is in them.
    hashes = [Truth(*known).content_hash for known in ((E, A), (E.copy(), A.copy()), (E, A[::-1]))]
    assert hashes[0] == hashes[1] != hashes[2]


def test_without_a_truth_the_second_fit_follows_the_first_most_used_first():
    (first, second), truth = materials_of([(E, A), (E[:, SHUFFLED], A[SHUFFLED])])

    assert truth is None

    use = first.spectra.sum(axis=0) * first.abundances.sum(axis=1)
    assert (np.diff(use) <= 0).all()
    np.testing.assert_allclose(second.spectra, first.spectra)


def test_fewer_parts_than_materials_are_compared_with_those_that_they_are():
    truth = Truth(E, A, ("water", "grass", "soil", "stone"))

    (first, second), known = materials_of([(E[:, [3, 1]], A[[3, 1]]), (E[:, [1, 3]], A[[1, 3]])], truth)

    assert known.names == ("grass", "stone")
    for found in (first, second):
        np.testing.assert_allclose(
            found.spectra / E[:, [1, 3]], np.ones((20, 1)) * found.spectra[0] / E[0, [1, 3]]
        )
        np.testing.assert_allclose(score(found, known).angles, 0, atol=1e-5)


def test_parts_beyond_the_materials_come_last_and_belong_together():
    more = np.hstack([E, RNG.random((20, 2))])
    H = np.vstack([A, 0.1 * RNG.random((2, 200))])
    order = np.array([5, 2, 0, 4, 3, 1])

    (first, second), truth = materials_of([(more, H), (more[:, order], H[order])], Truth(E, A))

    assert truth.count == 4
    np.testing.assert_allclose(spectral_angles(first.spectra[:, :4], E).diagonal(), 0, atol=1e-5)
    np.testing.assert_allclose(second.spectra, first.spectra, rtol=1e-6)
    assert np.isnan(score(first, truth).angles).tolist() == [False] * 4 + [True] * 2


def test_bands_and_pixels_of_which_nothing_was_observed_play_no_role():
    bands, pixels = np.arange(20) != 3, np.arange(200) != 7
    W, H = E[:, SHUFFLED].copy(), A[SHUFFLED].copy()
    W[3], H[:, 7] = 1e6, 1e6

    (found,), _ = materials_of([(W, H)], Truth(E, A), bands=bands, pixels=pixels)

    np.testing.assert_allclose(found.spectra[bands], E[bands], rtol=1e-6)
    assert np.isnan(found.spectra[3]).all()
    assert np.isnan(found.abundances[:, 7]).all()
    scored = score(found, Truth(E, A))
    assert scored.mean_angle == pytest.approx(0, abs=1e-5)
    assert scored.mean_error == pytest.approx(0, abs=1e-6)
    assert found.share(0) == pytest.approx(A[0, pixels].mean(), rel=1e-6)


WAVELENGTHS = np.linspace(400, 1000, 25)
LIBRARY = SpectralLibrary(WAVELENGTHS, RNG.random((25, 8)), tuple("abcdefgh"))


def test_a_plain_search_finds_the_same():
    spectra = RNG.random((25, 3))
    spectra[RNG.random(spectra.shape) < 0.2] = np.nan

    found = nearest_spectra(spectra, WAVELENGTHS, LIBRARY, count=3)

    for k in range(3):
        angles = {name: degrees(spectra[:, k], LIBRARY.spectra[:, i]) for i, name in enumerate(LIBRARY.names)}
        nearest = sorted(angles, key=angles.get)[:3]
        assert [match.name for match in found[k]] == nearest
        np.testing.assert_allclose([match.angle for match in found[k]], [angles[name] for name in nearest])
    # A library that covers few of the bands names nothing.
    assert nearest_spectra(RNG.random((30, 1)), np.linspace(900, 2400, 30), LIBRARY) == ((),)


def test_a_spectrum_of_the_library_is_its_own_nearest_at_any_brightness_at_other_bands_and_beside_gaps():
    wavelengths = WAVELENGTHS[4:20:2]
    spectrum = 7 * LIBRARY.spectra[4:20:2, [5]]

    ((match,),) = nearest_spectra(spectrum, wavelengths, LIBRARY, count=1)
    assert match.name == "f"
    assert match.angle < 1e-5

    spectra = LIBRARY.spectra.copy()
    spectra[:5, 2] = np.nan
    gappy = SpectralLibrary(WAVELENGTHS, spectra, LIBRARY.names)

    ((match,),) = nearest_spectra(LIBRARY.spectra[:, [2]], WAVELENGTHS, gappy, count=1)
    assert match.name == "c"
    assert match.angle < 1e-5


def by_scipy(v: np.ndarray, W: np.ndarray) -> np.ndarray:
    K = W.shape[1]
    found = minimize(
        lambda h: 0.5 * np.sum((W @ h - v) ** 2),
        np.full(K, 1 / K),
        jac=lambda h: W.T @ (W @ h - v),
        bounds=[(0, None)] * K,
        constraints={"type": "eq", "fun": lambda h: h.sum() - 1, "jac": lambda h: np.ones(K)},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return found.x


@pytest.mark.parametrize("size", [1.0, 5000.0, 1e-4])
@pytest.mark.parametrize("alpha", [0.0, 0.4])
def test_abundances_are_scipys_and_unknown_where_nothing_is_observed(alpha, size):
    W = RNG.random((12, 4))
    V = np.maximum(W @ RNG.dirichlet(np.full(4, 0.5), 30).T + RNG.normal(0, 0.1, (12, 30)), 0)
    observed = hide_entries(V.shape, alpha)
    observed[:, 2] = False

    H = unit_sum_abundances(np.where(observed, V, np.nan) * size, W * size)

    assert np.flatnonzero(np.isnan(H).any(axis=0)).tolist() == [2]
    known = np.delete(H, 2, axis=1)
    assert known.sum(axis=0) == pytest.approx(np.ones(29), abs=1e-12)
    assert known.min() >= 0
    np.testing.assert_array_equal(unit_sum_abundances(V * size, W * size, observed), H)
    for n in (0, 1, *range(3, 30)):
        seen = observed[:, n]
        np.testing.assert_allclose(H[:, n], by_scipy(V[seen, n], W[seen]), atol=1e-6)


def test_pure_pixels_of_the_simulated_scene_are_its_materials_and_sums_of_one_are_not_scaled():
    data = load_dataset("simulated-scene", rows=24, cols=24, bands=40, materials=3)
    pure = pure_materials(data.V, hide_entries(data.shape, 0.3), K=3)
    (_, found), truth = materials_of([pure], data.truth, summing=[pure])
    assert score(found, truth).mean_angle < 5
    assert score(found, truth).mean_error < 0.1

    # No pixel has more than 0.6 of the last material: a scale of its own would make it 1.
    mixed = A * [[1], [1], [1], [0.6]]
    mixed /= mixed.sum(axis=0)
    (_, found), _ = materials_of([(E, A)], Truth(E, A), summing=[(E[:, SHUFFLED], mixed[SHUFFLED])])
    np.testing.assert_allclose(found.abundances, mixed, rtol=1e-12)
