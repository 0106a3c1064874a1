"""A small damaged scene in the formats that large ones come in."""

from pathlib import Path
from typing import NamedTuple

import h5py
import numpy as np
import numpy.typing as npt
import rasterio

from atnmf_core.datasets.bundled import simulated_scene

ROWS, COLS, BANDS = 60, 60, 20
HEADER = """ENVI
; a comment that stays
samples = {cols}
lines = {rows}
bands = {bands}
header offset = 0
data type = {kind}
interleave = {interleave}
byte order = {order}
data ignore value = -9999
reflectance scale factor = 10000
sensor type = an entry that only its owner knows
wavelength units = Nanometers
wavelength = {{{wavelengths}}}
"""


class Damaged(NamedTuple):
    """rows x cols x bands: the truth, what is left of it, and which entries are wrong and which missing."""

    sound: npt.NDArray[np.float32]
    cube: npt.NDArray[np.float32]
    wrong: npt.NDArray[np.bool_]
    missing: npt.NDArray[np.bool_]


def damaged_scene(rows: int = ROWS, cols: int = COLS, bands: int = BANDS) -> Damaged:
    """A tenth of the entries is too dark and unmarked, a twentieth is missing."""
    sound = simulated_scene(rows, cols, bands, materials=4, seed=1).images().transpose(1, 2, 0) + 0.02
    rng = np.random.default_rng(0)
    wrong, missing = rng.random(sound.shape) < 0.1, rng.random(sound.shape) < 0.05
    cube = np.where(wrong, sound * rng.uniform(0, 0.6, sound.shape), sound)
    return Damaged(
        sound.astype(np.float32),
        np.where(missing, np.nan, cube).astype(np.float32),
        wrong & ~missing,
        missing,
    )


def write_npy(cube: npt.NDArray[np.float32], path: Path) -> None:
    np.save(path, cube)


def write_envi(cube: npt.NDArray[np.float32], path: Path, interleave: str = "bsq", kind: str = "<i2") -> None:
    """Whole numbers with a scale factor, or plain floating-point ones."""
    order = {"bsq": (2, 0, 1), "bil": (0, 2, 1), "bip": (0, 1, 2)}[interleave]
    numbers = np.where(np.isnan(cube), -9999, np.rint(cube * 10000))
    rows, cols, bands = cube.shape
    path.write_text(
        HEADER.format(
            rows=rows,
            cols=cols,
            bands=bands,
            interleave=interleave,
            kind={"i2": 2, "f4": 4}[kind[1:]],
            order=int(kind[0] == ">"),
            wavelengths=", ".join(f"{400 + 10 * band}" for band in range(bands)),
        )
    )
    numbers.transpose(order).astype(kind).tofile(path.with_suffix(".img"))


def write_hdf5(cube: npt.NDArray[np.float32], path: Path) -> None:
    with h5py.File(path, "w") as file:
        data = file.create_dataset(
            "reflectance", data=cube, chunks=(16, 16, cube.shape[2]), compression="gzip"
        )
        data.attrs["_FillValue"] = np.float32(-9999)
        file["wavelengths"] = np.linspace(400, 900, cube.shape[2])
        file["flags/clouds"] = np.arange(12).reshape(3, 4)
        file.attrs["title"] = "stays"


def write_geotiff(cube: npt.NDArray[np.float32], path: Path) -> None:
    rows, cols, bands = cube.shape
    profile = {"driver": "GTiff", "dtype": "float32", "width": cols, "height": rows, "count": bands}
    tiles = {"tiled": True, "blockxsize": 16, "blockysize": 16, "compress": "deflate", "nodata": -1.0}
    place = {"crs": "EPSG:32610", "transform": rasterio.Affine(30, 0, 5e5, 0, -30, 4e6)}
    with rasterio.open(path, "w", **profile, **tiles, **place) as file:
        file.write(np.nan_to_num(cube, nan=-1.0).transpose(2, 0, 1))
        file.update_tags(owner="stays")
