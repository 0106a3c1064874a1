"""The data sets that can be loaded by name, and whether they are on this machine."""

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from ..jobs.whole_files import moved_when_whole
from ..model.problem import Array, InputError, Mask, Shape
from .bundled import lfw, simulated_scene, synthetic
from .dataset import Dataset, Kind, lee_seung
from .download import PAPER_FOLDERS, RemoteFile, data_dir, fetch, locate, remote_files_of
from .files.read import read_dataset
from .files.sources import foreign_code

_MARK = "atnmf_dataset"
DAMAGED = "{} is damaged: it cannot be unpacked"


def load_source(source: str, **reading: Any) -> Dataset:
    """A grid's data: by its name in the catalogue, or a file of the user's or of `save_dataset`."""
    path = Path(source)
    if source not in LOADERS and not path.exists():
        raise InputError(f"dataset {source!r} is neither a file nor one of {', '.join(LOADERS)}.")
    ready = load_dataset(source) if source in LOADERS else _saved(path)
    if ready is None:
        return read_dataset(path, **reading)
    if reading:
        name, value = next(iter(reading.items()))
        raise InputError(f"{name}={value!r}: {source} is read in one way only; leave {name} out.")
    return ready


def save_dataset(data: Dataset, path: str | Path) -> None:
    """Save any data set for another process, as a NumPy archive without pickled objects."""
    names = ("kind", "name", "title", "image_shape", "order", "normalisation")
    facts = {name: getattr(data, name) for name in names}
    arrays = {"V": data.V, _MARK: np.array(json.dumps(facts))}
    if data.wavelengths is not None:
        arrays["wavelengths"] = data.wavelengths
    with open(path, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def is_saved_dataset(path: str | Path) -> bool:
    file = Path(path)
    # If it is not an archive, `read_dataset` will say so.
    if file.suffix != ".npz" or not zipfile.is_zipfile(file):
        return False
    with foreign_code(DAMAGED.format(file.name)), zipfile.ZipFile(file) as archive:
        return f"{_MARK}.npy" in archive.namelist()


def _saved(path: Path) -> Dataset | None:
    if not is_saved_dataset(path):
        return None
    with foreign_code(DAMAGED.format(path.name)), np.load(path, allow_pickle=False) as archive:
        facts = json.loads(str(archive[_MARK]))
        shape = facts.pop("image_shape")
        return Dataset(
            V=archive["V"],
            wavelengths=archive.get("wavelengths"),
            image_shape=None if shape is None else (int(shape[0]), int(shape[1])),
            **facts,
        )


def upload_path(store: Path, data: Dataset) -> Path:
    return store.parent / "uploads" / f"{data.content_hash[:16]}.npz"


def save_upload(store: Path, data: Dataset) -> None:
    """Save uploads beside the store. Call it after the sweep was added: from then on nobody deletes them."""
    path = upload_path(store, data)
    if path.exists():
        return
    path.parent.mkdir(exist_ok=True)
    with moved_when_whole(path, shared=True) as (part,):
        save_dataset(data, part)


def is_upload_of(store: Path, source: str) -> bool:
    return Path(source).parent == store.parent / "uploads"


PAPER_ALPHAS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
# The authors stored these two with one image or sample per row.
_STORED_TRANSPOSED = ("cbcl", "synthetic-paper")

_PAPER = (
    "T. Cai, V. Y. F. Tan, C. Févotte: Adversarially-Trained Nonnegative Matrix Factorization. "
    "IEEE Signal Processing Letters 28, 2021."
)
_FEVOTTE = (
    "C. Févotte, N. Dobigeon: Nonlinear hyperspectral unmixing with robust nonnegative matrix "
    "factorization. IEEE Trans. Image Processing 24(12), 2015."
)
CITATIONS = {
    "cbcl": f"CBCL Face Database #1, MIT Center For Biological and Computation Learning. {_PAPER}",
    "moffet": f"AVIRIS, NASA Jet Propulsion Laboratory. {_FEVOTTE}",
    "madonna": "D. Sheeren, M. Fauvel, S. Ladet, A. Jacquin, G. Bertoni, A. Gibon: Mapping ash tree "
    f"colonization in an agricultural mountain landscape. IGARSS 2011. {_FEVOTTE}",
    "synthetic-paper": _PAPER,
}
TERMS = {
    "cbcl": "Research use; give credit to MIT and its Center for Biological and Computational Learning.",
    "moffet": "AVIRIS free data of NASA/JPL; normalised by the paper's authors.",
    "madonna": "Research use; normalised by the paper's authors.",
    "synthetic-paper": "Published by the paper's authors with their code.",
}
_OF_THE_AUTHORS = "the copy that the paper's authors published with their code"
_COPIES = {"cbcl": "a copy that others keep on GitHub (timothy-lab-perso), masks from the paper's authors"}


def cbcl(folder: Path | None = None) -> Dataset:
    """The 2429 training faces of MIT's CBCL, 19 x 19 pixels, Lee-Seung normalised; V is 361 x 2429."""
    from PIL import Image

    archive = locate(_file("cbcl", "cbcl_faces.zip"), folder)
    with zipfile.ZipFile(archive) as zipped:
        names = sorted(name for name in zipped.namelist() if name.endswith(".pgm"))
        faces = [np.asarray(Image.open(io.BytesIO(zipped.read(name)))) for name in names]
    grey = np.stack([face.flatten(order="F") for face in faces], axis=1).astype(np.float64)
    size = {"image_shape": (19, 19), "normalisation": "lee-seung"}
    return _of_paper("cbcl", lee_seung(grey), "faces", "CBCL faces (2429)", **size)


def moffet(folder: Path | None = None) -> Dataset:
    """AVIRIS over Moffett Field, 50 x 50 pixels in 165 bands; V is 165 x 2500."""
    return _cube("moffet", "clean_Moffet.mat", folder, "Moffett Field (AVIRIS)")


def madonna(folder: Path | None = None) -> Dataset:
    """HySpex over Villelongue ("Madonna"), 50 x 50 pixels in 160 bands; V is 160 x 2500."""
    return _cube("madonna", "clean_Madonna.mat", folder, "Madonna (HySpex)")


def synthetic_paper(folder: Path | None = None) -> Dataset:
    """The matrix that the paper's synthetic experiment used; V is 100 x 50, of rank 5."""
    X = _variable(locate(_file("synthetic", "X.mat"), folder), "X")
    return _of_paper("synthetic-paper", np.ascontiguousarray(X.T), "matrix", "Synthetic, the paper's draw")


def paper_mask(name: str, alpha: float, folder: Path | None = None) -> Mask:
    """The authors' own mask of a data set: F x N, True = observed.

    Parameters
    ----------
    name : "cbcl", "moffet", "madonna" or "synthetic-paper".
    alpha : share of hidden entries, one of 0.3, 0.4 ... 0.9.
    """
    if name not in PAPER_FOLDERS:
        raise InputError(f"name={name!r}: the paper has masks for {', '.join(PAPER_FOLDERS)}.")
    number = next((i for i, value in enumerate(PAPER_ALPHAS, 1) if abs(value - alpha) < 1e-9), None)
    if number is None:
        raise InputError(f"alpha={alpha!r}: the paper has masks for {', '.join(map(str, PAPER_ALPHAS))}.")
    mask = _variable(locate(_file(PAPER_FOLDERS[name], f"mask{number}.mat"), folder), "mask") != 0
    return np.ascontiguousarray(mask.T if name in _STORED_TRANSPOSED else mask)


def _cube(name: str, filename: str, folder: Path | None, title: str) -> Dataset:
    V = np.ascontiguousarray(_variable(locate(_file(name, filename), folder), "V"))
    note = "The authors' files do not list the wavelengths, so bands are numbered."
    return _of_paper(name, V, "cube", title, image_shape=(50, 50), notes=(note,))


def _of_paper(name: str, V: Array, kind: Kind, title: str, **more: Any) -> Dataset:
    return Dataset(V, kind, name, title, citation=CITATIONS[name], terms=TERMS[name], **more)


def _file(folder: str, name: str) -> RemoteFile:
    return next(file for file in remote_files_of(folder) if file.path == f"{folder}/{name}")


def _variable(path: Path, name: str) -> Array:
    from scipy.io import loadmat  # SciPy takes a while to import, and a catalogue needs none of it

    values: Array = loadmat(path, variable_names=[name])[name]
    return values


@dataclass(frozen=True)
class Entry:
    """One line of the catalogue; its `shape` is (F, N) with default options.

    Attributes
    ----------
    available : whether its files are on this machine; their contents are verified on loading.
    download_bytes : 0 for bundled data, whose terms and citation are those of its `Dataset`.
    source : whose copy is downloaded, in words.
    """

    name: str
    title: str
    kind: Kind
    shape: Shape
    bundled: bool
    available: bool
    download_bytes: int
    terms: str = ""
    citation: str = ""

    @property
    def source(self) -> str:
        return _COPIES.get(self.name, _OF_THE_AUTHORS)

    @property
    def download_size(self) -> str:
        return size_in_words(self.download_bytes)


def size_in_words(count: int) -> str:
    """Bytes, in kB or MB.

    >>> size_in_words(45_100), size_in_words(2_300_000)
    ('45 kB', '2.3 MB')
    """
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


LOADERS: dict[str, tuple[Callable[..., Dataset], str, Kind, tuple[int, int]]] = {
    "lfw": (lfw, "Faces in the wild (100, bundled)", "faces", (625, 100)),
    "simulated-scene": (simulated_scene, "Simulated hyperspectral scene", "cube", (100, 4096)),
    "synthetic": (synthetic, "Synthetic, rank 5", "matrix", (100, 50)),
    "cbcl": (cbcl, "CBCL faces (2429)", "faces", (361, 2429)),
    "moffet": (moffet, "Moffett Field (AVIRIS)", "cube", (165, 2500)),
    "madonna": (madonna, "Madonna (HySpex)", "cube", (160, 2500)),
    "synthetic-paper": (synthetic_paper, "Synthetic, the paper's draw", "matrix", (100, 50)),
}


def catalogue() -> tuple[Entry, ...]:
    return tuple(_entry(name, *facts[1:]) for name, facts in LOADERS.items())


def _entry(name: str, title: str, kind: Kind, shape: Shape) -> Entry:
    files = remote_files_of(PAPER_FOLDERS[name]) if name in PAPER_FOLDERS else ()
    here = all((data_dir() / file.path).is_file() for file in files)
    size = sum(file.size for file in files)
    return Entry(
        name, title, kind, shape, not files, here, size, TERMS.get(name, ""), CITATIONS.get(name, "")
    )


def load_dataset(name: str, *, download: bool = False, **options: Any) -> Dataset:
    """A data set by its name.

    Parameters
    ----------
    name : one of the names in `catalogue()`.
    download : fetch the paper's data if it is not on this machine. By default nothing is downloaded.
    options : "synthetic" takes seed, F, N, K; "simulated-scene" takes rows, cols, bands, materials, noise,
        seed; the paper's data takes folder, if its files are not in the data folder.

    Raises
    ------
    DataUnavailable : the paper's data is not on this machine; the message says how to get it.
    InputError : an unknown name or option.

    Examples
    --------
    >>> data = load_dataset("lfw")
    >>> data.V.shape, data.image(data.V[:, 0]).shape
    ((625, 100), (25, 25))
    """
    if name not in LOADERS:
        raise InputError(f"name={name!r}: the data sets are {', '.join(LOADERS)}.")
    load = LOADERS[name][0]
    known = tuple(signature(load).parameters)
    unknown = sorted(set(options) - set(known))
    if unknown:
        offered = f"its options are {', '.join(known)}" if known else "it has none"
        raise InputError(f"{name} has no option {', '.join(unknown)}: {offered}.")
    if options.get("folder") is not None:
        options["folder"] = Path(options["folder"])
    if download and name in PAPER_FOLDERS:
        fetch(PAPER_FOLDERS[name], folder=options.get("folder"))
    return load(**options)
