"""Files of other people: each is read right, or refused in plain words."""

from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import pytest
import rasterio
import scipy.io
import spectral.io.envi

from atnmf_core.datasets import UnreadableData, read_dataset, read_library, write_like


@dataclass(frozen=True)
class Expected:
    """What should come of a file; `cube` reads its band images in the field's own tool."""

    kind: str
    shape: tuple[int, int]
    image_shape: tuple[int, int] | None = None
    wavelengths: tuple[float, float] | None = None
    missing: float = 0.0
    images: object = None


def moffett(path: Path) -> np.ndarray:
    return scipy.io.loadmat(path)["Y"].reshape(184, 50, 50, order="F")


def yale(path: Path) -> np.ndarray:
    return scipy.io.loadmat(path)["fea"].reshape(165, 32, 32, order="F")


def envi(path: Path) -> np.ndarray:
    cube = spectral.io.envi.open(str(path)).open_memmap(interleave="bip")
    return np.asarray(cube, dtype=float).transpose(2, 0, 1)


def corn(path: Path) -> np.ndarray:
    """Its header has no byte order, without which `spectral` does not open it."""
    stored = np.fromfile(path.with_suffix(".raw"), "<u2").reshape(31, 580, 43)
    return stored.transpose(1, 0, 2).astype(float)


def geotiff(path: Path) -> np.ndarray:
    with rasterio.open(path) as file:
        scale = np.array(file.scales)[:, None, None]
        return np.where(file.read() == file.nodata, np.nan, file.read() * scale)


def emit(path: Path) -> np.ndarray:
    with h5py.File(path) as file:
        good = file["sensor_band_parameters/good_wavelengths"][()]
        return np.where(good, file["reflectance"][()], np.nan).transpose(2, 0, 1)


FILES = {
    "upc_moffett.mat": Expected("cube", (184, 2500), (50, 50), images=moffett),
    "cubus_gamsberg_subset.hdr": Expected("cube", (189, 250), (25, 10), (426.82, 2324.91), images=envi),
    "corn-kernel-hyperspectral.hdr": Expected(
        "cube", (580, 1333), (31, 43), (366.551, 1048.421), images=corn
    ),
    "enmap_potsdam_tile_128_128.tif": Expected(
        "cube", (224, 1024), (32, 32), (418.24, 2445.53), 6 / 224, geotiff
    ),
    "force_TSI.tif": Expected("cube", (19, 150), (15, 10), None, 1874 / 2850, geotiff),
    "fake_EMIT_L2A_with_good_wavelengths.nc": Expected("cube", (2, 4), (2, 2), None, 0.5, emit),
    "Yale_32x32.mat": Expected("faces", (1024, 165), (32, 32), images=yale),
    "library_berlin.sli": Expected("matrix", (177, 75), None, (460, 2409)),
    "hylite_library.csv": Expected("matrix", (450, 57), None, (378.19, 2503.73)),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_right(foreign, name):
    expected = FILES[name]
    data = read_dataset(foreign / name)
    assert (data.kind, data.V.shape, data.image_shape) == (
        expected.kind,
        expected.shape,
        expected.image_shape,
    )
    assert 1 - data.observed.mean() == pytest.approx(expected.missing, abs=1e-12)
    if expected.wavelengths is None:
        assert data.wavelengths is None
    else:
        assert data.wavelengths[[0, -1]] == pytest.approx(expected.wavelengths, abs=0.01)
    if expected.images is not None:
        np.testing.assert_allclose(data.images(), expected.images(foreign / name), rtol=1e-6)


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_written_back_with_the_changed_entry_and_all_else_as_it_was(foreign, tmp_path, name):
    source = foreign / name.replace(".sli", ".hdr")
    before = read_dataset(source)
    V = np.array(before.V)
    (row, *_, other), (col, *_, last) = np.nonzero(before.observed)
    V[row, col] = V[other, last]

    out, *_ = write_like(source, V, tmp_path / f"out{source.suffix}")

    after = read_dataset(out)
    np.testing.assert_allclose(after.V, V, rtol=1e-6)
    same = ("kind", "image_shape", "order", "georeference")
    assert [getattr(after, one) for one in same] == [getattr(before, one) for one in same]
    np.testing.assert_array_equal(after.wavelengths, before.wavelengths)


def test_the_cube_is_meant_and_its_truth_is_used(foreign):
    data = read_dataset(foreign / "upc_moffett.mat")
    arrays = scipy.io.loadmat(foreign / "upc_moffett.mat")
    np.testing.assert_array_equal(data.images(data.truth.abundances), arrays["S_GT"].transpose(2, 0, 1))
    np.testing.assert_array_equal(data.truth.endmembers, arrays["GT"].T)
    assert any("S_GT, GT" in note for note in data.notes)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fake_PACE_OCI.nc", r"rhos in fake_PACE_OCI\.nc has no value at all: every entry is missing"),
        ("Reuters21578.mat", r"fea in Reuters21578\.mat, a sparse matrix, has 8,293 x 18,933 .* at most"),
    ],
)
def test_a_file_is_refused_in_plain_words(foreign, name, words):
    with pytest.raises(UnreadableData, match=words):
        read_dataset(foreign / name)


@pytest.mark.parametrize(
    ("name", "count", "first"),
    [("library_berlin.sli", 75, "red clay tile 1"), ("hylite_library.csv", 57, "2016_AM-21")],
)
def test_spectral_libraries_have_names(foreign, name, count, first):
    library = read_library(foreign / name)
    assert (len(library.names), library.names[0]) == (count, first)
    assert library.spectra.shape == (library.wavelengths.size, count)
