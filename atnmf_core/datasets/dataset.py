"""The one form in which every data set reaches the solvers and the pages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from ..model.problem import Array, InputError, Mask, Order, Shape, Values

Kind = Literal["faces", "cube", "matrix"]
T = TypeVar("T", bound=np.generic)
AxisSelection = slice | Sequence[int] | npt.NDArray[np.integer] | None


@dataclass(frozen=True)
class Layout:
    """How the entries of V lie in images.

    Attributes
    ----------
    kind : "cube": each row of V is a band image; "faces": each column is an image; "matrix": no images.
    image_shape : (rows, columns) of one image; None for a matrix.
    order : "F" where images are flattened column by column, "C" where row by row.
    """

    kind: Kind = "matrix"
    image_shape: Shape | None = None
    order: Order = "F"

    def check(self, shape: Shape) -> None:
        if (self.image_shape is None) != (self.kind == "matrix"):
            needs = "has no images" if self.kind == "matrix" else "needs (rows, columns)"
            raise InputError(f"image_shape={self.image_shape!r}: data of kind {self.kind!r} {needs}.")
        if self.image_shape is not None:
            pixels = shape[0] if self.kind == "faces" else shape[1]
            if self.image_shape[0] * self.image_shape[1] != pixels:
                raise InputError(f"image_shape={self.image_shape!r} does not have the {pixels} pixels of V.")

    def unfold(self, matrix: Values) -> Values:
        """F x N as (bands or images) x rows x columns; a plain matrix as F x N x 1."""
        if self.image_shape is None:
            return matrix[:, :, None]
        flat = matrix.T if self.kind == "faces" else matrix
        rows, cols = self.image_shape
        if self.order == "C":
            return flat.reshape(-1, rows, cols)
        return flat.reshape(-1, cols, rows).transpose(0, 2, 1)

    def fold(self, stack: Values) -> Values:
        if self.image_shape is None:
            return stack[:, :, 0]
        flat = (stack if self.order == "C" else stack.transpose(0, 2, 1)).reshape(len(stack), -1)
        return np.ascontiguousarray(flat.T if self.kind == "faces" else flat)


@dataclass(frozen=True, eq=False)
class Truth:
    """What data is known to be made of: V = endmembers @ abundances, plus noise.

    Attributes
    ----------
    endmembers : F x K; for a scene, one spectrum per material. Empty if only the abundances are known.
    abundances : K x N; for a scene, each pixel's shares, which sum to one. Empty if only the spectra are
        known.
    names : of the K materials, or empty.
    notes : sentences about how it was read.
    """

    endmembers: Array
    abundances: Array
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "endmembers", _locked(self.endmembers))
        object.__setattr__(self, "abundances", _locked(self.abundances))

    @cached_property
    def content_hash(self) -> str:
        digest = hashlib.sha256(repr((self.endmembers.shape, self.names)).encode())
        for known in (self.endmembers, self.abundances):
            digest.update(np.ascontiguousarray(known).tobytes())
        return digest.hexdigest()

    @property
    def count(self) -> int:
        return max(int(self.endmembers.shape[1]), int(self.abundances.shape[0]))


@dataclass(frozen=True)
class Georeference:
    """Where on Earth a cube lies, according to its file.

    Attributes
    ----------
    wkt : the coordinate reference system as well-known text; empty if the file has none.
    transform : x of the upper left corner, x per column, x per row, then the same for y, as GDAL has them.
    map_info : the entry of an ENVI header, word for word; empty for other formats.
    """

    wkt: str = ""
    transform: tuple[float, ...] | None = None
    map_info: str = ""

    def cropped(self, rows: npt.NDArray[np.integer], cols: npt.NDArray[np.integer]) -> Georeference | None:
        """Where these rows and columns of the cube lie; None if they are not contiguous."""
        if np.any(np.diff(rows) != 1) or np.any(np.diff(cols) != 1):
            return None
        down, right = int(rows[0]), int(cols[0])
        transform, words = self.transform, self.map_info.split(",")
        if transform is not None:
            x, dx_col, dx_row, y, dy_col, dy_row = transform
            transform = (
                x + right * dx_col + down * dx_row, dx_col, dx_row,
                y + right * dy_col + down * dy_row, dy_col, dy_row,
            )  # fmt: skip
        if len(words) > 2:
            # The second and third word are the pixel whose coordinates follow, counted from 1.
            words[1:3] = f" {float(words[1]) - right}", f" {float(words[2]) - down}"
        return Georeference(self.wkt, transform, ",".join(words))


@dataclass(frozen=True, eq=False)
class Dataset:
    """A matrix V and everything needed to look at it as pictures.

    Attributes
    ----------
    V : F x N, NaN where not observed, read-only. float64; uploads of more than
        `Limits.float32_above` entries are float32.
    kind : "faces": each column of V is an image; "cube": each row of V is a band image and each column
        a pixel's spectrum; "matrix": no images.
    name : short identifier, part of addresses and file names.
    image_shape : (rows, cols) of one image, None for a matrix.
    order : the order of an image's pixels in V: "F" column by column, "C" row by row.
    wavelengths : F centre wavelengths in nanometres, or None.
    normalisation : name of the normalisation that was applied, see `normalise`.
    notes : sentences about what the reader decided, for the user.
    truth : what the data is known to be made of, or None.
    band_names : F names that the file gives its bands, or empty.
    georeference : where a cube lies, or None.
    """

    V: Array = field(repr=False)
    kind: Kind
    name: str
    title: str = ""
    image_shape: Shape | None = None
    order: Order = "F"
    wavelengths: Array | None = field(default=None, repr=False)
    citation: str = field(default="", repr=False)
    terms: str = field(default="", repr=False)
    normalisation: str = "none"
    notes: tuple[str, ...] = ()
    truth: Truth | None = field(default=None, repr=False)
    band_names: tuple[str, ...] = field(default=(), repr=False)
    georeference: Georeference | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "V", _locked(self.V))
        if self.wavelengths is not None:
            object.__setattr__(self, "wavelengths", _locked(np.asarray(self.wavelengths, dtype=np.float64)))
        if not self.title:
            object.__setattr__(self, "title", self.name)
        self._check()

    def _check(self) -> None:
        if self.V.ndim != 2 or self.V.size == 0:
            raise InputError(f"V has shape {self.V.shape}: a matrix F x N with at least one entry is needed.")
        if self.kind not in ("faces", "cube", "matrix"):
            raise InputError(f"kind={self.kind!r}: choose one of 'faces', 'cube', 'matrix'.")
        if self.order not in ("F", "C"):
            raise InputError(f"order={self.order!r}: choose 'F' (column by column) or 'C' (row by row).")
        self.layout.check(self.shape)
        if self.wavelengths is not None and self.wavelengths.shape != (self.V.shape[0],):
            raise InputError(f"{self.wavelengths.size} wavelengths for the {self.V.shape[0]} rows of V.")

    @property
    def layout(self) -> Layout:
        return Layout(self.kind, self.image_shape, self.order)

    @property
    def shape(self) -> tuple[int, int]:
        return self.V.shape[0], self.V.shape[1]

    @cached_property
    def observed(self) -> Mask:
        """F x N, True where V has a value."""
        return _locked(~np.isnan(self.V))

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of the values and their layout: data with equal hashes gives equal pictures and fits."""
        digest = hashlib.sha256()
        layout = (self.kind, self.image_shape, self.order, self.V.shape, self.V.dtype.str)
        digest.update(repr(layout).encode())
        digest.update(np.ascontiguousarray(self.V).view(np.uint8).data)
        if self.wavelengths is not None:
            digest.update(self.wavelengths.tobytes())
        return digest.hexdigest()

    def image(self, vector: npt.ArrayLike) -> Values:
        """A vector of pixels (a column of V or W for faces, a row of V or H for a cube) as an image."""
        rows, cols = self._image_shape()
        flat = np.asarray(vector)
        if flat.shape != (rows * cols,):
            raise InputError(f"an image takes a vector of {rows * cols} pixels, not shape {flat.shape}.")
        return flat.reshape((rows, cols), order=self.order)

    def vector(self, image: npt.ArrayLike) -> Values:
        picture = np.asarray(image)
        if picture.shape != self._image_shape():
            raise InputError(f"an image of shape {self._image_shape()} is needed, not {picture.shape}.")
        return picture.reshape(-1, order=self.order)

    def images(self, matrix: npt.ArrayLike | None = None) -> Values:
        """All images of a matrix (V if none is given), as count x rows x cols."""
        rows, cols = self._image_shape()
        source = self.V if matrix is None else np.asarray(matrix)
        if source.ndim != 2 or source.shape[0 if self.kind == "faces" else 1] != rows * cols:
            raise InputError(f"a matrix of shape {source.shape} holds no images of {rows} x {cols} pixels.")
        return self.layout.unfold(source)

    def wavelength_label(self, f: int) -> str:
        """The name of row f of a cube: "band 12, 640 nm", counted from 1."""
        if not 0 <= f < self.V.shape[0]:
            raise InputError(f"f={f}: the rows of V are numbered 0 to {self.V.shape[0] - 1}.")
        if self.wavelengths is None:
            return f"band {f + 1}"
        return f"band {f + 1}, {self.wavelengths[f]:.4g} nm"

    def subset(
        self, rows: AxisSelection = None, cols: AxisSelection = None, bands: AxisSelection = None
    ) -> Dataset:
        """A smaller cube: the given image rows, image columns and bands, each a slice or a list."""
        if self.kind != "cube":
            raise InputError(
                f"only a cube has rows, columns and bands to choose from; {self.name} is of kind "
                f"{self.kind!r}."
            )
        shape = self._image_shape()
        chosen_rows = _indices("rows", rows, shape[0])
        chosen_cols = _indices("cols", cols, shape[1])
        chosen_bands = _indices("bands", bands, self.V.shape[0])
        pixels = self.vector_positions(chosen_rows, chosen_cols)
        truth = self.truth and Truth(
            self.truth.endmembers[chosen_bands], self.truth.abundances[:, pixels], self.truth.names
        )
        return replace(
            self,
            V=self.V[chosen_bands][:, pixels],
            image_shape=(chosen_rows.size, chosen_cols.size),
            wavelengths=None if self.wavelengths is None else self.wavelengths[chosen_bands],
            truth=truth,
            band_names=tuple(self.band_names[band] for band in chosen_bands) if self.band_names else (),
            georeference=self.georeference and self.georeference.cropped(chosen_rows, chosen_cols),
        )

    def vector_positions(
        self, rows: npt.NDArray[np.integer], cols: npt.NDArray[np.integer]
    ) -> npt.NDArray[np.integer]:
        """Positions in a pixel vector of the rectangle rows x cols, in this data's pixel order."""
        positions = self.image(np.arange(np.prod(self._image_shape())))
        inside: npt.NDArray[np.integer] = positions[np.ix_(rows, cols)].reshape(-1, order=self.order)
        return inside

    def _image_shape(self) -> tuple[int, int]:
        if self.image_shape is None:
            raise InputError(f"{self.name} is a plain matrix: it has no images.")
        return self.image_shape


def _locked(array: npt.NDArray[T]) -> npt.NDArray[T]:
    """A read-only view: one data set is shared by many sessions, and a write would reach them all."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def _indices(name: str, pick: AxisSelection, length: int) -> npt.NDArray[np.integer]:
    try:
        chosen = np.arange(length)[slice(None) if pick is None else pick]
    except (IndexError, TypeError) as error:
        raise InputError(f"{name}={pick!r}: a slice or list of numbers below {length} is needed.") from error
    if chosen.ndim != 1 or chosen.size == 0:
        raise InputError(f"{name}={pick!r} leaves nothing of the {length}.")
    return chosen


# Spectra that differ from the data by more than this factor are in other units, not of other materials.
OTHER_UNITS = 3.0
MAX_SAMPLE = 2000


def truth_from_arrays(data: Dataset, arrays: Sequence[Values]) -> Truth:
    """The truth about the materials of a cube from arrays, each recognised by its shape.

    Spectra in other units than the data, such as 0 to 1 beside 0 to 5000, are scaled to the data's.

    Parameters
    ----------
    data : the cube, of F bands and N pixels.
    arrays : K abundance maps of the cube's image size, as rows x cols x K or K x rows x cols; or a K x N
        matrix of abundances in the cube's pixel order; or an F x K matrix of spectra; matrices may be
        transposed.

    Raises
    ------
    InputError : a shape that fits none of these, or abundances and spectra of different K.
    """
    F, N = data.shape
    endmembers: Array = np.empty((F, 0))
    abundances: Array = np.empty((0, N))
    for array in arrays:
        values = np.asarray(array, dtype=np.float64)
        found = _abundances(data, values)
        if found is not None:
            abundances = found
        elif values.ndim == 2 and F in values.shape:
            endmembers = values if values.shape[0] == F else values.T
        else:
            shape, size = (" x ".join(map(str, one)) for one in (values.shape, data.image_shape or ()))
            raise InputError(
                f"{shape} fits neither abundance maps of {size} pixels nor spectra of {F} bands."
            )
    if endmembers.size and abundances.size and endmembers.shape[1] != len(abundances):
        raise InputError(
            f"{endmembers.shape[1]} spectra and {len(abundances)} abundance maps: there must be as many of "
            "one as of the other."
        )
    if not (np.isfinite(endmembers).all() and np.isfinite(abundances).all()):
        raise InputError("True spectra and abundances must be known everywhere: some entries are missing.")
    with np.errstate(all="ignore"):  # squares of numbers in a damaged file can leave the range of a float
        scale = _scale(data.V, endmembers, abundances)
    notes = (
        (f"The true spectra were multiplied by {scale:.4g} to the units of the data.",) if scale != 1 else ()
    )
    return Truth(endmembers * scale, abundances, notes=notes)


def could_be_truth(data: Dataset, shape: tuple[int, ...]) -> bool:
    F, N = data.shape
    if len(shape) == 3:
        return data.image_shape in (shape[:2], shape[1:])
    return len(shape) == 2 and (N in shape or F in shape) and min(shape) < F


def _abundances(data: Dataset, values: Array) -> Array | None:
    if values.ndim == 3:
        if values.shape[:2] == data.image_shape:
            values = values.transpose(2, 0, 1)
        elif values.shape[1:] != data.image_shape:
            return None
        return np.stack([data.vector(image) for image in values])
    F, N = data.shape
    if values.ndim != 2 or N not in values.shape or min(values.shape) > F:
        return None
    return values if values.shape[1] == N else values.T


def _scale(V: Array, endmembers: Array, abundances: Array) -> float:
    """The factor that converts the spectra to the units of V; 1 if they are in about these units already."""
    if not endmembers.size or endmembers.max() <= 0:
        return 1.0
    if abundances.size:
        pixels = np.linspace(0, V.shape[1] - 1, min(V.shape[1], MAX_SAMPLE)).astype(int)
        seen = np.nan_to_num(V[:, pixels].astype(np.float64))
        model = np.where(np.isnan(V[:, pixels]), 0, endmembers @ abundances[:, pixels])
        scale = float(np.vdot(model, seen) / max(float(np.vdot(model, model)), 1e-300))
    else:
        scale = float(np.nanpercentile(V, 99.9) / endmembers.max())
    return scale if scale > OTHER_UNITS or 0 < scale < 1 / OTHER_UNITS else 1.0


def maximum(V: Array) -> Array:
    """V divided by its largest entry; V itself if nothing is above 0."""
    top = np.nanmax(V)
    return V / top if top > 0 else V


def lee_seung(V: Array) -> Array:
    """Each column (image) to mean 0.25 and standard deviation 0.25, then clipped to [0, 1].

    The standard deviation is the sample's (ddof=1): with it a replay of the authors' run on CBCL gives their
    squared error. A constant image becomes 0.25 everywhere. Missing entries are not counted and stay missing.
    """
    # Scaling by a power of two changes nothing in the result, and squares of values near 1 cannot overflow.
    _, exponent = np.frexp(np.nanmax(np.abs(V)))
    V = np.ldexp(V, -exponent)
    count = np.sum(~np.isnan(V), axis=0)
    mean = np.nansum(V, axis=0) / np.maximum(count, 1)
    centred = V - mean
    spread = np.sqrt(np.nansum(centred**2, axis=0) / np.maximum(count - 1, 1))
    # Centring leaves rounding noise in a constant image; dividing by its deviation would amplify that.
    flat = spread <= 64 * np.finfo(V.dtype).eps * np.abs(mean)
    scale = np.where(flat, 0, 0.25 / np.where(flat, 1, spread))
    scaled: Array = np.clip(centred * scale + 0.25, 0, 1).astype(V.dtype, copy=False)
    return scaled


NORMALISATIONS: dict[str, Callable[[Array], Array]] = {
    "none": lambda V: V,
    "maximum": maximum,
    "lee-seung": lee_seung,
}


def normalise(data: Dataset, how: str) -> Dataset:
    if how not in NORMALISATIONS:
        raise InputError(f"normalisation={how!r}: choose one of {', '.join(map(repr, NORMALISATIONS))}.")
    if how == "none":
        return data
    return replace(data, V=NORMALISATIONS[how](data.V), normalisation=how)
