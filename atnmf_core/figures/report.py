"""A table of the paper beside ours, as HTML: a fragment for the dashboard, and a page to save."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from itertools import groupby

from ..names import METHOD_NAMES
from ..reference.compare import (
    AGREEMENTS,
    PAPER_OUTER,
    Agreement,
    Cell,
    agreement_counts,
    exception_reason,
    method_title,
    percent,
    provenance,
    small_spread,
    usual_effort,
    usual_starts,
)
from ..reference.disturbed import moves_in_words
from ..reference.protocol import PROTOCOLS
from ..reference.tables import TITLES, Published
from ..sweep.measurements import Measurement
from .html_page import html_page
from .report_style import STYLE

MARKS: dict[Agreement, str] = {"within": "✓", "near": "≈", "outside": "✗"}
"""The mark beside a measured number; `AGREEMENTS` says what it means."""


def comparison_table(name: str, cells: Sequence[Cell], here: Sequence[Cell]) -> str:
    """The table as HTML: a column per method, and under each alpha what was published and what was measured.

    `here` are the same cells as measured on this machine. Every number carries its index in `cells` as
    data-cell, and says on hover how it was made.
    """
    columns = [cell for cell in cells if cell.published.alpha == cells[0].published.alpha]
    head = "".join(f'<th scope="col" class="{cell.published.method}">{_head(cell)}</th>' for cell in columns)
    effort, starts = usual_effort(cells), usual_starts(cells)
    numbers = {cell.key: number for number, cell in enumerate(cells)}
    run_here = {cell.key: cell for cell in here}

    def line(kind: str, words: str, members: list[Cell], show: Callable[[Cell], str]) -> str:
        shown = "".join(
            f'<td class="{kind}" data-cell="{numbers[cell.key]}">{show(cell)}</td>' for cell in members
        )
        return f'<th scope="row" class="{kind}">{words}</th>{shown}'

    bodies = []
    for alpha, group in groupby(cells, key=lambda cell: cell.published.alpha):
        members = list(group)
        lines = [
            line("published", "published", members, lambda cell: _spread(cell.published, cell.digits)),
            line("unmarked", "unmarked", members, lambda cell: _unmarked(cell, effort)),
        ]
        if any(run_here[cell.key].zero for cell in members):
            lines.append(line("here", "run here", members, lambda cell: _unmarked(run_here[cell.key], None)))
        lines.append(
            line("marked", "marked", members, lambda cell: _marked(cell, run_here[cell.key], starts))
        )
        lines += _tuned(members)
        first = f'<th scope="rowgroup" rowspan="{len(lines)}" class="alpha">{alpha:g}</th>'
        rows = "".join(f"<tr>{first if i == 0 else ''}{html}</tr>" for i, html in enumerate(lines))
        bodies.append(f"<tbody>{rows}</tbody>")
    return (
        f"<style>{STYLE}</style>"
        f'<table class="comparison" aria-label="{escape(TITLES[name])}: published and measured RMSE">'
        f'<thead><tr><th scope="col">α</th><td></td>{head}</tr></thead>{"".join(bodies)}</table>'
    )


def comparison_page(name: str, cells: Sequence[Cell], here: Sequence[Cell]) -> str:
    """The table as a self-contained page, with the notes that a reader needs."""
    counts = [f"{group}: {counted}" for group, counted in agreement_counts(cells).items()]
    notes = [*counts, legend(cells), noise_note(cells), PROTOCOLS[name].note]
    notes += [
        f"{method_title(*cell.key[1:])} at α = {cell.published.alpha:g}: {exception_reason(cell)}"
        for cell in cells
        if cell.agreement == "outside"
    ]
    paragraphs = "".join(f"<p>{escape(note)}</p>" for note in dict.fromkeys(notes) if note)
    title = f"RMSE on hidden entries, {TITLES[name]}"
    return html_page(title, f"{comparison_table(name, cells, here)}{paragraphs}")


def legend(cells: Sequence[Cell]) -> str:
    """What the marks mean, and how most of the measured numbers were made."""
    marks = ", ".join(f"{mark} {AGREEMENTS[agreement]}" for agreement, mark in MARKS.items())
    effort, starts = usual_effort(cells), usual_starts(cells)
    text = f"RMSE on hidden entries, mean ± standard deviation. {marks}."
    text += " Published and unmarked: the solver does not know of hidden entries and takes them for zeros"
    if effort is not None:
        text += f"; {_starts(effort[0])}, at most {effort[1]} of {PAPER_OUTER} outer iterations"
    text += ". Marked: they are left out"
    text += f"; {_starts(starts)}." if starts else "."
    text += " Cells made otherwise say so." if effort or starts else ""
    if tuned := [cell.tuned for cell in cells if cell.tuned is not None]:
        text += (
            " λ tuned: AT-NMF, unmarked too, by the fast solver with the λ that best predicts held-out "
            f"entries other than zeros; {_starts(tuned[0].starts)}."
        )
    return text


def noise_note(cells: Sequence[Cell]) -> str:
    """How far noise in the start moves Algorithm 1 at its smallest lambda; empty where that is unknown."""
    found = {cell.published.alpha: cell.disturbed for cell in cells if cell.disturbed is not None}
    if not found:
        return ""
    lam = min(cell.published.lam for cell in cells if cell.disturbed and cell.published.lam)
    return (
        f"At λ = {lam:g} Algorithm 1 can be chaotic. From the same start with 10⁻⁶ of noise, unmarked, its "
        f"error moves by {moves_in_words(found)}."
    )


def _head(cell: Cell) -> str:
    if cell.published.lam is not None:
        return f"AT-NMF <i>λ = {cell.published.lam:g}</i>"
    name, _, remark = METHOD_NAMES[cell.published.method].partition(" (")
    return f"{name} <i>{remark.rstrip(')')}</i>" if remark else name


def _unmarked(cell: Cell, usual: tuple[int, int] | None) -> str:
    zero = cell.zero
    if zero is None or cell.agreement is None or cell.difference is None:
        return '<span class="none">not measured</span>' if usual is not None else ""
    mark, words = MARKS[cell.agreement], AGREEMENTS[cell.agreement]
    return (
        f'<b title="{escape(_exact(zero))}">{_spread(zero, cell.digits)}</b>'
        f' <span class="difference"><span class="mark {cell.agreement}" role="img" aria-label="{words}"'
        f' title="{words}">{mark}</span> {percent(cell.difference)}</span>{_own_effort(zero, usual)}'
    )


def _own_effort(row: Measurement, usual: tuple[int, int] | None) -> str:
    """How a number was made, if not as usual; only Algorithm 1 counts outer iterations."""
    starts = _starts(row.starts)
    if row.solver != "paper":
        return "" if usual is not None and usual[0] == row.starts else f"<small>{starts}</small>"
    if (row.starts, row.max_outer) == usual:
        return ""
    return f"<small>{starts}, {row.max_outer} of {PAPER_OUTER}</small>"


def _marked(cell: Cell, run_here: Cell, usual: int | None) -> str:
    row = run_here.ignore or cell.ignore
    if row is None:
        return '<span class="none">not measured</span>'
    remarks = ["run here"] if run_here.ignore else []
    remarks += [] if row.starts == usual else [_starts(row.starts)]
    remark = f" <small>{', '.join(remarks)}</small>" if remarks else ""
    mean, _, deviation = small_spread(row.mean, row.deviation).partition(" ± ")
    spread = f" <i>± {deviation}</i>" if deviation else ""
    return f'<span title="{escape(_exact(row))}">{escape(mean)}{spread}</span>{remark}'


def _tuned(members: Sequence[Cell]) -> list[str]:
    """A line below the columns of AT-NMF: its error with the lambda that held-out entries chose."""
    row = next((cell.tuned for cell in members if cell.tuned is not None), None)
    if row is None:
        return []
    mean, _, deviation = small_spread(row.mean, row.deviation).partition(" ± ")
    own = sum(cell.published.method == "atnmf" for cell in members)
    return [
        f'<th scope="row" class="tuned">λ tuned</th><td class="tuned" colspan="{len(members) - own}"></td>'
        f'<td class="tuned" colspan="{own}">'
        f'<span title="{escape(_exact(row))}">{escape(mean)} <i>± {deviation}</i></span>'
        f' <i class="atnmf">λ = {row.lam:g}</i></td>'
    ]


def _spread(row: Published | Measurement, digits: int) -> str:
    """The deviation may wrap to its own line, but is never separated from its sign."""
    deviation = "" if row.deviation is None else f" <i>± {row.deviation:.{digits}f}</i>"
    return f"{row.mean:.{digits}f}{deviation}"


def _starts(number: int) -> str:
    return f"{number} start" + ("" if number == 1 else "s")


def _exact(row: Measurement) -> str:
    seconds = "" if row.seconds is None else f", {row.seconds:.3g} s a fit"
    return f"{row.mean:.6g}: {provenance(row)}{seconds}"
