"""A result is written in the format of its source, which the field's own tool reads; nothing else changes."""

import io
import zipfile

import h5py
import numpy as np
import pytest
import rasterio
import rasterio.shutil
import scipy.io
import spectral.io.envi
from rasterio.transform import Affine

from atnmf_core import InputError
from atnmf_core.datasets import UnreadableData, bytes_like, read_dataset, write_like
from atnmf_core.datasets.files.decoder import Decoder
from atnmf_core.datasets.files.sandbox.raster import TiffFile
from tests.fuzz.seeds import npy, pillow, zipped

ROWS, COLS, BANDS = 6, 5, 9
CUBE = np.random.default_rng(0).integers(100, 9000, (ROWS, COLS, BANDS))
WAVELENGTHS = np.linspace(420, 2350, BANDS)
UTM = "EPSG:32633"


def restored(data):
    """V with two entries changed, of which one was missing in most of the sources below."""
    V = np.array(data.V)
    V[0, 0], V[3, 7] = 0.5 * np.nanmax(V), 0.25 * np.nanmax(V)
    return V


def written_and_read(path, V, tolerance=0.0):
    """What comes of writing V in the format of a file, which is read as V again."""
    out, *_ = write_like(path, V, path.with_stem("out"))
    again = read_dataset(out)
    np.testing.assert_allclose(again.V, V, atol=tolerance, rtol=0)
    if again.wavelengths is not None:
        np.testing.assert_allclose(again.wavelengths, WAVELENGTHS)
    return out


@pytest.mark.parametrize("interleave", ["bsq", "bil", "bip"])
def test_envi_keeps_its_header_and_every_other_number(tmp_path, interleave):
    header = tmp_path / "scene.hdr"
    values = CUBE.astype("i2")
    values[0, 0, 0] = -9999
    metadata = {
        "wavelength": WAVELENGTHS.tolist(),
        "wavelength units": "Nanometers",
        "map info": "{UTM, 1, 1, 366015.0, 5806125.0, 30.0, 30.0, 33, North, WGS-84, units=Meters}",
        "band names": [f"b{i}" for i in range(BANDS)],
        "data ignore value": -9999,
        "reflectance scale factor": 10000,
        "sensor type": "EnMAP",
    }
    spectral.io.envi.save_image(str(header), values, dtype="i2", interleave=interleave, metadata=metadata)
    V = restored(read_dataset(header))
    out = written_and_read(header, V, 1e-4)
    assert out.read_bytes() == header.read_bytes()
    values[0, 0, 0] = np.rint(V[0, 0] * 10000)
    values[7 % ROWS, 7 // ROWS, 3] = np.rint(V[3, 7] * 10000)
    np.testing.assert_array_equal(spectral.io.envi.open(str(out)).open_memmap(), values)


@pytest.mark.parametrize(
    "options", [{}, {"compress": "lzw", "tiled": True, "blockxsize": 16, "blockysize": 16}]
)
def test_geotiff_keeps_coordinates_and_metadata(tmp_path, options):
    path = tmp_path / "scene.tif"
    values = CUBE.transpose(2, 0, 1).astype("i2")
    values[0, 0, 0] = -9999
    transform = Affine(30, 0, 366015, 0, -30, 5806125)
    with rasterio.open(
        path, "w", driver="GTiff", width=COLS, height=ROWS, count=BANDS, dtype="int16", crs=UTM,
        transform=transform, nodata=-9999, **options,
    ) as file:  # fmt: skip
        file.write(values)
        file.scales, file.descriptions = [0.0001] * BANDS, [f"band {i}" for i in range(BANDS)]
        file.update_tags(start_time="2022-07-24")
        for i, nm in enumerate(WAVELENGTHS):
            file.update_tags(i + 1, wavelength=nm, wavelength_units="Nanometers")
    data = read_dataset(path)
    assert data.georeference.transform == transform.to_gdal()
    out = written_and_read(path, restored(data), 1e-4)
    with rasterio.open(path) as old, rasterio.open(out) as new:
        for said in ("profile", "scales", "descriptions"):
            assert getattr(new, said) == getattr(old, said)
        assert (new.tags(), new.tags(5)) == (old.tags(), old.tags(5))
        changed = new.read() != old.read()
    assert changed.sum() == 2
    assert changed[0, 0, 0]


def flat_geotiff(path, shape=(3, 40, 50), **options):
    """All entries are 1, so whatever is written into it compresses worse."""
    bands, rows, cols = shape
    with rasterio.open(
        path, "w", driver="GTiff", count=bands, height=rows, width=cols, crs=UTM,
        transform=Affine(30, 0, 366015, 0, -30, 5806125), **options,
    ) as file:  # fmt: skip
        file.write(np.ones(shape, options["dtype"]))
    return np.random.default_rng(0).integers(1, 120, (bands, rows * cols))


TILES = {"tiled": True, "blockxsize": 16, "blockysize": 32}


@pytest.mark.parametrize("blocks", [{}, TILES], ids=["strips", "tiles"])
@pytest.mark.parametrize("compress", ["none", "deflate", "lzw", "zstd", "packbits", "lzma", "lerc"])
def test_every_geotiff_is_written_as_it_is_stored(tmp_path, compress, blocks):
    """All types in one process, which is faster; then one of them through the decoding process."""
    path, out = tmp_path / "scene.tif", tmp_path / "out.tif"
    for dtype in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64"):
        V = flat_geotiff(path, dtype=dtype, compress=compress, **blocks)
        values = V.reshape(3, 50, 40).transpose(0, 2, 1).astype(dtype)
        out.write_bytes(TiffFile(path.read_bytes()).replace("bands", values))
        assert_only_the_numbers_differ(path, out, values)

    write_like(path, V, out)
    assert_only_the_numbers_differ(path, out, values)


def assert_only_the_numbers_differ(path, out, values):
    with rasterio.open(path) as old, rasterio.open(out) as new:
        assert new.profile == old.profile
        assert new.tags(ns="IMAGE_STRUCTURE") == old.tags(ns="IMAGE_STRUCTURE")
        np.testing.assert_array_equal(new.read(), values)


@pytest.mark.parametrize("predictor", [2, 3])
@pytest.mark.parametrize("interleave", ["band", "pixel"])
def test_a_geotiff_keeps_its_interleave_and_predictor(tmp_path, interleave, predictor):
    path = tmp_path / "scene.tif"
    V = flat_geotiff(
        path, dtype="float32", compress="deflate", predictor=predictor, interleave=interleave, bigtiff="yes"
    )

    (out,) = write_like(path, V, tmp_path / "out.tif")

    assert out.read_bytes()[:4] == path.read_bytes()[:4]
    assert_only_the_numbers_differ(path, out, V.reshape(3, 50, 40).transpose(0, 2, 1))


@pytest.mark.parametrize("compress", ["jpeg", "webp"])
def test_lossy_compression_is_kept_and_said_to_change_all_values(tmp_path, compress):
    path = tmp_path / "scene.tif"
    V = flat_geotiff(path, dtype="uint8", compress=compress)

    (out,) = write_like(path, V, tmp_path / "out.tif")

    assert f"{compress.upper()} compression is lossy" in " ".join(read_dataset(path).notes)
    with rasterio.open(path) as old, rasterio.open(out) as new:
        assert new.profile == old.profile


def test_a_cloud_optimized_geotiff_is_written_with_its_overviews(tmp_path):
    plain, path = tmp_path / "plain.tif", tmp_path / "scene.tif"
    V = flat_geotiff(plain, (3, 300, 280), dtype="uint16")
    rasterio.shutil.copy(plain, path, driver="COG", compress="deflate", blocksize=128)

    (out,) = write_like(path, V, tmp_path / "out.tif")

    with rasterio.open(path) as old, rasterio.open(out) as new:
        assert old.overviews(1)
        assert new.overviews(1) == old.overviews(1)
        assert new.profile == old.profile
        assert new.read(1, out_shape=(150, 140)).max() > 1
        np.testing.assert_array_equal(new.read(), V.reshape(3, 280, 300).transpose(0, 2, 1))


def test_a_file_that_cannot_be_written_is_not_called_damaged(tmp_path, monkeypatch):
    path = tmp_path / "scene.tif"
    V = flat_geotiff(path, dtype="uint8")
    asked = Decoder._ask

    def ask(self, request, payload=b""):
        if "replace" in request:
            raise self._damaged()
        return asked(self, request, payload)

    monkeypatch.setattr(Decoder, "_ask", ask)

    with pytest.raises(UnreadableData, match=r"scene\.tif could be read, but not written") as caught:
        write_like(path, V, tmp_path / "out.tif")
    assert "damaged" not in str(caught.value)


@pytest.mark.parametrize("version", ["5", "5, compressed", "7.3"])
def test_mat_keeps_its_other_arrays(tmp_path, version):
    path = tmp_path / "scene.mat"
    if version == "7.3":
        with h5py.File(path, "w", userblock_size=512) as file:
            file["cube"], file["wavelength"] = CUBE.astype(float).T, WAVELENGTHS[None]
            file["cube"].attrs["MATLAB_class"] = np.bytes_("double")
        with path.open("r+b") as file:
            file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    else:
        Y = CUBE.reshape(-1, BANDS, order="F").T.astype(float)
        others = {"lines": ROWS, "cols": COLS, "wavelength": WAVELENGTHS, "about": {"site": "nowhere"}}
        scipy.io.savemat(path, {"Y": Y, **others}, do_compression="compressed" in version)
    data = read_dataset(path)
    V = restored(data)
    out = written_and_read(path, V)
    if version == "7.3":
        assert out.read_bytes()[:128] == path.read_bytes()[:128]
        with h5py.File(out) as file:
            np.testing.assert_array_equal(file["cube"][()].T, data.images(V).transpose(1, 2, 0))
            assert file["cube"].attrs["MATLAB_class"] == b"double"
    else:
        again = scipy.io.loadmat(out)
        np.testing.assert_array_equal(again["Y"], V)
        assert again["about"]["site"][0, 0] == "nowhere"


def test_netcdf_4_is_a_copy_with_another_cube(tmp_path):
    path = tmp_path / "scene.nc"
    values = CUBE.astype("f4") / 10000
    values[0, 0, 0] = -9999
    with h5py.File(path, "w") as file:
        cube = file.create_dataset("reflectance", data=values, chunks=(3, 5, 4), compression="gzip")
        cube.attrs["_FillValue"] = np.float32(-9999)
        file["sensor_band_parameters/wavelengths"] = WAVELENGTHS
        file["location/lat"] = np.linspace(50, 51, ROWS * COLS).reshape(ROWS, COLS)
        file.attrs["title"] = "made for tests"
    out = written_and_read(path, restored(read_dataset(path)), 1e-7)
    with h5py.File(path) as old, h5py.File(out) as new:
        assert new.attrs["title"] == "made for tests"
        assert new["reflectance"].compression == "gzip"
        np.testing.assert_array_equal(new["location/lat"][()], old["location/lat"][()])
        assert (new["reflectance"][()] != old["reflectance"][()]).sum() == 2


def test_netcdf_3_is_a_copy_with_another_cube_and_npz_keeps_its_other_arrays(tmp_path):
    with scipy.io.netcdf_file(tmp_path / "scene.nc", "w") as file:
        for name, size in zip(("y", "x", "wavelength"), (ROWS, COLS, BANDS), strict=True):
            file.createDimension(name, size)
        file.createVariable("radiance", "f8", ("y", "x", "wavelength"))[:] = CUBE
        file.createVariable("wavelength", "f8", ("wavelength",))[:] = WAVELENGTHS
        file.site = "nowhere"
    arrays = {"cube": CUBE.astype(float), "wavelengths": WAVELENGTHS, "extra": np.arange(3)}
    np.savez_compressed(tmp_path / "scene.npz", **arrays)
    for path in (tmp_path / "scene.nc", tmp_path / "scene.npz"):
        written_and_read(path, restored(read_dataset(path)))
    with scipy.io.netcdf_file(tmp_path / "out.nc", mmap=False) as file:
        assert file.site == b"nowhere"
    with np.load(tmp_path / "out.npz") as arrays:
        np.testing.assert_array_equal(arrays["extra"], [0, 1, 2])


@pytest.mark.parametrize("stored", [CUBE, np.asfortranarray(CUBE), CUBE.astype(">f4")])
def test_npy_keeps_type_and_order(tmp_path, stored):
    path = tmp_path / "scene.npy"
    np.save(path, stored)
    again = np.load(written_and_read(path, np.rint(restored(read_dataset(path)))))
    assert (again.dtype, again.flags.f_contiguous) == (stored.dtype, stored.flags.f_contiguous)


HEADING, LINE = "name," + ",".join(f"{nm:.2f}" for nm in WAVELENGTHS), ",".join("1" * BANDS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b,c\n1.5,,3\n4,5e-3,6\n7,8,9\n", "a,b,c\n1.5,0.25,3\n4,5e-3,6\n7,8,10\n"),
        (
            "\ufeff;a;b;c\r\nx;1,5;;3\r\ny;4;0,5;6\r\nz;7;8;9",
            "\ufeff;a;b;c\r\nx;1,5;0,25;3\r\ny;4;0,5;6\r\nz;7;8;10",
        ),
        ("1.5 nan 3\n4 5 6\n7 8 9\n", "1.5 0.25 3\n4 5 6\n7 8 10\n"),
        # Each spectrum is a line, under its wavelengths: a row of V is a column of the table.
        (
            f"{HEADING}\ns0,{LINE}\ns1,2,{LINE[2:]}\ns2,{LINE}",
            f"{HEADING}\ns0,{LINE}\ns1,0.25,{LINE[2:]}\ns2,1,1,10{LINE[5:]}",
        ),
    ],
)
def test_a_table_changes_only_in_the_cells_that_changed(text, expected):
    file = ("table.csv", text.encode())
    V = np.array(read_dataset(file).V)
    V[0, 1], V[2, 2] = 0.25, 10
    assert bytes_like(file, V) == [("table.csv", expected.encode())]


def test_a_zip_of_images_changes_only_in_the_image_that_changed():
    pictures = np.random.default_rng(1).integers(0, 256, (4, 7, 6), dtype=np.uint8)
    images = [(f"faces/{i}.png", pillow(picture, "PNG")) for i, picture in enumerate(pictures)]
    source = zipped([*images, ("faces/README.txt", b"faces")])
    V = np.array(read_dataset(("faces.zip", source)).V)
    V[3, 2] = 1.0
    ((_, written),) = bytes_like(("faces.zip", source), V)
    with zipfile.ZipFile(io.BytesIO(source)) as old, zipfile.ZipFile(io.BytesIO(written)) as new:
        assert new.namelist() == old.namelist()
        changed = [name for name in old.namelist() if old.read(name) != new.read(name)]
    assert changed == ["faces/2.png"]
    np.testing.assert_array_equal(read_dataset(("again.zip", written)).V, V)


def test_a_gap_becomes_the_no_data_value_or_is_refused_as_are_other_shapes_and_normalised_data():
    file = ("scene.npy", npy(CUBE))
    V = np.array(read_dataset(file).V)
    V[0, 0] = np.nan
    with pytest.raises(UnreadableData, match="declares no value for missing entries"):
        bytes_like(file, V)
    V[1, 1] = 7
    ((_, written),) = bytes_like(file, V, keep_unmarkable=True)
    V[0, 0] = CUBE[0, 0, 0]
    np.testing.assert_array_equal(read_dataset(("again.npy", written)).V, V)

    with pytest.raises(InputError, match="was read as"):
        bytes_like(file, np.ones((2, 2)))
    with pytest.raises(InputError, match="cannot be undone"):
        bytes_like(file, np.ones((BANDS, ROWS * COLS)), normalisation="lee-seung")
