"""Small sound files of every format, written by the libraries that people use, to breed mutants from."""

from __future__ import annotations

import csv
import io
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import scipy.io
import scipy.sparse
import spectral.io.envi
import tifffile
from PIL import Image
from rasterio.io import MemoryFile
from rasterio.transform import Affine

File = tuple[str, bytes]
ROWS, COLS, BANDS = 6, 5, 4
WAVELENGTHS = np.array([450.0, 550.0, 650.0, 850.0])


def cube() -> np.ndarray:
    """rows x cols x bands, all entries different."""
    return np.arange(ROWS * COLS * BANDS, dtype=np.float64).reshape(ROWS, COLS, BANDS)


def bands(dtype: str) -> np.ndarray:
    """The cube as bands x rows x cols."""
    return cube().transpose(2, 0, 1).astype(dtype)


def picture(seed: int, dtype: str = "u1", channels: int = 0) -> np.ndarray:
    shape = (8, 7, channels) if channels else (8, 7)
    return np.random.default_rng(seed).integers(0, np.iinfo(dtype).max, shape).astype(dtype)


def pillow(array: np.ndarray, form: str, **options: object) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(array).save(stream, form, **options)
    return stream.getvalue()


def pictures(form: str, suffix: str, dtype: str = "u1", channels: int = 0) -> list[File]:
    return [(f"face{i}.{suffix}", pillow(picture(i, dtype, channels), form)) for i in range(2)]


def zipped(files: list[File]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return stream.getvalue()


def matlab5(compressed: bool) -> list[File]:
    stream = io.BytesIO()
    variables = {
        "Y": cube().reshape(-1, BANDS, order="F").T,
        "lines": ROWS,
        "cols": COLS,
        "wavelength": WAVELENGTHS,
        "about": {"site": "nowhere", "year": 2020},
    }
    scipy.io.savemat(stream, variables, do_compression=compressed)
    return [("scene.mat", stream.getvalue())]


def matlab73(**storage: object) -> list[File]:
    stream = io.BytesIO()
    with h5py.File(stream, "w", userblock_size=512) as file:
        for name, values in {"cube": cube(), "wavelength": WAVELENGTHS[:, None]}.items():
            dataset = file.create_dataset(name, data=values.T, **(storage if values.ndim == 3 else {}))
            dataset.attrs["MATLAB_class"] = np.bytes_("double")
    block = b"MATLAB 7.3 MAT-file, made for tests".ljust(124) + b"\x00\x02IM"
    return [("scene.mat", block + stream.getvalue()[len(block) :])]


def tiff(array: np.ndarray, **options: object) -> list[File]:
    stream = io.BytesIO()
    tifffile.imwrite(stream, array, **options)
    return [("scene.tif", stream.getvalue())]


def geotiff(**options: object) -> list[File]:
    """As GDAL writes it, with coordinates, wavelengths, scale and no-data value."""
    with MemoryFile() as memory:
        with memory.open(
            driver="GTiff", width=COLS, height=ROWS, count=BANDS, dtype="int16", nodata=-9999,
            crs="EPSG:32633", transform=Affine(30, 0, 366015, 0, -30, 5806125), **options,
        ) as file:  # fmt: skip
            file.write(bands("i2"))
            file.scales = [0.0001] * BANDS
            for i, nm in enumerate(WAVELENGTHS, 1):
                file.update_tags(i, wavelength=nm, wavelength_units="Nanometers", bbl=int(i != 2))
        return [("scene.tif", memory.read())]


def netcdf4(**storage: object) -> list[File]:
    """As EMIT's reflectance: the cube at the top, wavelengths and flags in a group, fill values."""
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        cube_ = file.create_dataset("reflectance", data=cube().astype("f4"), **storage)
        cube_.attrs["_FillValue"] = np.float32(-9999)
        group = file.create_group("sensor_band_parameters")
        group["wavelengths"], group["good_wavelengths"] = WAVELENGTHS, np.array([1, 1, 0, 1], "u1")
        group["wavelengths"].make_scale("bands")
        cube_.dims[2].attach_scale(group["wavelengths"])
        file["location/lat"] = np.ones((ROWS, COLS))
    return [("scene.nc", stream.getvalue())]


def prisma() -> list[File]:
    """A swath of level 1, whose numbers are scaled by attributes of the file."""
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        file["HDFEOS/SWATHS/PRS_L1_HCO/Data Fields/VNIR_Cube"] = cube().transpose(0, 2, 1).astype("u2")
        file.attrs["List_Cw_Vnir"], file.attrs["List_Cw_Vnir_Flags"] = WAVELENGTHS, np.array([1.0, 1, 0, 1])
        file.attrs["ScaleFactor_Vnir"], file.attrs["Offset_Vnir"] = 100.0, 0.0
    return [("scene.he5", stream.getvalue())]


def netcdf3() -> list[File]:
    stream = io.BytesIO()
    file = scipy.io.netcdf_file(stream, "w")
    for name, size in (("y", ROWS), ("x", COLS), ("wavelength", BANDS)):
        file.createDimension(name, size)
    variable = file.createVariable("radiance", "f4", ("y", "x", "wavelength"))
    variable[:], variable.scale_factor = cube(), 0.5
    file.createVariable("wavelength", "f8", ("wavelength",))[:] = WAVELENGTHS
    file.flush()
    return [("scene.nc", stream.getvalue())]


def several_arrays() -> list[File]:
    """A cube beside the truth about it, and a sparse matrix."""
    stream = io.BytesIO()
    truth = {"A": np.full((ROWS, COLS, 2), 0.5), "M": np.ones((BANDS, 2))}
    sparse = scipy.sparse.csc_matrix(np.eye(3))
    scipy.io.savemat(stream, {"Y": cube(), "words": sparse, **truth}, do_compression=True)
    return [("scene.mat", stream.getvalue())]


def library() -> list[File]:
    """An ENVI spectral library: three spectra of four bands."""
    header = (
        "ENVI\nsamples = 4\nlines = 3\nbands = 1\nfile type = ENVI Spectral Library\ndata type = 4\n"
        "interleave = bsq\nbyte order = 0\nspectra names = {a, b, c}\nwavelength units = Micrometers\n"
        "wavelength = {0.45, 0.55, 0.65, 0.85}\n"
    )
    return [("lib.hdr", header.encode()), ("lib.sli", np.arange(12, dtype="f4").tobytes())]


def spectra() -> list[File]:
    """A table with wavelengths in its first line."""
    header = "name," + ",".join(str(400 + 10 * i) for i in range(12))
    rows = [f"s{i}," + ",".join(str(i + j / 10) for j in range(12)) for i in range(4)]
    return [("spectra.csv", "\n".join([header, *rows]).encode())]


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def npz() -> list[File]:
    stream = io.BytesIO()
    np.savez_compressed(stream, cube=cube(), wavelengths=WAVELENGTHS)
    return [("scene.npz", stream.getvalue())]


def envi(interleave: str, dtype: str = "u2") -> list[File]:
    metadata = {"wavelength": WAVELENGTHS.tolist(), "wavelength units": "Nanometers", "bbl": [1, 1, 0, 1]}
    with tempfile.TemporaryDirectory() as folder:
        header = Path(folder, "scene.hdr")
        spectral.io.envi.save_image(
            str(header), cube().astype(dtype), interleave=interleave, ext="", metadata=metadata, dtype=dtype
        )
        return [("scene.hdr", header.read_bytes()), ("scene", Path(folder, "scene").read_bytes())]


def table(delimiter: str, suffix: str) -> list[File]:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter)
    writer.writerow(["a", "b", "c"])
    writer.writerows([[1.5, "", 3], [4, 5e-3, 6], [7, 8, "nan"]])
    return [(f"matrix.{suffix}", stream.getvalue().encode())]


SEEDS: dict[str, Callable[[], list[File]]] = {
    "pgm": lambda: pictures("PPM", "pgm"),
    "png": lambda: pictures("PNG", "png"),
    "png16": lambda: pictures("PNG", "png", "u2"),
    "png-colour": lambda: pictures("PNG", "png", channels=3),
    "jpeg": lambda: pictures("JPEG", "jpg", channels=3),
    "bmp": lambda: pictures("BMP", "bmp"),
    "tiff-bands": lambda: tiff(bands("u2"), photometric="minisblack", planarconfig="separate"),
    "tiff-pages": lambda: tiff(bands("f4"), photometric="minisblack"),
    "tiff-deflate": lambda: tiff(picture(0, "u1", 3), photometric="rgb", compression="zlib"),
    "tiff-tiled": lambda: tiff(np.tile(picture(0, "u2"), (5, 5)), tile=(16, 16), compression="zlib"),
    "tiff-lzw": lambda: [("face.tif", pillow(picture(0), "TIFF", compression="tiff_lzw"))],
    "geotiff": geotiff,
    "geotiff-lzw": lambda: geotiff(compress="lzw", predictor=2),
    "geotiff-tiled": lambda: geotiff(compress="deflate", tiled=True, blockxsize=16, blockysize=16),
    "zip": lambda: [("faces.zip", zipped([(f"set/{name}", data) for name, data in pictures("PPM", "pgm")]))],
    "mat5": lambda: matlab5(compressed=False),
    "mat5-packed": lambda: matlab5(compressed=True),
    "mat5-several": several_arrays,
    "mat73": matlab73,
    "mat73-packed": lambda: matlab73(compression="gzip", shuffle=True, chunks=(2, 3, 3)),
    "npy": lambda: [("scene.npy", npy(cube()))],
    "npy-columns": lambda: [("scene.npy", npy(np.asfortranarray(cube())))],
    "npz": npz,
    "envi-bil": lambda: envi("bil"),
    "envi-bip": lambda: envi("bip", "f4"),
    "envi-bsq": lambda: envi("bsq", "i2"),
    "netcdf4": netcdf4,
    "netcdf4-packed": lambda: netcdf4(compression="gzip", shuffle=True, chunks=(3, 5, 2)),
    "netcdf3": netcdf3,
    "hdf5-prisma": prisma,
    "library": library,
    "spectra": spectra,
    "csv": lambda: table(",", "csv"),
    "tsv": lambda: table("\t", "tsv"),
}  # fmt: skip
