"""How to get the same numbers again: a few lines of Python, or one command line."""

from __future__ import annotations

from dataclasses import dataclass

from .problem import Missing, Solver

__all__ = ["Recipe", "spelled"]


def spelled(number: float) -> str:
    """A number as people write it, which reads back as the very same.

    Examples
    --------
    >>> spelled(2.0), spelled(0.3), spelled(1.00000049)
    ('2', '0.3', '1.00000049')
    """
    short = f"{number:g}"
    return short if float(short) == number else repr(float(number))


@dataclass(frozen=True)
class Recipe:
    """What a comparison of AT-NMF and NMF was made from.

    Attributes
    ----------
    source : the expression that gives the data set, such as ``load_dataset("lfw")``.
    data : its name on the command line, empty where there is none.
    start : "random", or the name of another start that `factorize` knows.
    """

    source: str
    data: str
    alpha: float
    mask_seed: int
    pattern: str
    K: int
    lam: float
    missing: Missing
    solver: Solver
    seed: int
    start: str = "random"

    def python(self) -> str:
        """A script that prints the RMSE on hidden entries of both methods, to six digits."""
        reader = self.source.partition("(")[0]
        names = ", ".join(sorted({"factorize", "hide_entries", "rmse", reader}))
        pattern = (
            ""
            if self.pattern == "entries"
            else f', pattern="{self.pattern}", image_shape=data.image_shape, order=data.order'
        )
        hiding = f"alpha={spelled(self.alpha)}, seed={self.mask_seed}{pattern}"
        common = f'K={self.K}, missing="{self.missing}", solver="{self.solver}", seed={self.seed}'
        if self.start != "random":
            common += f', init="{self.start}"'
        return "\n".join(
            (
                f"from atnmf_core import {names}",
                "",
                f"data = {self.source}",
                f"observed = hide_entries(data.V.shape, {hiding})",
                f"same = dict({common})",
                f'atnmf = factorize(data.V, observed, method="atnmf", lam={spelled(self.lam)}, **same)',
                'nmf = factorize(data.V, observed, method="nmf", **same)',
                'print(f"AT-NMF {rmse(data.V, atnmf.V_hat, ~observed):.6f}")',
                'print(f"NMF {rmse(data.V, nmf.V_hat, ~observed):.6f}")',
            )
        )

    def command_line(self) -> str:
        """The commands that do the same, one per method; empty where the data has no name."""
        if not self.data:
            return ""
        hiding = f"--alpha {spelled(self.alpha)} --mask-seed {self.mask_seed} --pattern {self.pattern}"
        common = f"--K {self.K} --missing {self.missing} --solver {self.solver} --seed {self.seed}"
        if self.start != "random":
            common += f" --start {self.start}"
        start = f"python -m atnmf_core fit --data {self.data} {hiding} {common}"
        return f"{start} --method atnmf --lam {spelled(self.lam)}\n{start} --method nmf"
