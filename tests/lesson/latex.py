"""Evaluates the formulas of the lesson as they are written on the page.

The grammar is that of schoolbook LaTeX: sums, products by juxtaposition, powers, fractions, roots, the
larger of two, cases. A letter stands for a number or for a vector over all entries; indices are left out,
since everything is computed for all entries at once. A sum runs over all of them, or over a named set.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

TOKEN = re.compile(r"\\\\|\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|[a-zA-Z]|[-+^_(){},=<>&|]")
SPACING = {r"\left", r"\right", r"\,"}
COMPARISONS = {r"\le": np.less_equal, ">": np.greater}


def evaluate(latex: str, letters: Mapping[str, object]) -> np.ndarray:
    """The value of a formula; of an equation, that of its right side."""
    tokens = [token for token in TOKEN.findall(latex) if token not in SPACING]
    if "=" in top_level(tokens):
        tokens = tokens[top_level(tokens).index("=") + 1 :]
    return Parser(tokens, letters).whole()


def top_level(tokens: list[str]) -> list[str]:
    """The tokens with everything inside braces blanked out, so that an index k=1 is no equation."""
    depth, seen = 0, []
    for token in tokens:
        depth -= token == "}"
        seen.append(token if depth == 0 else "")
        depth += token == "{"
    return seen


class Parser:
    """Recursive descent over one list of tokens."""

    def __init__(self, tokens: list[str], letters: Mapping[str, object]) -> None:
        self.tokens, self.letters = tokens, letters

    def whole(self) -> np.ndarray:
        value = self.expression()
        assert not self.tokens, f"not understood: {self.tokens}"
        return np.asarray(value)

    def peek(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def take(self, wanted: str | None = None) -> str:
        token = self.tokens.pop(0)
        assert wanted in (None, token), f"{wanted} was expected, {token} found"
        return token

    def expression(self) -> np.ndarray:
        value = -self.product() if self.peek() == "-" and self.take() else self.product()
        while self.peek() in ("+", "-"):
            value = value + self.product() if self.take() == "+" else value - self.product()
        return value

    def product(self) -> np.ndarray:
        value = self.power()
        while self.starts_a_factor():
            value = value * self.power()
        return value

    def starts_a_factor(self) -> bool:
        token = self.peek()
        return token in ("(", "{", r"\frac", r"\sqrt", r"\sum", r"\lambda") or token.isalnum()

    def power(self) -> np.ndarray:
        base = self.atom()
        while self.peek() in ("^", "_"):
            if self.take() == "_":
                self.skip_group()
            else:
                base = base ** self.atom()
        return base

    def atom(self) -> np.ndarray:
        token = self.take()
        if token in ("(", "{"):
            value = self.expression()
            self.take({"(": ")", "{": "}"}[token])
            return value
        special = {
            r"\frac": lambda: self.atom() / self.atom(),
            r"\sqrt": lambda: np.sqrt(self.atom()),
            r"\sum": self.sum,
            r"\max": self.larger,
            r"\begin": self.cases,
        }
        if token in special:
            return special[token]()
        return np.asarray(float(token) if token[0].isdigit() else self.letters[token.lstrip("\\")])

    def sum(self) -> np.ndarray:
        among = None
        if self.peek() == "_":
            self.take()
            index = self.skip_group()
            among = index[-1].lstrip("\\") if r"\in" in index else None
        if self.peek() == "^":
            self.take()
            self.skip_group()
        everywhere = np.ones_like(np.asarray(self.letters["v"], dtype=float))
        terms = self.product() * everywhere
        return terms[self.letters[among]].sum() if among else terms.sum()

    def larger(self) -> np.ndarray:
        self.take("(")
        first = self.expression()
        self.take(",")
        second = self.expression()
        self.take(")")
        return np.maximum(first, second)

    def cases(self) -> np.ndarray:
        self.skip_group()
        values, conditions = [], []
        while True:
            values.append(self.expression())
            self.take("&")
            left = self.expression()
            compare = COMPARISONS[self.take()]
            conditions.append(compare(left, self.expression()))
            if self.take() == r"\end":
                break
        self.skip_group()
        assert np.logical_xor.reduce(conditions).all(), "exactly one case must hold everywhere"
        return np.select(conditions, values)

    def skip_group(self) -> list[str]:
        """Pass over one token or one group in braces; what it was."""
        if self.peek() != "{":
            return [self.take()]
        depth, seen = 0, []
        while True:
            token = self.take()
            depth += (token == "{") - (token == "}")
            seen.append(token)
            if depth == 0:
                return seen[1:-1]
