"""What `restore` writes opens in its format's own tool, and differs only where entries look wrong."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
import pytest
import rasterio
import scipy.io
import spectral.io.envi
from PIL import Image

from atnmf_core.__main__ import main

Reading = tuple[np.ndarray, Any]
"""The numbers as the file stores them, laid out as --defects writes them, and all else that is in it."""


def matlab(path: Path) -> dict[str, Any]:
    """The arrays in MATLAB's own types; it stores whole numbers of type double in fewer bytes."""
    arrays: dict[str, Any] = scipy.io.loadmat(path, mat_dtype=True)
    return arrays


def mat_cube(path: Path) -> Reading:
    arrays = matlab(path)
    return arrays.pop("Y").T.reshape(50, 50, -1, order="F"), texts(arrays)


def mat_faces(path: Path) -> Reading:
    arrays = matlab(path)
    return arrays.pop("fea").reshape(-1, 32, 32, order="F"), texts(arrays)


def mat_matrix(path: Path) -> Reading:
    arrays = matlab(path)
    (name,) = {"V", "X"} & arrays.keys()
    return arrays.pop(name), texts(arrays)


def envi(path: Path) -> Reading:
    opened = spectral.io.envi.open(str(path))
    return np.array(opened.open_memmap(interleave="bip")), path.read_bytes()


def envi_without_byte_order(path: Path) -> Reading:
    binary = next(
        path.with_suffix(suffix) for suffix in (".raw", ".img") if path.with_suffix(suffix).exists()
    )
    return np.fromfile(binary, "<u2").reshape(31, 580, 43).transpose(0, 2, 1), path.read_bytes()


def library(path: Path) -> Reading:
    opened = spectral.io.envi.open(str(path))
    return opened.spectra.T, path.read_bytes()


def geotiff(path: Path) -> Reading:
    with rasterio.open(path) as file:
        tags = [file.tags(), *(file.tags(band) for band in file.indexes)]
        rest = (dict(file.profile), tags, file.scales, file.descriptions)
        return file.read().transpose(1, 2, 0), rest


def netcdf(path: Path) -> Reading:
    rest: dict[str, str] = {}
    with h5py.File(path) as file:
        cube = file["reflectance"][()]
        file.visititems(
            lambda name, item: rest.update({name: texts(dict(item.attrs))}) if name != "reflectance" else None
        )
        return cube, rest


def table(path: Path) -> Reading:
    lines = [line.split(",") for line in path.read_text().splitlines()]
    return np.array([line[1:] for line in lines[1:]], float).T, ([line[0] for line in lines], lines[0])


def zipped_images(path: Path) -> Reading:
    with zipfile.ZipFile(path) as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".pgm"))
        faces = [np.array(Image.open(io.BytesIO(archive.read(name)))) for name in names]
        return np.array(faces), sorted(archive.namelist())


def texts(arrays: dict[str, Any]) -> dict[str, str]:
    return {name: repr(value) for name, value in arrays.items() if name != "__header__"}


class Case(NamedTuple):
    file: str
    read: Callable[[Path], Reading]
    words: tuple[str, ...] = ("--K", "2")


CASES = [
    Case("foreign/upc_moffett.mat", mat_cube),
    Case("foreign/Yale_32x32.mat", mat_faces),
    Case("foreign/cubus_gamsberg_subset.hdr", envi),
    Case("foreign/corn-kernel-hyperspectral.hdr", envi_without_byte_order),
    Case("foreign/library_berlin.hdr", library),
    Case("foreign/enmap_potsdam_tile_128_128.tif", geotiff),
    Case("foreign/force_TSI.tif", geotiff),
    Case("foreign/fake_EMIT_L2A_with_good_wavelengths.nc", netcdf, ("--K", "1")),
    Case("foreign/hylite_library.csv", table),
    Case("moffet/clean_Moffet.mat", mat_matrix),
    Case("synthetic/X.mat", mat_matrix),
    Case("cbcl/cbcl_faces.zip", zipped_images),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: Path(case.file).name)
def test_only_missing_and_suspect_entries_change(case: Case, paper_data: Path, tmp_path: Path) -> None:
    source = paper_data / case.file
    if not source.is_file():
        pytest.skip(f"{case.file} is not in the folder that ATNMF_DATA_DIR names")
    out, defects = tmp_path / f"restored{source.suffix}", tmp_path / "defects.npy"

    words = ["restore", str(source), "--out", str(out), "--unmarked", "--lam", "1.1", *case.words]
    assert main([*words, "--defects", str(defects)]) == 0

    (before, rest_before), (after, rest_after) = case.read(source), case.read(out)
    assert (after.dtype, after.shape) == (before.dtype, before.shape)
    assert rest_after == rest_before
    wrong = np.load(defects)
    changed = after != before
    assert wrong.shape == changed.shape
    missing = before == rest_before[0].get("nodata") if case.read is geotiff else before == -9999
    assert not (changed & ~wrong & ~missing).any()
    assert (changed[wrong]).mean() > 0.9 if wrong.any() else not changed[~missing].any()


@pytest.mark.parametrize("name", ["fake_PACE_OCI.nc", "Reuters21578.mat"])
def test_what_cannot_be_read_is_refused(
    name: str, paper_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = paper_data / "foreign" / name
    if not source.is_file():
        pytest.skip(f"foreign/{name} is not in the folder that ATNMF_DATA_DIR names")

    assert main(["restore", str(source), "--out", str(tmp_path / f"out{source.suffix}")]) == 1

    assert capsys.readouterr().err.startswith("atnmf_core restore: ")
    assert not list(tmp_path.iterdir())
