"""Fitting scenes larger than memory: W from a sample of pixels, then H block by block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from ...datasets import ReadingOptions
from ...datasets.files.scene_file import Block, SceneFile, new_maps, open_scene
from ...jobs.whole_files import moved_when_whole
from ...model.problem import Array, InputError, Method, check_one_of
from ...model.result import FitCallback
from ...solvers.factorization import factorize, transform
from .blockwise import BLOCK_ENTRIES, BlocksCallback, FarRows, SceneRun, far_text, row_runs
from .scene_model import AT_ONCE, FEWEST_FAR, sampled, with_far

FAR_ABOVE_HIGH, FAR_ABOVE_MIDDLE, HIGH_QUANTILE = 2.0, 3.0, 0.99
"""A pixel is unlike the sample when its residuals are so many times those of this share of the sample's
pixels, and of the middle one.
"""
ROOM = 2.1
"""Free disk space that is asked for, as a multiple of the size of H: for the output and the blocks."""


@dataclass(frozen=True, eq=False)
class Parts:
    """What H follows from.

    Attributes
    ----------
    W : F x K.
    lam, leash : the adversary; None if there is none.
    far : pixels whose residuals are larger are unlike the sample.
    words : on how W was found and checked.
    """

    W: Array = field(repr=False)
    lam: float | None
    leash: float | None
    far: float
    words: str = ""


@dataclass(frozen=True, eq=False)
class BlockFit:
    """A block of H.

    Attributes
    ----------
    H : K x n; NaN in pixels of which nothing is observed.
    scale : n, the root mean square of each pixel's residuals; NaN where nothing is observed.
    observed : n, the number of its observed entries.
    """

    H: npt.NDArray[np.float32]
    scale: npt.NDArray[np.float32]
    observed: npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class SceneFit:
    """A factorization of a scene.

    Attributes
    ----------
    files : that were written.
    W : bands x K.
    H : rows x cols x K, mapped from its file; NaN in pixels of which nothing is observed.
    rmse : over the observed entries.
    far : where pixels are unlike the sample.
    words : on how W was found and checked.
    """

    files: tuple[Path, ...]
    W: Array = field(repr=False)
    H: npt.NDArray[np.float32] = field(repr=False)
    rmse: float
    far: FarRows
    words: str

    @property
    def summary(self) -> str:
        """What was found, in a few sentences."""
        said = f"RMSE, observed   {self.rmse:.6g}\n{self.words}"
        return f"{said} {far_text(self.far)}: these parts do not suffice there." if self.far else said


def fit_scene(
    path: str | Path,
    out: str | Path,
    *,
    K: int,
    method: Method = "nmf",
    lam: float | None = None,
    leash: float | None = None,
    seed: int = 0,
    options: ReadingOptions | None = None,
    block_entries: int = BLOCK_ENTRIES,
    n_jobs: int = -1,
    dask: str | None = None,
    callback: FitCallback | None = None,
    progress: BlocksCallback = lambda done, total: None,
    **fitting: Any,
) -> SceneFit:
    """Factorize a cube on disk that need not fit into memory, and write W and H.

    W is learned by `factorize` from a sample of pixels that covers the scene, and from pixels outside of it
    that it describes far worse. Then H follows by `transform`, block by block, in processes. Progress is
    stored in a folder beside `out` until everything is done: the same call resumes an interrupted run.

    Parameters
    ----------
    path : a cube in ENVI, NPY, HDF5, NetCDF 4 or GeoTIFF; on a cluster, where all workers see it.
    out : the file for H, as K maps: .npy (rows x cols x K) or .hdr (ENVI, with the scene's coordinates). W
        (bands x K) is written beside it, as *-W.npy.
    K, method, lam, leash, seed : as in `factorize`, method "nmf" or "atnmf". Missing entries are left out.
    options, block_entries, n_jobs, dask, progress : as in `restore_scene`.
    callback : as in `factorize`, while W is learned.
    fitting : further options of `factorize`: n_init, init, solver, dtype and the stopping rules.
    """
    check_one_of("method", method, ("nmf", "atnmf"))
    scene, out = open_scene(path, options), Path(out)
    if out.suffix.lower() not in (".npy", ".hdr"):
        raise InputError(f"{out}: H of a scene is written as .npy or, for ENVI, .hdr; choose such a name.")
    request = {"K": K, "method": method, "lam": lam, "leash": leash, "seed": seed, **fitting}
    room = ROOM * 4 * K * scene.rows * scene.cols
    beside = (out.with_suffix(".img"), _beside(out))
    run = SceneRun(scene, out, {"fit": request}, room, block_entries, n_jobs, dask, progress, beside)
    parts = Parts(**run.model("model", lambda: vars(_learned(scene, callback, **request))))
    run.work(
        "block", range(len(run.blocks)), fit_block, lambda number: (scene, number, run.blocks[number], parts)
    )
    far = np.concatenate(
        [*run.far_pixels(lambda block: block["scale"] > parts.far).values(), np.empty(0, np.intp)]
    )
    far_rows = row_runs(np.sort(far) // scene.cols) if far.size >= FEWEST_FAR else ()
    files, H, rmse = _written(run, out, parts)
    run.record.remove()
    return SceneFit(files, parts.W, H, rmse, far_rows, parts.words)


def fit_block(scene: SceneFile, number: int, block: Block, parts: Parts) -> tuple[int, BlockFit]:
    """The number of the block, and its H."""
    with threadpool_limits(limits=1, user_api="blas"):
        return number, _projected(scene.read(block), parts)


def _learned(scene: SceneFile, callback: FitCallback | None, **options: Any) -> Parts:
    """Fit a sample; fit again with the pixels outside of it that this describes worst; check it."""
    V, check = (scene.pixels(*places) for places in sampled(scene, options["seed"]))
    words = ""
    while True:
        fit = factorize(V, callback=callback, **options)
        parts = Parts(fit.W, fit.lam, fit.leash, np.inf)
        inside, outside = _projected(V, parts), _projected(check, parts)
        high, middle = np.nanquantile(inside.scale, HIGH_QUANTILE), np.nanmedian(inside.scale)
        limit = float(max(FAR_ABOVE_HIGH * float(high), FAR_ABOVE_MIDDLE * float(middle)))
        far = np.flatnonzero(outside.scale > limit)
        if words or far.size < FEWEST_FAR:
            break
        words = f" {far.size} pixels outside of the sample were unlike it, and W was fitted to them too."
        V, check = with_far(V, check, far), np.delete(check, far, axis=1)
    way = "stopping rule met" if fit.converged else "iteration limit"
    words = (
        f"W was learned from {V.shape[1]} pixels in {fit.n_iter} iterations ({way}).{words} RMSE "
        f"{_rmse([inside]):.3g} in the sample, {_rmse([outside]):.3g} elsewhere."
    )
    return replace(parts, far=limit, words=words)


def _projected(V: Array, parts: Parts) -> BlockFit:
    """H of the columns of V (F x n, NaN where missing)."""
    width = max(1, AT_ONCE // len(V))
    blocks = [_projected_at_once(V[:, start : start + width], parts) for start in range(0, V.shape[1], width)]
    return BlockFit(
        np.concatenate([block.H for block in blocks], axis=1),
        np.concatenate([block.scale for block in blocks]),
        np.concatenate([block.observed for block in blocks]),
    )


def _projected_at_once(V: Array, parts: Parts) -> BlockFit:
    H = transform(V, parts.W, lam=parts.lam, leash=parts.leash)
    residual = V - parts.W @ H
    observed = np.count_nonzero(~np.isnan(residual), axis=0)
    np.nan_to_num(residual, copy=False)
    squares = np.einsum("fn,fn->n", residual, residual)
    scale = np.sqrt(np.divide(squares, observed, out=np.full_like(squares, np.nan), where=observed > 0))
    return BlockFit(H.astype(np.float32), scale.astype(np.float32), observed.astype(np.int32))


def _rmse(blocks: Iterable[BlockFit]) -> float:
    """Over all their observed entries."""
    squares = entries = 0.0
    for block in blocks:
        squares += float(np.nansum(block.scale.astype(np.float64) ** 2 * block.observed))
        entries += float(block.observed.sum())
    return float(np.sqrt(squares / entries)) if entries else np.nan


def _written(
    run: SceneRun, out: Path, parts: Parts
) -> tuple[tuple[Path, ...], npt.NDArray[np.float32], float]:
    """Write H and W: the files, H, and the error of both."""
    beside = _beside(out)
    with moved_when_whole(beside) as (part,):
        np.save(part, parts.W)

    def written() -> Iterator[BlockFit]:
        for here, fields in run.results():
            block = BlockFit(**fields)
            maps[here] = block.H.T.reshape(maps[here].shape)
            yield block

    names = [f"part {number + 1}" for number in range(parts.W.shape[1])]
    with new_maps(run.scene, out, names) as (maps, files):
        rmse = _rmse(written())
    maps.flags.writeable = False
    return (*files, beside), maps, rmse


def _beside(out: Path) -> Path:
    """The file for W."""
    return out.with_name(f"{out.stem}-W.npy")
