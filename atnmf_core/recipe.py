"""How to reproduce the numbers: a few lines of Python, or a command line."""

import json
import math
import shlex
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields

from .datasets import ReadingOptions
from .model.problem import Missing, Solver
from .sweep.grid import Grid

_SAME_NAME = (
    "methods", "missing", "solver", "starts", "masks", "mask_seed", "pattern", "seed", "dtype",
    "max_outer", "max_inner", "tol_inner", "tol_outer",
)  # fmt: skip
SWEEP_OPTIONS = {"data": "dataset", "alpha": "alphas", "K": "Ks", "lam": "lams"} | {
    name: name for name in _SAME_NAME
}
"""Options of `sweep`, and the grid's settings that they set."""


def shortest_repr(number: float) -> str:
    """A number in its shortest form that reads back as the same number.

    >>> shortest_repr(2.0), shortest_repr(0.3), shortest_repr(1.00000049)
    ('2', '0.3', '1.00000049')
    """
    short = f"{number:g}"
    return short if float(short) == number else repr(float(number))


def command_line(*words: str, **options: object) -> str:
    """A command of this program, quoted for a shell; options that are None or False are left out.

    >>> command_line("reproduce", "cbcl", alpha=0.5, lam=(2.0, 5.0), max_outer=None)
    'python -m atnmf_core reproduce cbcl --alpha 0.5 --lam 2 5'
    """
    line = ["python", "-m", "atnmf_core", *words]
    for name, value in options.items():
        if value is None or value is False:
            continue
        values = () if value is True else value if isinstance(value, tuple) else (value,)
        line.append(f"--{name.replace('_', '-')}")
        line += [shortest_repr(one) if isinstance(one, float) else str(one) for one in values]
    return shlex.join(line)


def sweep_command(grid: Grid, out: str = "curve.csv") -> str:
    """The command that runs a grid and writes its curve, without settings that are at their defaults."""
    defaults: Mapping[str, object] = {field.name: field.default for field in fields(Grid)}
    settings = {option: getattr(grid, setting) for option, setting in SWEEP_OPTIONS.items()}
    chosen = {
        option: value
        for option, value in settings.items()
        if defaults[SWEEP_OPTIONS[option]] is MISSING or value != defaults[SWEEP_OPTIONS[option]]
    }
    return command_line("sweep", **chosen, out=out)


@dataclass(frozen=True)
class Recipe:
    """Everything needed to repeat a comparison of AT-NMF and NMF.

    source : the expression that loads the data set, such as ``load_dataset("lfw")``.
    data, reading : its name on the command line, or "", and options that read it, such as " --kind=cube".
    start : "random", or the name of another start of `factorize`.
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
    leash: float | None = None
    reading: str = ""
    unit_sum: bool = False

    def python(self) -> str:
        """A script that prints the RMSE on hidden entries of both methods, to six digits."""
        reader = self.source.partition("(")[0]
        names = ", ".join(sorted({"factorize", "hide_entries", "rmse", reader}))
        pattern = (
            ""
            if self.pattern == "entries"
            else f', pattern="{self.pattern}", image_shape=data.image_shape, order=data.order'
        )
        hiding = f"alpha={shortest_repr(self.alpha)}, seed={self.mask_seed}{pattern}"
        common = f'K={self.K}, missing="{self.missing}", solver="{self.solver}", seed={self.seed}'
        if self.start != "random":
            common += f', init="{self.start}"'
        if self.unit_sum:
            common += ", unit_sum=True"
        adversary = f"lam={shortest_repr(self.lam)}"
        if self.leash is not None:
            adversary += f", leash={shortest_repr(self.leash)}"
        return "\n".join(
            (
                f"from atnmf_core import {names}",
                "",
                f"data = {self.source}",
                f"observed = hide_entries(data.V.shape, {hiding})",
                f"same = dict({common})",
                f'atnmf = factorize(data.V, observed, method="atnmf", {adversary}, **same)',
                'nmf = factorize(data.V, observed, method="nmf", **same)',
                'print(f"AT-NMF {rmse(data.V, atnmf.V_hat, ~observed):.6f}")',
                'print(f"NMF {rmse(data.V, nmf.V_hat, ~observed):.6f}")',
            )
        )

    def command_line(self) -> str:
        """The equivalent commands, one per method; empty if the data has no name."""
        if not self.data:
            return ""
        names = ("data", "alpha", "mask_seed", "pattern", "K", "missing", "solver", "seed")
        settings = {name: getattr(self, name) for name in names}
        settings["start"] = None if self.start == "random" else self.start
        settings["unit_sum"] = self.unit_sum
        atnmf = command_line("fit", **settings, method="atnmf", lam=self.lam, leash=self.leash)
        nmf = command_line("fit", **settings, method="nmf")
        return f"{atnmf}{self.reading}\n{nmf}{self.reading}"


@dataclass(frozen=True)
class RestoreRecipe:
    """Everything needed to repeat a restoration.

    losses, K, lam, leash, seed : as in `restore`; None for what it chose.
    threshold, side : which suspects are replaced, as in `suspects_at`.
    missing, fill : files that say what else is missing, and what alone is replaced; empty for none.
    """

    data: str
    losses: str = "marked"
    K: int | tuple[int, ...] | None = None
    lam: float | None = None
    leash: float | None = None
    seed: int = 0
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    is_file: bool = True
    threshold: float = 1.0
    side: str = "both"
    denoise: bool = False
    missing: str = ""
    fill: str = ""

    def python(self, out: str) -> str:
        """A script that restores the data and writes `out` in the format of its source."""
        reader = "read_dataset" if self.is_file else "load_dataset"
        source, reading = _quoted(self.data), self.reading.python()
        options = "".join(
            f", {name}={_literal(value)}"
            for name, value in (("K", self.K), ("lam", self.lam), ("leash", self.leash))
            if value is not None
        )
        result = "denoised_where_known" if self.denoise else "V"
        imports, V = [f"from atnmf_core import {reader}, restore"], f"restored.{result}"
        lines = [
            "",
            f"data = {reader}({source}{reading})",
            f'restored = restore(data, losses="{self.losses}"{options}, seed={self.seed})',
            "print(restored.summary)",
        ]
        if self.missing:
            imports = ["from dataclasses import replace", "", "import numpy as np", "", *imports]
            imports.append("from atnmf_core.datasets.marks import read_mask")
            wrong = f"read_mask({_quoted(self.missing)}, data)"
            lines.insert(2, f"data = replace(data, V=np.where({wrong}, np.nan, data.V))")
        if self.is_file:
            imports.append("from atnmf_core.datasets import write_like")
        if not self.as_judged:
            imports.append("from atnmf_core.restoration.restore import restored_at, suspects_at")
            which = f"threshold={shortest_repr(self.threshold)}, side={_quoted(self.side)}"
            lines.append(f"suspects = suspects_at(data, restored, {which})")
            lines.append(f"V = restored_at(data, restored, suspects).{result}")
            V = "V"
        if self.is_file:
            lines.append(f"write_like({source}, {V}, {_quoted(out)}{reading})")
        return "\n".join(imports + lines)

    @property
    def as_judged(self) -> bool:
        """Whether just those suspects are replaced that `restore` calls defects."""
        return self.threshold == 1 and self.side == "both"

    def command_line(self, out: str) -> str:
        """The equivalent command; empty where it replaces other suspects."""
        if not self.as_judged:
            return ""
        K = ",".join(map(str, self.K)) if isinstance(self.K, tuple) else self.K
        line = command_line(
            "restore", self.data, out=out, unmarked=self.losses == "unmarked", K=K, lam=self.lam,
            leash=self.leash, seed=self.seed, denoise=self.denoise, missing=self.missing or None,
            fill=self.fill or None,
        )  # fmt: skip
        return line + self.reading.command_line()


def _literal(value: float | tuple[int, ...]) -> str:
    if isinstance(value, float):
        return shortest_repr(value) if math.isfinite(value) else f'float("{value}")'
    return repr(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
