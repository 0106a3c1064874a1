"""Evaluates the formulas of the lesson as they are written on the page.

A letter stands for a number or for a vector over all entries; indices are left out, since everything is
computed for all entries at once. A product is written with a blank between its factors. A sum runs over all
entries, or over a named set, and takes in the product that follows it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

FUNCTIONS = {"frac": lambda above: lambda below: above / below, "sqrt": np.sqrt, "max": np.maximum}
PRODUCT = r"((?:\([^()]*\)|[\w^ ])+)"


def evaluate(latex: str, letters: Mapping[str, object]) -> np.ndarray:
    """The value of a formula; of an equation, that of its right side; of cases, of the one that holds."""
    text = re.sub(r"\\(left|right|,)", "", latex)
    text = re.sub(r"\\sum_\{\w+ \\in \\(\w+)\}", r"SUM\1", text)
    text = re.sub(r"\\sum_\{[^}]*\}(\^\{\w+\})?", "SUMall", text)
    text = re.sub(r"_(\w|\{[^{}]*(\{\w+\})?\})", "", text)
    text = text.partition("=")[2] or text
    if cases := re.search(r"\\begin\{cases\}(.*)\\end\{cases\}", text):
        lines = [line.split("&") for line in cases[1].split(r"\\")]
        values, conditions = (
            [evaluate(part, letters) for part in parts] for parts in zip(*lines, strict=True)
        )
        assert np.logical_xor.reduce(conditions).all(), "exactly one case must hold everywhere"
        return np.select(conditions, values)

    def total(among: str, terms: np.ndarray) -> np.ndarray:
        everywhere = terms * np.ones_like(np.asarray(letters["v"], dtype=float))
        return everywhere.sum() if among == "all" else everywhere[letters[among]].sum()

    text = re.sub(rf"SUM(\w+) {PRODUCT}", r'total("\1", \2)', text)
    for written, meant in (
        (r"\lambda", "lam"),
        (r"\le", "<="),
        ("\\", ""),
        ("{", "("),
        ("}", ")"),
        ("^", "**"),
    ):
        text = text.replace(written, meant)
    text = re.sub(r"(?<=[\w)])\s+(?=[\w(])", "*", text.strip())
    names = {name.replace("lambda", "lam"): value for name, value in letters.items()}
    return np.asarray(eval(text, {"__builtins__": {}, "total": total, **FUNCTIONS}, names))
