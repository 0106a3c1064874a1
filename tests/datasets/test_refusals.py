"""Files that are damaged, mislabelled, useless or meant to harm: one exception, one sentence, no harm."""

import io
import pickle
import struct
import warnings
import zlib

import h5py
import numpy as np
import pytest
import scipy.io
import tifffile

from atnmf_core.datasets import Limits, UnreadableData, read_dataset
from tests.fuzz.seeds import SEEDS, matlab5, npy, pillow, zipped


def header_of_shape(shape):
    return f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}"


def npy_header(text, body=b""):
    header = text.encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


def test_pickled_objects_are_never_loaded():
    stream = io.BytesIO()
    np.save(stream, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    refused(("x.npy", stream.getvalue()), "array of numbers is needed")
    refused(("x.npy", pickle.dumps([1, 2])), "not a .npy file")


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (header_of_shape("100000, 100000"), "cut short"),
        (header_of_shape("-1, 5"), "cut short|empty|not a readable"),
        (header_of_shape("0, 5"), "empty"),
        (header_of_shape("2, 2"), "cut short"),
        ("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }", "numbers"),
        ("{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }", "numbers"),
        (header_of_shape(f"{'9' * 3000}, " * 3), "more than 10"),
        (header_of_shape("1, " * 100), "100 axes"),
        (header_of_shape(f"0, {'9' * 3000}"), "empty"),
        ("__import__('os').system('true')", "not a readable NumPy array"),
        ("(" * 100, "not a readable NumPy array"),
    ],
)
def test_absurd_numpy_headers(header, words):
    refused(("x.npy", npy_header(header)), words)


def test_sizes_above_the_limit_are_refused_before_memory_is_taken(monkeypatch):
    refused(("x.npy", npy(np.ones((101, 100)))), r"101 x 100 = 10,100 entries; at most 10,000")
    refused(("x.csv", b"1,2,3\n" * 5000), "more than the 10,000 entries")
    refused(("x.bin", b"\0" * (1 << 20 | 1)), "more than the 1,048,576 bytes")
    # Limits come from the environment where none are given.
    for said, words in (("12", "at most 12 are read"), ("many", "ATNMF_MAX_")):
        monkeypatch.setenv("ATNMF_MAX_ENTRIES", said)
        refused(("x.npy", npy(np.ones((4, 4)))), words, limits=None)


def test_a_zip_bomb_is_refused_by_its_stated_size_and_by_its_true_one():
    bomb = zipped([("a.csv", b"0," * (40 << 20))])
    refused(("bomb.zip", bomb), "decompression bomb", limits=Limits())
    refused(("bomb.zip", bomb), "at most 1,048,576 are read")
    honest = zipped([("a.csv", b"1,2\n" * 5000)])
    lying = honest.replace(struct.pack("<I", 20000), struct.pack("<I", 200))
    refused(("x.zip", lying), "damaged")


def test_zip_limits_on_count_duplicates_nesting_and_passwords():
    refused(("x.zip", zipped([(f"{i}.csv", b"1") for i in range(51)])), "51 files; at most 50")
    refused(("x.zip", zipped([("a.zip", zipped([("b.csv", b"1")]))])), "another archive")
    refused(("x.zip", zipped([])), "not a readable zip|no files")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twice = zipped([("a.csv", b"1"), ("a.csv", b"2")])
    refused(("x.zip", twice), "two files of the same name")
    locked = bytearray(zipped([("a.csv", b"1,2")]))
    locked[6] |= 1
    locked[locked.find(b"PK\x01\x02") + 8] |= 1
    refused(("x.zip", bytes(locked)), "password")


def test_names_that_climb_out_of_the_folder_do_nothing_and_nameless_entries_are_left_out(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    data = read_dataset(("../evil.zip", zipped([("../../evil.csv", b"1,2\n3,4\n")])))
    np.testing.assert_array_equal(data.V, [[1, 2], [3, 4]])
    assert data.name == "evil"
    assert list(tmp_path.rglob("*")) == []

    nameless = zipped([("a", b"1,2"), ("b.csv", b"1,2")])
    nameless = nameless.replace(struct.pack("<HH", 1, 0) + b"a", struct.pack("<HH", 0, 1) + b"a")
    directory = nameless.index(b"PK\x01\x02")
    nameless = nameless[: directory + 28] + struct.pack("<HH", 0, 1) + nameless[directory + 32 :]
    np.testing.assert_array_equal(read_dataset(("x.zip", nameless)).V, [[1, 2]])


def test_an_image_bomb_is_refused_by_its_stated_size():
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    def png(side):
        header = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
        return (
            b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")
        )

    refused([("a.png", png(60_000)), ("b.png", png(60_000))], "decompression bomb")
    refused([("a.png", png(12_000)), ("b.png", png(12_000))], "12,000 x 12,000 = 144,000,000 entries")
    refused(("a.pgm", b"P5 99999 99999 255\n" + b"\0" * 100), "decompression bomb")


@pytest.mark.parametrize(
    "form", ["pgm", "png", "jpeg", "bmp", "tiff-deflate", "zip", "mat5", "mat73", "npz", "npy"]
)
def test_files_cut_in_half_are_refused(form):
    files = SEEDS[form]()
    name, data = files[0]
    refused([(name, data[: len(data) // 2]), *files[1:]], "damaged|cut short|not a readable")


PICTURE, TURNED = (pillow(np.zeros(shape, "u1"), "PNG") for shape in ((4, 5), (5, 4)))


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ([("a.png", PICTURE), ("b.png", TURNED)], "b.png has 5 x 4 pixels and a.png has 4 x 5"),
        ([("a.png", PICTURE), ("a.png", PICTURE)], "a.png was given twice"),
        ([("a.hdr", b"ENVI\n"), ("b.hdr", b"ENVI\n"), ("a", b"")], "2 ENVI headers"),
        ([("a.npy", npy(np.eye(2))), ("b.npy", npy(np.eye(2)))], "one is read at a time"),
    ],
)
def test_files_that_do_not_belong_together_are_refused(files, words):
    refused(files, words)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x.png", "x.png is not an image"),
        ("x.mat", "not a .mat file"),
        ("x.npz", "not a .npz file"),
        ("x.npy", "not a .npy file"),
        ("x.zip", "not a readable zip"),
        ("x.tif", "not an image"),
        ("x.docx", "not a kind of file that can be read"),
        ("x", "not a kind of file that can be read"),
        ("x.csv", "not a number|no numbers"),
        ("x.hdr", "binary file, x, is needed"),
    ],
)
def test_mislabelled_files_are_refused_by_name(name, words):
    refused((name, b"this is only text"), words)


def test_an_image_is_known_by_its_contents_not_its_name():
    files = [
        ("a.dat", pillow(np.zeros((4, 5), "u1"), "PNG")),
        ("b.jpg", pillow(np.ones((4, 5), "u1"), "BMP")),
    ]
    assert read_dataset(files).V.shape == (20, 2)


HEADER = b"ENVI\nsamples = 4\nlines = 3\nbands = 2\ndata type = 4\ninterleave = bsq\nbyte order = 0\n"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ((b"samples = 4", b"samples = 4000000000"), "entries; at most"),
        ((b"samples = 4", b"samples = " + b"9" * 4000), r"more than 10\^15 entries"),
        (
            (b"byte order = 0", b"byte order = 0\nheader offset = " + b"9" * 4000),
            r"announces more than 10\^15",
        ),
        ((b"samples = 4", b"samples = 5"), "announces 120"),
        ((b"samples = 4", b"samples = -4"), "empty"),
        ((b"samples = 4", b"samples = many"), "makes no sense"),
        ((b"samples = 4\n", b""), "lacks lines, samples"),
        ((b"data type = 4", b"data type = 99"), "makes no sense"),
        ((b"data type = 4", b"data type = 6"), "complex"),
        ((b"interleave = bsq", b"interleave = zigzag"), "bsq, bil or bip"),
        ((b"byte order = 0", b"byte order = 0\nheader offset = -8"), "do not belong together"),
        ((b"byte order = 0", b"byte order = 0\nwavelength = {1, 2"), "does not end"),
        ((b"byte order = 0", b"byte order = 0\nbbl = {0, 0}"), "every band as bad"),
        ((b"byte order = 0", b"byte order = 0\nreflectance scale factor = inf"), "scale factor of inf"),
        ((b"ENVI", b"ENVY"), "not an ENVI header"),
    ],
)
def test_absurd_envi_headers(change, words):
    files = [("x.hdr", HEADER.replace(*change)), ("x.img", np.ones(24, "f4").tobytes())]
    refused(files, words)


def test_wavelengths_that_do_not_fit_are_left_out_and_said():
    for wrong in (b"{1, 2, 3}", b"{a, b}", b"{-1, 500}", b"{nan, 500}"):
        files = [("x.hdr", HEADER + b"wavelength = " + wrong), ("x.img", np.ones(24, "f4").tobytes())]
        data = read_dataset(files)
        assert data.wavelengths is None
        assert any("left out" in note for note in data.notes)


def test_a_matlab_bomb_is_refused_by_its_stated_size():
    stream = io.BytesIO()
    scipy.io.savemat(stream, {"cube": np.zeros((400, 400, 50))}, do_compression=True)
    refused(("x.mat", stream.getvalue()), "entries; at most")
    refused(("x.mat", stream.getvalue()), "decompression bomb", limits=Limits())
    of_version_73 = hdf5(lambda file: file.create_dataset("V", (10**6, 10**6), "f8", chunks=(1000, 1000)))
    refused(of_version_73, "1,000,000 x 1,000,000 = 1,000,000,000,000 entries")


def test_matlab_arrays_that_promise_more_than_they_have_or_are_no_plain_numbers_are_refused():
    name, data = matlab5(compressed=False)[0]
    more_rows = data.replace(struct.pack("<ii", 4, 30), struct.pack("<ii", 90, 30))
    refused((name, more_rows), "damaged", image_shape=(6, 5))
    for variables, words in (
        ({"V": np.ones((2, *[1] * 20, 2))}, "22 axes"),
        ({"s": {"V": np.ones((3, 3))}, "t": "text"}, "no matrix or cube of numbers"),
        ({"c": np.ones((3, 3)) * 1j}, "complex numbers"),
    ):
        stream = io.BytesIO()
        scipy.io.savemat(stream, variables)
        refused(("x.mat", stream.getvalue()), words)
    ones = np.ones((2, 2)).tobytes()
    rows = npy_header(header_of_shape("1, " * 100), ones)
    members = [("V.npy", npy_header(header_of_shape("2, 2"), ones)), ("rows.npy", rows)]
    refused(("x.npz", zipped(members)), "100 axes")


def hdf5(build):
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        build(file)
    return ("x.mat", stream.getvalue())


def test_hdf5_cannot_reach_for_other_files_of_this_machine(tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(range(100)))
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["V"] = np.ones((5, 5))

    def external(file):
        file.create_dataset("V", (10, 10), "u1", external=[(str(secret), 0, 100)])

    def link(file):
        file["V"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/V")

    def virtual(file):
        layout = h5py.VirtualLayout((5, 5), "f8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "V", (5, 5))
        file.create_virtual_dataset("V", layout)

    for build in (external, link, virtual):
        refused(hdf5(build), "no matrix or cube of numbers")


def test_a_tiff_strip_is_unpacked_to_its_size_and_no_further():
    stream = io.BytesIO()
    tifffile.imwrite(stream, np.zeros((10, 10), "u1"), compression="zlib", rowsperstrip=10)
    data = bytearray(stream.getvalue())
    with tifffile.TiffFile(io.BytesIO(bytes(data))) as tif:
        offsets, counts = (tif.pages[0].tags[code] for code in (273, 279))
        value_of = {tag.code: tag.valueoffset for tag in (offsets, counts)}
    bomb = zlib.compress(b"\0" * 50_000_000)
    struct.pack_into("<I", data, value_of[273], len(data))
    struct.pack_into("<I" if counts.dtype == 4 else "<H", data, value_of[279], len(bomb))
    np.testing.assert_array_equal(read_dataset(("x.tif", bytes(data) + bomb)).V, np.zeros((10, 10)))


def test_truncated_uploads_give_no_warning(recwarn):
    picture = pillow(np.zeros((40, 50), "u1"), "PNG")
    with pytest.raises(UnreadableData):
        read_dataset([("a.png", picture[:-30]), ("b.png", picture)])
    assert not recwarn.list


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.full((3, 3), np.nan), "every entry is missing"),
        (np.array([[1, np.inf]]), "1 infinite entry.*nodata=inf"),
        (np.ones((2, 2)) * 1j, "complex"),
        (np.ones((2, 2, 2, 2)), "4 axes"),
        (np.ones(5), "1 axis: "),
    ],
)
def test_values_and_shapes_that_cannot_be_used(array, words):
    refused(("x.npy", npy(array)), words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,2\n3\n", "line 2: 1 numbers, where the first line has 2"),
        ("1,2\n3,x\n", "line 2: 'x' is not a number"),
        ("", "is empty"),
        ("a,b\n", "no numbers"),
        ("1,\0\n", "not a text file"),
    ],
)
def test_text_that_is_no_matrix_is_refused_by_line(text, words):
    refused(("x.csv", text.encode()), words)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"bands_axis": 5}, "axes 0 to 2"),
        ({"bands_axis": "last"}, "bands_axis"),
        ({"order": "K"}, "order"),
        ({"kind": "movie"}, "kind"),
        ({"kind": "matrix"}, "not a matrix"),
        ({"negative": "abs"}, "negative"),
        ({"nodata": "x"}, "nodata"),
        ({"image_shape": (0, 5)}, "image_shape"),
        ({"image_shape": 5}, "image_shape"),
        ({"normalisation": "unit"}, "normalisation"),
    ],
)
def test_wrong_arguments_are_refused_the_same_way(options, words):
    refused(("x.npy", npy(np.ones((3, 4, 5)))), words, **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"image_shape": (4, 6)}, "images of 4 x 6 have 24 pixels"), ({"kind": "faces"}, "give image_shape")],
)
def test_an_image_shape_that_does_not_fit_is_explained(options, words):
    refused(("x.npy", npy(np.ones((3, 20)))), words, **options)


@pytest.mark.parametrize("files", [[], "no/such/file.npy", 5, [5], [("x.npy", 5)], "\0", "tests"])
def test_what_is_no_file_is_refused(files):
    refused(files, "file|bytes|read")


def test_a_long_or_odd_name_does_not_flood_the_message():
    with pytest.raises(UnreadableData) as refusal:
        read_dataset(("x" * 5000 + "\n\x1b[31m.png", b"nothing"))
    assert len(str(refusal.value)) < 300
    assert "\x1b" not in str(refusal.value)


SMALL = Limits(entries=10_000, bytes=1 << 20, members=50)


def refused(files, words, **options):
    options.setdefault("limits", SMALL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UnreadableData, match=words) as refusal:
            read_dataset(files, **options)
    message = str(refusal.value)
    assert message.endswith(".")
    assert len(message) < 600
    assert "\n" not in message
