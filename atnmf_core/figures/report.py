"""A table of the paper beside ours, to look at and to take away: HTML and CSV."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Sequence
from html import escape
from itertools import groupby

from ..reference.compare import (
    PAPER_OUTER,
    TITLES,
    Agreement,
    Cell,
    exception_reason,
    method_title,
    percent,
    provenance,
    small_spread,
    spread,
)
from ..reference.protocol import PROTOCOLS
from ..reference.tables import Measured
from .report_style import PAGE_STYLE, STYLE

__all__ = ["MARKS", "comparison_csv", "comparison_page", "comparison_table", "legend", "usual_effort"]

MARKS: dict[Agreement, tuple[str, str]] = {
    "within": ("✓", "within the published spread"),
    "near": ("≈", "within three deviations or 1 %"),
    "outside": ("✗", "outside"),
}
"""What stands beside a measured number, and what it means."""
COLUMNS = (
    "table", "alpha", "method", "lam", "K", "published", "published_deviation",
    "measured", "measured_deviation", "difference_percent", "agreement",
    "starts", "max_outer", "dtype", "version", "date",
    "ignored", "ignored_deviation", "ignored_starts", "ignored_version", "ignored_date",
)  # fmt: skip


def comparison_table(name: str, cells: Sequence[Cell], here: Sequence[Cell]) -> str:
    """The table as HTML: a column per method, and under each alpha what was published and what was measured.

    `here` are the same cells as they were run again on this machine. Every number carries, as data-cell, its
    place in `cells`; pointing at one shows from what it was made.
    """
    columns = [cell for cell in cells if cell.published.alpha == cells[0].published.alpha]
    head = "".join(f'<th scope="col" class="{cell.published.method}">{_head(cell)}</th>' for cell in columns)
    usual, beside = usual_effort(cells), _usual_starts(cells)
    places = {cell.place: number for number, cell in enumerate(cells)}
    again = {cell.place: cell for cell in here}
    bodies = []
    for alpha, group in groupby(cells, key=lambda cell: cell.published.alpha):
        members = list(group)
        lines = [
            _line("published", "published", members, places, _published),
            _line("measured", "measured", members, places, lambda cell: _measured(cell, usual)),
        ]
        if any(again[cell.place].zero for cell in members):
            lines.append(
                _line("here", "run here", members, places, lambda cell: _measured(again[cell.place], None))
            )
        lines.append(
            _line(
                "ignored", "ignored", members, places, lambda cell: _ignored(cell, again[cell.place], beside)
            )
        )
        first = f'<th scope="rowgroup" rowspan="{len(lines)}" class="alpha">{alpha:g}</th>'
        rows = "".join(f"<tr>{first if i == 0 else ''}{line}</tr>" for i, line in enumerate(lines))
        bodies.append(f"<tbody>{rows}</tbody>")
    return (
        f"<style>{STYLE}</style>"
        f'<table class="comparison" aria-label="{escape(TITLES[name])}: published and measured RMSE">'
        f'<thead><tr><th scope="col">α</th><td></td>{head}</tr></thead>{"".join(bodies)}</table>'
    )


def comparison_page(name: str, cells: Sequence[Cell], here: Sequence[Cell]) -> str:
    """The same as a page of its own, with what a reader must know; it needs nothing from the network."""
    notes = [legend(cells), PROTOCOLS[name].note]
    notes += [
        f"{method_title(*cell.place[1:])} at α = {cell.published.alpha:g}: {exception_reason(cell)}"
        for cell in cells
        if cell.agreement == "outside"
    ]
    told = "".join(f"<p>{escape(note)}</p>" for note in dict.fromkeys(notes) if note)
    title = f"RMSE on hidden entries, {TITLES[name]}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{PAGE_STYLE}</style></head><body><h1>{escape(title)}</h1>"
        f"{comparison_table(name, cells, here)}{told}</body></html>\n"
    )


def comparison_csv(name: str, cells: Sequence[Cell]) -> str:
    """One line per published cell; what was not measured is left empty."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for cell in cells:
        row, zero, ignore = cell.published, cell.zero, cell.ignore
        difference = "" if cell.difference is None else f"{100 * cell.difference:.3f}"
        made = [getattr(zero, key, "") for key in ("starts", "max_outer", "dtype", "version", "date")]
        beside = [getattr(ignore, key, "") for key in ("starts", "version", "date")]
        printed = (spread(value, None, cell.digits) for value in (row.mean, row.deviation))
        verdict = cell.agreement or "not measured"
        writer.writerow(
            (
                *(name, row.alpha, row.method, row.lam, PROTOCOLS[name].K, *printed),
                *(*_numbers(zero), difference, verdict, *made),
                *(*_numbers(ignore), *beside),
            )
        )
    return file.getvalue()


def usual_effort(cells: Sequence[Cell]) -> tuple[int, int] | None:
    """Starts and outer iterations allowed of most measured cells; the others say theirs themselves."""
    efforts = Counter(
        (cell.zero.starts, cell.zero.max_outer)
        for cell in cells
        if cell.zero is not None and cell.zero.solver == "paper"
    )
    return efforts.most_common(1)[0][0] if efforts else None


def _usual_starts(cells: Sequence[Cell]) -> int | None:
    """Starts of most cells that were measured with hidden entries ignored."""
    starts = Counter(cell.ignore.starts for cell in cells if cell.ignore is not None)
    return starts.most_common(1)[0][0] if starts else None


def legend(cells: Sequence[Cell]) -> str:
    """What the marks mean, and from what most of the measured numbers were made."""
    marks = ", ".join(f"{mark} {words}" for mark, words in MARKS.values())
    usual, beside = usual_effort(cells), _usual_starts(cells)
    told = f"RMSE on hidden entries, mean ± standard deviation. {marks}."
    told += " Ignored: hidden entries left out of the loss" + (f", {_starts(beside)}." if beside else ".")
    if usual is not None:
        starts, outer = usual
        told += f" Measured with {_starts(starts)}, at most {outer} of {PAPER_OUTER} outer iterations."
    return told + (" Cells made otherwise say so." if usual or beside else "")


def _head(cell: Cell) -> str:
    if cell.published.lam is not None:
        return f"AT-NMF <i>λ = {cell.published.lam:g}</i>"
    return "ANMF <i>reconstruction</i>" if cell.published.method == "anmf" else "NMF"


def _line(
    kind: str,
    words: str,
    cells: Sequence[Cell],
    places: dict[tuple[float, str, float | None], int],
    show: Callable[[Cell], str],
) -> str:
    shown = "".join(
        f'<td class="{kind}" data-cell="{places[cell.place]}">{show(cell)}</td>' for cell in cells
    )
    return f'<th scope="row" class="{kind}">{words}</th>{shown}'


def _published(cell: Cell) -> str:
    return _spread(cell.published.mean, cell.published.deviation, cell.digits)


def _measured(cell: Cell, usual: tuple[int, int] | None) -> str:
    zero = cell.zero
    if zero is None or cell.agreement is None or cell.difference is None:
        return '<span class="none">not measured</span>' if usual is not None else ""
    mark, words = MARKS[cell.agreement]
    return (
        f'<b title="{escape(_exact(zero))}">{_spread(zero.mean, zero.deviation, cell.digits)}</b>'
        f' <span class="difference"><span class="mark {cell.agreement}" role="img" aria-label="{words}"'
        f' title="{words}">{mark}</span> {percent(cell.difference)}</span>{_own_effort(zero, usual)}'
    )


def _own_effort(cell: Measured, usual: tuple[int, int] | None) -> str:
    """From what a number was made, where that is not as usual; only Algorithm 1 counts outer iterations."""
    starts = _starts(cell.starts)
    if cell.solver != "paper":
        return "" if usual is not None and usual[0] == cell.starts else f"<small>{starts}</small>"
    if (cell.starts, cell.max_outer) == usual:
        return ""
    return f"<small>{starts}, {cell.max_outer} of {PAPER_OUTER}</small>"


def _ignored(cell: Cell, again: Cell, usual: int | None) -> str:
    ignore = again.ignore or cell.ignore
    if ignore is None:
        return '<span class="none">not measured</span>'
    made = [] if ignore.starts == usual else [_starts(ignore.starts)]
    where = ", ".join(["run here", *made] if again.ignore else made)
    where = f" <small>{where}</small>" if where else ""
    mean, *deviation = small_spread(ignore.mean, ignore.deviation).split(" ± ")
    told = "".join(f" <i>± {number}</i>" for number in deviation)
    return f'<span title="{escape(_exact(ignore))}">{escape(mean)}{told}</span>{where}'


def _spread(mean: float, deviation: float | None, digits: int) -> str:
    """The deviation may go to a line of its own where room is short, but never loses its sign."""
    return f"{mean:.{digits}f}" + ("" if deviation is None else f" <i>± {deviation:.{digits}f}</i>")


def _starts(number: int) -> str:
    return f"{number} start" + ("" if number == 1 else "s")


def _exact(cell: Measured) -> str:
    return f"{cell.mean:.6g}: {provenance(cell)}, {cell.seconds:.3g} s a fit"


def _numbers(cell: Measured | None) -> tuple[str, str]:
    if cell is None:
        return "", ""
    return f"{cell.mean:.6g}", "" if cell.deviation is None else f"{cell.deviation:.6g}"
