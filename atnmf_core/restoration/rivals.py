"""What other methods make of the same damaged data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..datasets import Dataset
from ..factorization import factorize
from ..problem import Array, Mask
from .choice import Losses
from .inpainting import inpaint
from .robust_nmf import robust_nmf

NMF, L1, INPAINTING = "NMF", "L1-NMF", "Biharmonic inpainting"


@dataclass(frozen=True)
class RivalsProgress:
    """The current method, and the share of its work that is done."""

    name: str
    share: float


@dataclass(frozen=True, eq=False)
class Rivals:
    """Their results, in compact form.

    Attributes
    ----------
    losses : as in `restore`.
    factors : W and H of each factorization, by its name.
    inpainted : the prediction of inpainting for the entries to replace; None for data without images.
    """

    losses: Losses
    factors: dict[str, tuple[Array, Array]]
    inpainted: Array | None

    @property
    def nbytes(self) -> int:
        arrays = [array for pair in self.factors.values() for array in pair]
        return sum(array.nbytes for array in arrays) + (
            0 if self.inpainted is None else self.inpainted.nbytes
        )

    def made_whole(self, V: Array, replaced: Mask) -> dict[str, Array]:
        """V as each method returns it, by name.

        Factorizations that do not know which entries are wrong predict all of them; otherwise only the
        `replaced` ones, missing or suspect, change.
        """
        changed = replaced if self.losses == "marked" else np.ones_like(replaced)
        whole = {name: np.where(changed, W @ H, V) for name, (W, H) in self.factors.items()}
        if self.inpainted is not None:
            whole[INPAINTING] = V.copy()
            whole[INPAINTING][replaced] = self.inpainted
        return whole


def run_rivals(
    report: Callable[[RivalsProgress], None],
    data: Dataset,
    losses: Losses,
    replaced: Mask,
    K: int,
    seed: int = 0,
    counted: Mask | None = None,
) -> Rivals:
    """Let all methods restore the data; a task for another process.

    Parameters
    ----------
    data : the damaged data, NaN where missing.
    losses : as in `restore`. With marked ones L1-NMF knows what is missing, NMF does not.
    replaced : bool F x N, what inpainting predicts: the missing entries and, with unmarked losses, those that
        `restore` found to be wrong.
    K : parts of the factorizations.
    counted : bool F x N, the entries that NMF counts with marked losses, missing ones as zeros; all of them
        by default.
    """
    V, marked = np.nan_to_num(data.V), losses == "marked"
    report(RivalsProgress(NMF, 0.0))
    nmf = factorize(V, counted if marked else data.observed, K=K, seed=seed)
    l1 = robust_nmf(
        V, data.observed, K=K, seed=seed, callback=lambda share: report(RivalsProgress(L1, share))
    )
    inpainted = None
    if data.image_shape is not None:
        filled = inpaint(
            V, ~replaced, data.layout, callback=lambda share: report(RivalsProgress(INPAINTING, share))
        )
        inpainted = filled[replaced].astype(np.float32)
    return Rivals(losses, {NMF: (nmf.W, nmf.H), L1: l1}, inpainted)
