"""The data of the paper, as its authors used it, and their masks."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from ..problem import Array, InputError
from .dataset import Dataset
from .download import locate
from .normalisation import lee_seung
from .registry import RemoteFile, remote_files_of

PAPER_ALPHAS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
PAPER_FOLDERS = {"cbcl": "cbcl", "moffet": "moffet", "madonna": "madonna", "synthetic-paper": "synthetic"}
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


def cbcl(folder: Path | None = None) -> Dataset:
    """The 2429 training faces of MIT's CBCL, 19 x 19 pixels, Lee-Seung normalised; V is 361 x 2429."""
    archive = locate(_file("cbcl", "cbcl_faces.zip"), folder)
    with zipfile.ZipFile(archive) as zipped:
        names = sorted(name for name in zipped.namelist() if name.endswith(".pgm"))
        faces = [np.asarray(Image.open(io.BytesIO(zipped.read(name)))) for name in names]
    grey = np.stack([face.flatten(order="F") for face in faces], axis=1).astype(np.float64)
    return Dataset(
        V=lee_seung(grey),
        kind="faces",
        name="cbcl",
        title="CBCL faces (2429)",
        image_shape=(19, 19),
        order="F",
        citation=CITATIONS["cbcl"],
        terms=TERMS["cbcl"],
        normalisation="lee-seung",
    )


def moffet(folder: Path | None = None) -> Dataset:
    """AVIRIS over Moffett Field, 50 x 50 pixels in 165 bands; V is 165 x 2500."""
    return _cube("moffet", "clean_Moffet.mat", folder, title="Moffett Field (AVIRIS)")


def madonna(folder: Path | None = None) -> Dataset:
    """HySpex over Villelongue ("Madonna"), 50 x 50 pixels in 160 bands; V is 160 x 2500."""
    return _cube("madonna", "clean_Madonna.mat", folder, title="Madonna (HySpex)")


def synthetic_paper(folder: Path | None = None) -> Dataset:
    """The matrix that the paper's synthetic experiment used; V is 100 x 50, of rank 5."""
    X = _variable(locate(_file("synthetic", "X.mat"), folder), "X")
    return Dataset(
        V=np.ascontiguousarray(X.T),
        kind="matrix",
        name="synthetic-paper",
        title="Synthetic, the paper's draw",
        citation=CITATIONS["synthetic-paper"],
        terms=TERMS["synthetic-paper"],
    )


def paper_mask(name: str, alpha: float, folder: Path | None = None) -> npt.NDArray[np.bool_]:
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
        raise InputError(
            f"alpha={alpha!r}: the paper has masks for alpha = {', '.join(map(str, PAPER_ALPHAS))}."
        )
    mask = _variable(locate(_file(PAPER_FOLDERS[name], f"mask{number}.mat"), folder), "mask") != 0
    return np.ascontiguousarray(mask.T if name in _STORED_TRANSPOSED else mask)


def _cube(name: str, filename: str, folder: Path | None, *, title: str) -> Dataset:
    return Dataset(
        V=np.ascontiguousarray(_variable(locate(_file(name, filename), folder), "V")),
        kind="cube",
        name=name,
        title=title,
        image_shape=(50, 50),
        order="F",
        citation=CITATIONS[name],
        terms=TERMS[name],
        notes=("The authors' files do not list the wavelengths, so bands are numbered.",),
    )


def _file(folder: str, name: str) -> RemoteFile:
    return next(file for file in remote_files_of(folder) if file.path == f"{folder}/{name}")


def _variable(path: Path, name: str) -> Array:
    from scipy.io import loadmat  # SciPy takes a while to import, and a catalogue needs none of it

    values: Array = loadmat(path, variable_names=[name])[name]
    return values
