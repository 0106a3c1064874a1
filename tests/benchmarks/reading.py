"""Reading times per format, beside the field's own tool: `python -m tests.benchmarks.reading`.

A cube of 300 x 300 x 200 is written in each format and read by both: the best of three by the clock, and the
processor time of all processes, without their start-up, which a busy machine changes little. The
tool delivers an array; `read_dataset` also brings it to V, looks for missing and negative entries, and
decodes in a process of its own where a library could crash. The aim is 1.5 times the tool's time plus 0.5 s.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import rasterio
import scipy.io
import spectral.io.envi

from atnmf_core.datasets import Limits, read_dataset

SHAPE = (300, 300, 200)
FACTOR, ALLOWANCE = 1.5, 0.5
Reader = Callable[[Path], object]


def by_rasterio(path: Path) -> object:
    with rasterio.open(path) as file:
        return file.read()


def by_h5py(path: Path) -> object:
    with h5py.File(path) as file:
        return file["reflectance"][()]


def by_netcdf(path: Path) -> object:
    with scipy.io.netcdf_file(path, mmap=False) as file:
        return file.variables["reflectance"].data.copy()


def by_spectral(path: Path) -> object:
    return spectral.io.envi.open(str(path)).load()


def by_loadmat(path: Path) -> object:
    return scipy.io.loadmat(path)


def write_geotiff(path: Path, cube: np.ndarray, **options: object) -> None:
    rows, cols, bands = cube.shape
    with rasterio.open(
        path, "w", driver="GTiff", width=cols, height=rows, count=bands, dtype=cube.dtype, **options
    ) as file:
        file.write(cube.transpose(2, 0, 1))


def write_hdf5(path: Path, cube: np.ndarray, **options: object) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("reflectance", data=cube, **options)


def write_netcdf3(path: Path, cube: np.ndarray) -> None:
    with scipy.io.netcdf_file(path, "w", version=2) as file:
        for name, size in zip(("y", "x", "wavelength"), cube.shape, strict=True):
            file.createDimension(name, size)
        file.createVariable("reflectance", "f4", ("y", "x", "wavelength"))[:] = cube


def write_envi(path: Path, cube: np.ndarray) -> None:
    spectral.io.envi.save_image(str(path), cube, dtype=cube.dtype, interleave="bil", force=True)


FORMATS: dict[str, tuple[str, Callable[[Path, np.ndarray], None], Reader]] = {
    "ENVI": ("cube.hdr", write_envi, by_spectral),
    "GeoTIFF": ("plain.tif", write_geotiff, by_rasterio),
    "GeoTIFF, LZW": ("lzw.tif", lambda path, cube: write_geotiff(path, cube, compress="lzw"), by_rasterio),
    "MAT 5": ("plain.mat", lambda path, cube: scipy.io.savemat(path, {"cube": cube}), by_loadmat),
    "MAT 5, packed": (
        "packed.mat",
        lambda path, cube: scipy.io.savemat(path, {"cube": cube}, do_compression=True),
        by_loadmat,
    ),
    "NetCDF 4": ("plain.nc", write_hdf5, by_h5py),
    "NetCDF 4, gzip": (
        "gzip.nc",
        lambda path, cube: write_hdf5(
            path, cube, compression="gzip", chunks=tuple(min(50, n) for n in cube.shape)
        ),
        by_h5py,
    ),
    "NetCDF 3": ("classic.nc", write_netcdf3, by_netcdf),
    "NPY": ("cube.npy", np.save, np.load),
    "CSV": (
        "matrix.csv",
        lambda path, cube: np.savetxt(path, cube.reshape(-1, cube.shape[2]), fmt="%.5g", delimiter=","),
        lambda path: np.loadtxt(path, delimiter=","),
    ),
}


def best(read: Callable[[], object], repeats: int) -> float:
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        read()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def processor_seconds(name: str, path: Path, ours: bool) -> float:
    """Of a process that reads the file once, and of its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "tests.benchmarks.reading", "--read", str(path), "--only", name]
    subprocess.run(command + (["--ours"] if ours else []), check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(name: str, path: Path, tiny: Path, repeats: int) -> bool:
    tool = FORMATS[name][2]
    theirs, ours = best(lambda: tool(path), repeats), best(lambda: by_this_program(path), repeats)
    busy = [
        processor_seconds(name, path, mine) - processor_seconds(name, tiny, mine) for mine in (False, True)
    ]
    met = busy[1] <= FACTOR * busy[0] + ALLOWANCE
    verdict = "" if met else "above the aim"
    print(f"{name:16} {theirs:7.2f} {ours:7.2f}   {busy[0]:7.2f} {busy[1]:7.2f}   {verdict}", flush=True)
    return met


def by_this_program(path: Path) -> object:
    return read_dataset(path, limits=Limits(entries=10**9, bytes=1 << 34))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.reading", description=__doc__)
    parser.add_argument("--only", help="formats, separated by semicolons")
    parser.add_argument(
        "--shape", type=int, nargs=3, default=SHAPE, metavar=("ROWS", "COLS", "BANDS"), help="of the cube"
    )
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--ours", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.read:
        (by_this_program if args.ours else FORMATS[args.only][2])(args.read)
        return 0
    cube = np.random.default_rng(0).integers(0, 10_000, args.shape).astype(np.float32)
    print(f"{' x '.join(map(str, args.shape))}, float32; seconds by the clock and of processor time")
    print(f"{'':16} {'tool':>7} {'ours':>7}   {'tool':>7} {'ours':>7}")
    met = True
    for name in args.only.split(";") if args.only else FORMATS:
        file, write, _ = FORMATS[name]
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
            path, tiny = Path(folder, file), Path(other, file)
            write(path, cube)
            write(tiny, cube[:3, :4, :5])
            met &= compare(name, path, tiny, 1 if name == "CSV" else 3)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
