"""Every format, written by an independent library or as the missions do, is read equal, the right way up."""

import io
import os
import subprocess
import sys

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse
import spectral.io.envi
import tifffile
from PIL import Image

from atnmf_core.datasets import (
    Limits,
    UnreadableData,
    load_dataset,
    read_dataset,
    write_envi,
    write_mat,
    write_npz,
)
from atnmf_core.datasets.files.table import _Table
from tests.fuzz.seeds import npy, pillow

ROWS, COLS, BANDS = 6, 5, 7
WAVELENGTHS = np.linspace(420, 2350, BANDS)
CUBE = np.random.default_rng(0).uniform(0, 10, (ROWS, COLS, BANDS))
ORDERS = pytest.mark.parametrize("order", ["F", "C"])


def assert_is_the_cube(data, expected=CUBE, rtol=0.0):
    """The band images are the expected ones, whatever the order of pixels inside V."""
    assert data.kind == "cube"
    assert data.image_shape == expected.shape[:2]
    np.testing.assert_allclose(data.images(), expected.transpose(2, 0, 1), rtol=rtol)
    pixel = data.V[:, np.ravel_multi_index((2, 4), expected.shape[:2], order=data.order)]
    np.testing.assert_allclose(pixel, expected[2, 4], rtol=rtol)


def mat(compressed=False, form="5", **variables):
    stream = io.BytesIO()
    scipy.io.savemat(stream, variables, do_compression=compressed, format=form)
    return stream.getvalue()


def mat73(path, variables, **storage):
    """As MATLAB writes it: a user block, axes reversed, the class of each array beside it."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in variables.items():
            dataset = file.create_dataset(
                name, data=np.atleast_2d(values).T, **(storage if np.ndim(values) > 2 else {})
            )
            dataset.attrs["MATLAB_class"] = np.bytes_("double")
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    return path


@ORDERS
@pytest.mark.parametrize("compressed", [False, True])
def test_matlab_5_cube(order, compressed):
    file = ("scene.mat", mat(compressed, any_name=CUBE, wavelength=WAVELENGTHS))
    data = read_dataset(file, order=order)
    assert_is_the_cube(data)
    assert data.order == order
    np.testing.assert_array_equal(data.wavelengths, WAVELENGTHS)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "?"])
def test_matlab_5_number_types(dtype):
    values = (CUBE * 10 % 2 if dtype == "?" else CUBE * 10).astype(dtype)
    assert_is_the_cube(read_dataset(("scene.mat", mat(cube=values))), values.astype(float))


@ORDERS
def test_matlab_5_matrix_of_pixels_in_both_orders(order):
    Y = CUBE.reshape(-1, BANDS, order=order).T
    for stored in (Y, Y.T):
        assert_is_the_cube(read_dataset(("scene.mat", mat(Y=stored, rows=ROWS, cols=COLS)), order=order))


@ORDERS
@pytest.mark.parametrize("storage", [{}, {"compression": "gzip", "shuffle": True, "chunks": (3, 2, 2)}])
def test_matlab_73_cube(tmp_path, order, storage):
    path = mat73(tmp_path / "scene.mat", {"cube": CUBE, "wavelengths": WAVELENGTHS}, **storage)
    data = read_dataset(path, order=order)
    assert_is_the_cube(data)
    np.testing.assert_array_equal(data.wavelengths, WAVELENGTHS)

    pixels = {"Y": CUBE.reshape(-1, BANDS, order="F").T, "lines": ROWS, "cols": COLS}
    assert_is_the_cube(read_dataset(mat73(path, pixels)))


@ORDERS
@pytest.mark.parametrize("stored", [np.ascontiguousarray, np.asfortranarray, lambda a: a.astype(">f4")])
def test_npy_cube_with_bands_on_any_axis(order, stored):
    array = stored(CUBE)
    assert_is_the_cube(read_dataset(("scene.npy", npy(array)), order=order), array.astype(float))
    for axis in range(3):
        file = ("scene.npy", npy(np.moveaxis(array, 2, axis)))
        assert_is_the_cube(read_dataset(file, order=order, bands_axis=axis), array.astype(float))


@ORDERS
def test_npz_cube_with_wavelengths(order):
    stream = io.BytesIO()
    np.savez_compressed(stream, wavelengths=WAVELENGTHS / 1000, anything=CUBE)
    data = read_dataset(("scene.npz", stream.getvalue()), order=order)
    assert_is_the_cube(data)
    np.testing.assert_allclose(data.wavelengths, WAVELENGTHS)
    assert any("micrometres" in note for note in data.notes)


@ORDERS
def test_npy_matrix_of_pixels_is_row_major_unless_told(order):
    file = ("m.npy", npy(CUBE.reshape(-1, BANDS, order=order)))
    chosen = {} if order == "C" else {"order": "F"}
    assert_is_the_cube(read_dataset(file, image_shape=(ROWS, COLS), **chosen))


# The numbers are read before the axes are turned, so not every type meets every order.
ENVI_TYPES = [
    ("C", "bil", dtype, byteorder) for dtype in ("u1", "i2", "u2", "f4", "f8") for byteorder in (0, 1)
]
ENVI_ORDERS = [(order, interleave, "i2", 1) for order in "CF" for interleave in ("bil", "bip", "bsq")]


@pytest.mark.parametrize(("order", "interleave", "dtype", "byteorder"), [*ENVI_TYPES, *ENVI_ORDERS])
def test_envi_cube(tmp_path, order, interleave, dtype, byteorder):
    header = tmp_path / "scene.hdr"
    values = CUBE.astype(dtype)
    metadata = {"wavelength": WAVELENGTHS.tolist(), "wavelength units": "Nanometers"}
    spectral.io.envi.save_image(
        str(header), values, interleave=interleave, dtype=dtype, byteorder=byteorder, metadata=metadata
    )
    data = read_dataset(header, order=order)
    assert_is_the_cube(data, values.astype(float))
    np.testing.assert_allclose(data.wavelengths, WAVELENGTHS)


def test_envi_bad_bands_are_missing_and_keep_their_wavelengths(tmp_path):
    header = tmp_path / "scene.hdr"
    good = [1, 0, 1, 1, 0, 1, 1]
    metadata = {"wavelength": (WAVELENGTHS / 1000).tolist(), "wavelength units": "Micrometers", "bbl": good}
    spectral.io.envi.save_image(str(header), CUBE, dtype="f8", metadata=metadata)
    data = read_dataset(header)
    assert_is_the_cube(data, np.where(np.array(good) == 1, CUBE, np.nan))
    np.testing.assert_allclose(data.wavelengths, WAVELENGTHS)
    assert "2 of 7 bands are marked as bad in the header." in data.notes


def test_envi_no_data_value_and_scale_factor(tmp_path):
    header = tmp_path / "scene.hdr"
    values = (CUBE * 1000).astype("i2")
    values[1, 2, 3] = -9999
    metadata = {"data ignore value": -9999, "reflectance scale factor": 1000}
    spectral.io.envi.save_image(str(header), values, dtype="i2", metadata=metadata)
    data = read_dataset(header)
    expected = values / 1000
    expected[1, 2, 3] = np.nan
    np.testing.assert_allclose(data.images(), expected.transpose(2, 0, 1))

    header.write_text(header.read_text().replace("data ignore value = -9999", ""))
    with pytest.raises(UnreadableData, match=r"down to -9\.999 \(-9999 in the file\)"):
        read_dataset(header)


@ORDERS
@pytest.mark.parametrize(
    ("layout", "options"),
    [
        ("pages", {}),
        ("planes", {"planarconfig": "separate"}),
        ("samples", {"planarconfig": "contig"}),
        ("samples", {"planarconfig": "contig", "compression": "zlib"}),
        ("samples", {"planarconfig": "contig", "tile": (16, 16), "compression": "zlib"}),
        ("planes", {"planarconfig": "separate", "byteorder": ">"}),
        ("planes", {"planarconfig": "separate", "bigtiff": True}),
    ],
)
def test_multiband_tiff(order, layout, options):
    values = (CUBE * 100).astype("u2")
    stream = io.BytesIO()
    stored = values if layout == "samples" else values.transpose(2, 0, 1)
    tifffile.imwrite(stream, stored, photometric="minisblack", **options)
    assert_is_the_cube(read_dataset(("scene.tif", stream.getvalue()), order=order), values.astype(float))


def test_tiff_no_data_value_of_gdal():
    values = CUBE.astype("f4")
    values[3, 3] = -9999
    stream = io.BytesIO()
    tifffile.imwrite(
        stream, values.transpose(2, 0, 1), photometric="minisblack", planarconfig="separate",
        extratags=[(42113, "s", 0, "-9999", True)],
    )  # fmt: skip
    data = read_dataset(("scene.tif", stream.getvalue()))
    expected = np.where(values == -9999, np.nan, values)
    np.testing.assert_array_equal(data.images(), expected.transpose(2, 0, 1))


FACES = np.random.default_rng(1).integers(0, 256, (12, 9, 8), dtype=np.uint8)


@ORDERS
@pytest.mark.parametrize(
    ("form", "suffix", "options"),
    [
        ("PPM", "pgm", {}),
        ("PNG", "png", {}),
        ("BMP", "bmp", {}),
        ("TIFF", "tif", {}),
        ("TIFF", "tiff", {"compression": "tiff_lzw"}),
        ("TIFF", "tiff", {"compression": "tiff_deflate"}),
    ],
)
def test_image_files_in_natural_order(order, form, suffix, options):
    files = [(f"face{i}.{suffix}", pillow(face, form, **options)) for i, face in enumerate(FACES)]
    data = read_dataset(files[::-1], order=order)
    assert (data.kind, data.V.shape, data.order) == ("faces", (72, 12), order)
    np.testing.assert_array_equal(data.images(), FACES / 255)
    bands = read_dataset(files, kind="cube", order=order)
    assert (bands.kind, bands.V.shape) == ("cube", (12, 72))
    np.testing.assert_array_equal(bands.images(), FACES / 255)


@pytest.mark.parametrize(("form", "suffix"), [("PNG", "png"), ("PPM", "pgm")])
def test_sixteen_bit_images_keep_their_depth(form, suffix):
    deep = (FACES.astype(np.uint16) * 257 - 100 * (FACES > 0)).astype(np.uint16)
    files = [(f"{i}.{suffix}", pillow(face, form)) for i, face in enumerate(deep)]
    np.testing.assert_allclose(read_dataset(files).images(), deep / 65535)


def test_jpeg_faces_are_near_what_was_saved():
    smooth = np.add.outer(np.arange(16), np.arange(16)).astype(np.uint8) * 8
    files = [(f"{i}.jpg", pillow(smooth // (i + 1), "JPEG", quality=95)) for i in range(2)]
    np.testing.assert_allclose(read_dataset(files).images()[0], smooth / 255, atol=0.03)


def test_colour_images_become_grey_with_a_note():
    colour = np.random.default_rng(2).integers(0, 256, (2, 5, 6, 3), dtype=np.uint8)
    files = [(f"{i}.png", pillow(picture, "PNG")) for i, picture in enumerate(colour)]
    data = read_dataset([*files, ("3.png", pillow(colour[0][:, :, 0], "PNG"))])
    np.testing.assert_allclose(data.images()[:2], colour @ [0.299, 0.587, 0.114] / 255, atol=0.5 / 255 + 1e-3)
    assert "2 of 3 images were in colour and were turned to grey." in data.notes


def test_a_photograph_that_was_taken_sideways_comes_out_upright():
    picture = np.arange(30, dtype=np.uint8).reshape(5, 6) * 8
    exif = Image.Exif()
    exif[274] = 6  # the camera was turned: rotate by 90 degrees clockwise to see it upright
    files = [(f"{i}.png", pillow(picture, "PNG", exif=exif)) for i in range(2)]
    np.testing.assert_array_equal(read_dataset(files).images()[0], np.rot90(picture, -1) / 255)


def table(delimiter):
    stream = io.StringIO()
    np.savetxt(stream, CUBE[0], fmt="%.17g", delimiter=delimiter)
    return stream.getvalue().encode()


SPARSE = np.where(CUBE[0] > 5, CUBE[0], 0)


@pytest.mark.parametrize(
    ("name", "contents", "matrix"),
    [
        ("m.npy", npy(CUBE[0]), CUBE[0]),
        ("matlab 4.mat", mat(form="4", V=CUBE[0]), CUBE[0]),
        ("sparse.mat", mat(fea=scipy.sparse.csc_matrix(SPARSE), gnd=np.ones((ROWS, 1))), SPARSE),
        ("comma.csv", table(","), CUBE[0]),
        ("semicolon.csv", table(";"), CUBE[0]),
        ("tab.tsv", table("\t"), CUBE[0]),
        ("blank.txt", table(" "), CUBE[0]),
    ],
)
def test_a_matrix_is_read_as_it_is(name, contents, matrix):
    data = read_dataset((name, contents))
    assert data.kind == "matrix"
    np.testing.assert_array_equal(data.V, matrix)


@pytest.mark.parametrize("heading", ["", ",".join("abcdefg") + "\n"])
def test_a_table_of_numbers_is_parsed_as_a_whole(monkeypatch, heading):
    parsed = []
    number = _Table._number
    monkeypatch.setattr(_Table, "_number", lambda table, cell: parsed.append(cell) or number(table, cell))
    stream = io.StringIO()
    np.savetxt(stream, CUBE.reshape(-1, BANDS), fmt="%.17g", delimiter=",")

    data = read_dataset(("m.csv", (heading + stream.getvalue()).encode()))

    np.testing.assert_array_equal(data.V, CUBE.reshape(-1, BANDS))
    # Only the first line, which may be a heading, is looked at cell by cell.
    assert len(parsed) <= 2 * BANDS


def test_a_spreadsheet_with_headings_names_and_empty_cells():
    text = "\ufeff;a;b;c\nx;1,5;;3\ny;4;5;NA\n\n"
    data = read_dataset(("sheet.csv", text.encode()))
    np.testing.assert_array_equal(data.V, [[1.5, np.nan, 3], [4, 5, np.nan]])
    assert "The first line is a heading and was left out." in data.notes
    assert "The first column holds names and was left out." in data.notes


def test_a_matrix_above_the_threshold_is_kept_in_single_precision():
    data = read_dataset(("scene.npy", npy(CUBE)), limits=Limits(float32_above=100))
    assert data.V.dtype == np.float32
    assert_is_the_cube(data, CUBE, rtol=1e-6)


def test_exported_files_are_understood_by_other_programs_and_read_again(tmp_path):
    data = load_dataset("simulated-scene", rows=9, cols=7, bands=12)
    cube = data.images().transpose(1, 2, 0)
    pair, for_matlab, for_numpy = write_envi(data), write_mat(data), write_npz(data)
    (tmp_path / "scene.hdr").write_bytes(pair.header)
    (tmp_path / "scene.img").write_bytes(pair.binary)
    opened = spectral.io.envi.open(str(tmp_path / "scene.hdr"))
    np.testing.assert_array_equal(opened.open_memmap(), cube)
    assert [float(nm) for nm in opened.metadata["wavelength"]] == data.wavelengths.tolist()
    variables = scipy.io.loadmat(io.BytesIO(for_matlab))
    np.testing.assert_array_equal(variables["cube"], cube)
    np.testing.assert_array_equal(variables["wavelengths"].ravel(), data.wavelengths)
    with np.load(io.BytesIO(for_numpy)) as arrays:
        np.testing.assert_array_equal(arrays["cube"], cube)
    for source in (tmp_path / "scene.hdr", ("scene.mat", for_matlab), ("scene.npz", for_numpy)):
        again = read_dataset(source)
        np.testing.assert_array_equal(again.images(), data.images())
        np.testing.assert_array_equal(again.wavelengths, data.wavelengths)


CHANNELS = 9
CENTRES = np.linspace(420, 2350, CHANNELS)
SWATH = np.random.default_rng(0).uniform(0.1, 0.9, (ROWS, COLS, CHANNELS))


def written(build, name="scene.nc"):
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        build(file)
    return (name, stream.getvalue())


def emit(file):
    values = SWATH.astype("f4")
    values[1, 2] = -9999
    file.create_dataset("reflectance", data=values).attrs["_FillValue"] = np.float32(-9999)
    file["reflectance_uncertainty"] = values
    bands = file.create_group("sensor_band_parameters")
    bands["wavelengths"] = CENTRES
    bands["fwhm"] = np.full(CHANNELS, 8.0)
    bands["good_wavelengths"] = np.array([1, 1, 1, 0, 1, 1, 1, 1, 1], "u1")
    file["location/lat"] = file["location/lon"] = np.ones((ROWS, COLS))
    expected = values.astype(float)
    expected[1, 2] = expected[:, :, 3] = np.nan
    return expected


def one_date(file):
    """With a time axis of length 1 before the bands, and as many rows as there are bands."""
    values = np.random.default_rng(1).uniform(0.1, 0.9, (1, CHANNELS, CHANNELS, COLS))
    cube = file.create_dataset("reflectance", data=values)
    for axis, name in enumerate(("time", "wavelength", "y", "x")):
        cube.dims[axis].label = name
    file["wavelength"] = CENTRES
    file["good_wavelengths"] = (np.arange(CHANNELS) != 4).astype("f4")
    flags = np.zeros((CHANNELS, COLS), "u1")
    flags[2, 3] = 1
    file["bad_pixels"] = flags
    expected = np.moveaxis(values[0], 0, -1).copy()
    expected[:, :, 4] = expected[2, 3] = np.nan
    return expected


def aviris(file):
    group = file.create_group("reflectance")
    group["reflectance"] = SWATH.transpose(2, 0, 1)
    group["wavelength"] = CENTRES / 1000
    group["wavelength"].attrs["units"] = "micrometers"
    group["fwhm"] = np.full(CHANNELS, 8.0)
    return SWATH


def pace(file):
    stored = np.rint((SWATH + 0.05) / 2e-6).astype("i4")
    stored[0, 0, 0] = -32767
    cube = file.create_dataset("geophysical_data/Rrs", data=stored)
    cube.attrs.update({"scale_factor": 2e-6, "add_offset": -0.05, "_FillValue": -32767})
    file["geophysical_data/l2_flags"] = np.zeros((ROWS, COLS), "i4")
    file["sensor_band_parameters/wavelength_3d"] = CENTRES
    file["sensor_band_parameters/wavelength"] = np.linspace(300, 3000, 2 * CHANNELS)
    expected = stored * 2e-6 - 0.05
    expected[0, 0, 0] = np.nan
    return expected


def neon(file):
    stored = np.rint(SWATH * 10000).astype("i2")
    stored[2, 2] = -9999
    cube = file.create_dataset("SITE/Reflectance/Reflectance_Data", data=stored)
    cube.attrs.update({"Scale_Factor": 10000.0, "Data_Ignore_Value": -9999.0})
    file["SITE/Reflectance/Metadata/Spectral_Data/Wavelength"] = CENTRES
    file["SITE/Reflectance/Metadata/Spectral_Data/FWHM"] = np.full(CHANNELS, 5.0)
    expected = stored / 10000
    expected[2, 2] = np.nan
    return expected


def prisma(file):
    stored = np.rint(SWATH * 65535).astype("u2")
    swath = "HDFEOS/SWATHS/PRS_L2D_HCO/Data Fields"
    file[f"{swath}/VNIR_Cube"] = stored.transpose(0, 2, 1)
    flags = np.zeros((ROWS, CHANNELS, COLS), "u1")
    flags[3, 2, 1] = 2
    file[f"{swath}/VNIR_PIXEL_L2_ERR_MATRIX"] = flags
    file.attrs["List_Cw_Vnir"] = np.where(np.arange(CHANNELS) == 0, 0, CENTRES).astype("f4")
    file.attrs["List_Cw_Vnir_Flags"] = (np.arange(CHANNELS) > 0).astype("f4")
    file.attrs["L2ScaleVnirMin"], file.attrs["L2ScaleVnirMax"] = np.float32(0), np.float32(1)
    expected = stored / 65535
    expected[3, 1, 2] = expected[:, :, 0] = np.nan
    return expected


@pytest.mark.parametrize("layout", [emit, one_date, aviris, pace, neon, prisma])
def test_a_missions_file_is_read_unprompted(layout):
    kept = {}
    data = read_dataset(written(lambda file: kept.update(expected=layout(file))))
    assert (data.kind, data.image_shape) == ("cube", kept["expected"].shape[:2])
    np.testing.assert_allclose(data.images(), kept["expected"].transpose(2, 0, 1), rtol=1e-6)
    np.testing.assert_allclose(data.wavelengths[1:], CENTRES[1:], rtol=1e-6)


def test_two_detectors_are_asked_about_and_found_by_name():
    def build(file):
        file["observation_data/rhot_blue"] = SWATH.transpose(2, 0, 1)
        file["observation_data/rhot_red"] = SWATH[:, :, :4].transpose(2, 0, 1) / 2
        file["sensor_band_parameters/blue_wavelength"] = CENTRES
        file["sensor_band_parameters/red_wavelength"] = CENTRES[:4] + 1

    file = written(build)
    with pytest.raises(UnreadableData, match="several arrays") as question:
        read_dataset(file)
    assert {one.name for one in question.value.arrays} == {
        "observation_data/rhot_blue",
        "observation_data/rhot_red",
    }
    data = read_dataset(file, variable="rhot_red")
    np.testing.assert_allclose(data.images(), SWATH[:, :, :4].transpose(2, 0, 1) / 2)
    np.testing.assert_allclose(data.wavelengths, CENTRES[:4] + 1)


def test_a_file_is_known_by_its_contents():
    file = written(lambda file: file.create_dataset("radiance", data=SWATH), "scene")
    assert read_dataset(file).V.shape == (CHANNELS, ROWS * COLS)
    without_a_cube = written(lambda file: file.create_dataset("time", data=np.arange(5.0)))
    with pytest.raises(UnreadableData, match="no matrix or cube of numbers"):
        read_dataset(without_a_cube)


@pytest.mark.parametrize(
    ("stated", "low", "high"),
    [
        ({"valid_min": 0.2, "valid_max": 0.8}, 0.2, 0.8),
        ({"valid_range": ["low", "high"]}, 0, 1),
        ({"valid_range": ["0.2", "high"]}, 0, 1),
        ({"valid_range": "0.2 0.8"}, 0, 1),
    ],
)
def test_numbers_outside_the_valid_range_are_missing_unless_it_is_in_words(stated, low, high):
    data = read_dataset(
        written(lambda file: file.create_dataset("radiance", data=SWATH).attrs.update(stated))
    )
    expected = np.where((low > SWATH) | (high < SWATH), np.nan, SWATH)
    np.testing.assert_array_equal(data.images(), expected.transpose(2, 0, 1))


@pytest.mark.parametrize("name", ["ScaleFactor_Vnir", "Offset_Vnir", "L2ScaleVnirMin", "L2ScaleVnirMax"])
@pytest.mark.parametrize("value", [0.0, "", "abc", [1.0, 2.0], ["low", "high"], h5py.Empty("f8")], ids=str)
def test_a_factor_that_is_no_number_leaves_the_numbers_as_stored(name, value):
    def build(file):
        file["VNIR_Cube"] = SWATH
        file.attrs[name] = value

    data = read_dataset(written(build, "scene.he5"))
    np.testing.assert_array_equal(data.images(), SWATH.transpose(2, 0, 1))


MEASURE = """
import sys, tracemalloc
from atnmf_core.datasets.files.sandbox import netcdf3
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
