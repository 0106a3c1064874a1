"""NetCDF and HDF5 laid out as the missions do: the cube, its wavelengths, its units, and what is missing."""

import io
import os
import subprocess
import sys

import h5py
import numpy as np
import pytest
import scipy.io

from atnmf_core.datasets import UnreadableData, read_dataset

ROWS, COLS, BANDS = 6, 5, 9
WAVELENGTHS = np.linspace(420, 2350, BANDS)
CUBE = np.random.default_rng(0).uniform(0.1, 0.9, (ROWS, COLS, BANDS))


def written(build, name="scene.nc"):
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        build(file)
    return (name, stream.getvalue())


def emit(file):
    values = CUBE.astype("f4")
    values[1, 2] = -9999
    file.create_dataset("reflectance", data=values).attrs["_FillValue"] = np.float32(-9999)
    file["reflectance_uncertainty"] = values
    bands = file.create_group("sensor_band_parameters")
    bands["wavelengths"] = WAVELENGTHS
    bands["fwhm"] = np.full(BANDS, 8.0)
    bands["good_wavelengths"] = np.array([1, 1, 1, 0, 1, 1, 1, 1, 1], "u1")
    file["location/lat"] = file["location/lon"] = np.ones((ROWS, COLS))
    expected = values.astype(float)
    expected[1, 2] = expected[:, :, 3] = np.nan
    return expected


def aviris(file):
    group = file.create_group("reflectance")
    group["reflectance"] = CUBE.transpose(2, 0, 1)
    group["wavelength"] = WAVELENGTHS / 1000
    group["wavelength"].attrs["units"] = "micrometers"
    group["fwhm"] = np.full(BANDS, 8.0)
    return CUBE


def pace(file):
    stored = np.rint((CUBE + 0.05) / 2e-6).astype("i4")
    stored[0, 0, 0] = -32767
    cube = file.create_dataset("geophysical_data/Rrs", data=stored)
    cube.attrs.update({"scale_factor": 2e-6, "add_offset": -0.05, "_FillValue": -32767})
    file["geophysical_data/l2_flags"] = np.zeros((ROWS, COLS), "i4")
    file["sensor_band_parameters/wavelength_3d"] = WAVELENGTHS
    file["sensor_band_parameters/wavelength"] = np.linspace(300, 3000, 2 * BANDS)
    expected = stored * 2e-6 - 0.05
    expected[0, 0, 0] = np.nan
    return expected


def neon(file):
    stored = np.rint(CUBE * 10000).astype("i2")
    stored[2, 2] = -9999
    cube = file.create_dataset("SITE/Reflectance/Reflectance_Data", data=stored)
    cube.attrs.update({"Scale_Factor": 10000.0, "Data_Ignore_Value": -9999.0})
    file["SITE/Reflectance/Metadata/Spectral_Data/Wavelength"] = WAVELENGTHS
    file["SITE/Reflectance/Metadata/Spectral_Data/FWHM"] = np.full(BANDS, 5.0)
    expected = stored / 10000
    expected[2, 2] = np.nan
    return expected


def prisma(file):
    stored = np.rint(CUBE * 65535).astype("u2")
    swath = "HDFEOS/SWATHS/PRS_L2D_HCO/Data Fields"
    file[f"{swath}/VNIR_Cube"] = stored.transpose(0, 2, 1)
    flags = np.zeros((ROWS, BANDS, COLS), "u1")
    flags[3, 2, 1] = 2
    file[f"{swath}/VNIR_PIXEL_L2_ERR_MATRIX"] = flags
    file.attrs["List_Cw_Vnir"] = np.where(np.arange(BANDS) == 0, 0, WAVELENGTHS).astype("f4")
    file.attrs["List_Cw_Vnir_Flags"] = (np.arange(BANDS) > 0).astype("f4")
    file.attrs["L2ScaleVnirMin"], file.attrs["L2ScaleVnirMax"] = np.float32(0), np.float32(1)
    expected = stored / 65535
    expected[3, 1, 2] = expected[:, :, 0] = np.nan
    return expected


@pytest.mark.parametrize("layout", [emit, aviris, pace, neon, prisma])
def test_a_missions_file_is_read_unprompted(layout):
    kept = {}
    data = read_dataset(written(lambda file: kept.update(expected=layout(file))))
    assert (data.kind, data.image_shape) == ("cube", (ROWS, COLS))
    np.testing.assert_allclose(data.images(), kept["expected"].transpose(2, 0, 1), rtol=1e-6)
    np.testing.assert_allclose(data.wavelengths[1:], WAVELENGTHS[1:], rtol=1e-6)


def test_two_detectors_are_asked_about_and_found_by_name():
    def build(file):
        file["observation_data/rhot_blue"] = CUBE.transpose(2, 0, 1)
        file["observation_data/rhot_red"] = CUBE[:, :, :4].transpose(2, 0, 1) / 2
        file["sensor_band_parameters/blue_wavelength"] = WAVELENGTHS
        file["sensor_band_parameters/red_wavelength"] = WAVELENGTHS[:4] + 1

    file = written(build)
    with pytest.raises(UnreadableData, match="several arrays") as question:
        read_dataset(file)
    assert {one.name for one in question.value.arrays} == {
        "observation_data/rhot_blue",
        "observation_data/rhot_red",
    }
    data = read_dataset(file, variable="rhot_red")
    np.testing.assert_allclose(data.images(), CUBE[:, :, :4].transpose(2, 0, 1) / 2)
    np.testing.assert_allclose(data.wavelengths, WAVELENGTHS[:4] + 1)


def test_a_file_is_known_by_its_contents():
    file = written(lambda file: file.create_dataset("radiance", data=CUBE), "scene")
    assert read_dataset(file).V.shape == (BANDS, ROWS * COLS)


def test_numbers_outside_the_valid_range_are_missing():
    def build(file):
        cube = file.create_dataset("radiance", data=CUBE)
        cube.attrs["valid_min"], cube.attrs["valid_max"] = 0.2, 0.8

    data = read_dataset(written(build))
    expected = np.where((CUBE < 0.2) | (CUBE > 0.8), np.nan, CUBE)
    np.testing.assert_array_equal(data.images(), expected.transpose(2, 0, 1))


def test_a_file_without_a_cube_is_refused():
    file = written(lambda file: file.create_dataset("time", data=np.arange(5.0)))
    with pytest.raises(UnreadableData, match="no matrix or cube of numbers"):
        read_dataset(file)


MEASURE = """
import sys, tracemalloc
from atnmf_core.datasets.readers.decoding import netcdf3
data = sys.stdin.buffer.read()
tracemalloc.start()
values = netcdf3.open_file(data).read("reflectance")
print(tracemalloc.get_traced_memory()[1] / len(data), values.shape)
"""


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="files in memory are mapped on Linux only")
def test_a_classic_netcdf_file_needs_no_memory_beside_its_own():
    """SciPy copies an array twice: its process had no room for that, and large files were refused."""
    stream = io.BytesIO()
    file = scipy.io.netcdf_file(stream, "w", version=2)
    shape = (100, 100, 100)
    for name, size in zip(("y", "x", "wavelength"), shape, strict=True):
        file.createDimension(name, size)
    file.createVariable("reflectance", "f4", ("y", "x", "wavelength"))[:] = np.ones(shape)
    file.flush()

    done = subprocess.run(
        [sys.executable, "-c", MEASURE], input=stream.getvalue(), capture_output=True, check=True
    )

    beside, found = done.stdout.decode().split(maxsplit=1)
    assert found.strip() == str(shape)
    assert float(beside) < 0.1
