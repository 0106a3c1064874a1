"""The nearest library spectra are those that a plain search finds."""

import math

import numpy as np

from atnmf_core.analysis.library_match import nearest_spectra
from atnmf_core.datasets import SpectralLibrary

RNG = np.random.default_rng(0)
WAVELENGTHS = np.linspace(400, 1000, 25)
LIBRARY = SpectralLibrary(WAVELENGTHS, RNG.random((25, 8)), tuple("abcdefgh"))


def degrees(one: list[float], other: list[float]) -> float:
    dot = math.fsum(a * b for a, b in zip(one, other, strict=True))
    return math.degrees(math.acos(dot / math.hypot(*one) / math.hypot(*other)))


def test_a_plain_search_finds_the_same() -> None:
    spectra = RNG.random((25, 3))
    spectra[RNG.random(spectra.shape) < 0.2] = np.nan

    found = nearest_spectra(spectra, WAVELENGTHS, LIBRARY, count=3)

    for k in range(3):
        bands = [f for f in range(25) if not math.isnan(spectra[f, k])]
        angles = {
            name: degrees(list(spectra[bands, k]), list(LIBRARY.spectra[bands, i]))
            for i, name in enumerate(LIBRARY.names)
        }
        nearest = sorted(angles, key=angles.get)[:3]
        assert [match.name for match in found[k]] == nearest
        np.testing.assert_allclose([match.angle for match in found[k]], [angles[name] for name in nearest])


def test_a_spectrum_of_the_library_is_its_own_nearest_at_any_brightness_and_at_other_bands() -> None:
    wavelengths = WAVELENGTHS[4:20:2]
    spectrum = 7 * LIBRARY.spectra[4:20:2, [5]]

    ((match,),) = nearest_spectra(spectrum, wavelengths, LIBRARY, count=1)

    assert match.name == "f"
    assert match.angle < 1e-5


def test_a_library_that_covers_few_of_the_bands_names_nothing() -> None:
    wavelengths = np.linspace(900, 2400, 30)

    assert nearest_spectra(RNG.random((30, 1)), wavelengths, LIBRARY) == ((),)


def test_unknown_values_of_the_library_are_left_out() -> None:
    spectra = LIBRARY.spectra.copy()
    spectra[:5, 2] = np.nan
    gappy = SpectralLibrary(WAVELENGTHS, spectra, LIBRARY.names)

    ((match,),) = nearest_spectra(LIBRARY.spectra[:, [2]], WAVELENGTHS, gappy, count=1)

    assert match.name == "c"
    assert match.angle < 1e-5
