"""A table of the paper beside ours, as HTML: a fragment for the dashboard, and a page to save."""

from collections.abc import Callable, Sequence
from html import escape
from itertools import groupby
from typing import Any

import plotly.graph_objects as go

from ..model.problem import METHOD_NAMES
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
    usual_budget,
    usual_starts,
)
from ..reference.paper_tables import PROTOCOLS, TITLES, Published, moves_in_words
from ..sweep.grid import PAPER_STARTS
from ..sweep.measurements import Measurement
from .images import METHODS
from .plotting import TRANSPARENT, axis, plot

SYMBOLS = {None: "circle", 2.0: "square", 3.0: "diamond", 5.0: "triangle-up"}


def reproduction_figure(cells: Sequence[Cell]) -> go.Figure:
    """Published columns as lines with open marks, measured ones as filled marks, in one legend entry."""
    columns: dict[tuple[str, float | None], list[Cell]] = {}
    for cell in cells:
        columns.setdefault((cell.published.method, cell.published.lam), []).append(cell)
    traces = [trace for column in columns.values() for trace in (_published(column), _measured(column))]
    layout = {
        "legend": {"orientation": "h", "y": -0.18, "yanchor": "top", "x": 0},
        "xaxis": axis("share of hidden entries α", 4, showgrid=False, dtick=0.1),
        "yaxis": {"title": {"text": "RMSE on hidden entries"}, "zeroline": False},
    }
    return plot(traces, 480, **layout, **TRANSPARENT)


def _published(column: list[Cell]) -> dict[str, Any]:
    row = column[0].published
    colour, symbol = METHODS[row.method], SYMBOLS.get(row.lam, "circle")
    return {
        "x": [cell.published.alpha for cell in column],
        "y": [cell.published.mean for cell in column],
        "error_y": {"array": [cell.published.deviation for cell in column], "thickness": 1.5, "width": 4},
        "mode": "lines+markers",
        "name": method_title(row.method, row.lam),
        "legendgroup": method_title(row.method, row.lam),
        "line": {"color": colour, "width": 1.5},
        "marker": {"symbol": f"{symbol}-open", "size": 11, "line": {"width": 1.5}},
        "hovertemplate": "published, α = %{x:g}: %{y} ± %{error_y.array}<extra></extra>",
    }


def _measured(column: list[Cell]) -> dict[str, Any]:
    row = column[0].published
    found = [(cell.published.alpha, cell.zero) for cell in column if cell.zero is not None]
    return {
        "x": [alpha for alpha, _ in found],
        "y": [zero.mean for _, zero in found],
        "customdata": [f"{zero.starts} of {PAPER_STARTS} starts" for _, zero in found],
        "mode": "markers",
        "legendgroup": method_title(row.method, row.lam),
        "showlegend": False,
        "marker": {"symbol": SYMBOLS.get(row.lam, "circle"), "size": 7, "color": METHODS[row.method]},
        "hovertemplate": "measured, α = %{x:g}: %{y:.4g}, %{customdata}<extra></extra>",
    }


# A self-contained HTML page: follows the reader's light or dark theme, can be printed, needs no network.

PAGE_STYLE = """
:root {
  color-scheme: light dark;
  --ink: light-dark(#0D1723, #E7ECF0); --muted: light-dark(#566273, #9EABB7);
  --line: light-dark(#D5DCE3, #34424E); --paper: light-dark(#FFFFFF, #121A21);
}
body { font-family: sans-serif; line-height: 1.45; margin: 2rem auto; max-width: 70rem; padding: 0 1.5rem }
body { color: var(--ink); background: var(--paper) }
h2 { font-size: 1.2rem; margin: 2rem 0 0.5rem }
figure { margin: 0 } figcaption { color: var(--muted); font-size: 0.875rem; margin-bottom: 0.3rem }
@media print { :root { color-scheme: light } body { margin: 0; max-width: none } }
@media print { h2 { break-after: avoid } figure, tr { break-inside: avoid } }
"""


def html_page(title: str, body: str, style: str = "") -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{PAGE_STYLE}{style}</style></head>"
        f"<body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )


STYLE = """
.comparison {
  --ink: var(--st-text-color, light-dark(#0D1723, #E7ECF0));
  --muted: var(--st-gray-text-color, light-dark(#566273, #9EABB7));
  --line: var(--st-border-color, light-dark(#D5DCE3, #34424E));
  --paper: var(--st-background-color, Canvas);
  --tint: var(--st-secondary-background-color, light-dark(#EFF3F5, #1E2831));
  border-collapse: separate; border-spacing: 0; color: var(--ink); line-height: 1.3;
  font-variant-numeric: tabular-nums; font-size: 1rem; width: 100%;
}
.comparison th, .comparison td { padding: 0.2rem 0.25rem 0.2rem 0.4rem; text-align: left; }
.comparison th, .comparison td { white-space: nowrap; }
.comparison i { font-style: normal; font-weight: 400; color: var(--muted); font-size: 0.8125rem; }
.comparison small { display: block; color: var(--muted); font-size: 0.75rem; }
.comparison thead th { vertical-align: bottom; font-weight: 650; border-bottom: 2px solid var(--line); }
.comparison thead td { border-bottom: 2px solid var(--line); }
.comparison thead i { display: block; }
.comparison .nmf { color: var(--st-blue-text-color, light-dark(#2F5FA3, #8DB4EA)); }
.comparison .anmf { color: var(--st-violet-text-color, light-dark(#6A4E96, #BFA6E4)); }
.comparison .atnmf { color: var(--st-orange-text-color, light-dark(#955800, #F5B04C)); }
.comparison tbody tr:last-child > * { border-bottom: 1px solid var(--line); padding-bottom: 0.45rem; }
.comparison tbody .alpha { border-bottom: 1px solid var(--line); font-size: 1.125rem; }
.comparison tbody tr:first-child > * { padding-top: 0.45rem; }
.comparison tbody th, .comparison tbody td { vertical-align: top; }
.comparison tbody th[scope="row"] { font-weight: 400; color: var(--muted); }
.comparison tbody th[scope="row"] { font-size: 0.875rem; line-height: 1.5; }
.comparison .difference { color: var(--muted); font-size: 0.8125rem; margin-left: 0.15rem; }
.comparison .mark { font-weight: 700; }
.comparison .mark.within { color: var(--st-green-text-color, light-dark(#0A6E64, #5CCFC0)); }
.comparison .mark.near { color: var(--muted); }
.comparison .mark.outside { color: var(--st-red-text-color, light-dark(#B8262A, #FF8A8C)); }
.comparison .none { color: var(--muted); font-size: 0.8125rem; line-height: 1.6; }
"""

MARKS: dict[Agreement, str] = {"within": "✓", "near": "≈", "outside": "✗"}
"""The mark beside a measured number; `AGREEMENTS` says what it means."""


def comparison_table(name: str, cells: Sequence[Cell], here: Sequence[Cell]) -> str:
    """The table as HTML: a column per method, and under each alpha what was published and what was measured,
    `here` on this machine. Numbers carry their index in `cells` as data-cell, and say how they were made.
    """
    columns = [cell for cell in cells if cell.published.alpha == cells[0].published.alpha]
    head = "".join(f'<th scope="col" class="{cell.published.method}">{_head(cell)}</th>' for cell in columns)
    budget, starts = usual_budget(cells), usual_starts(cells)
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
            line("unmarked", "unmarked", members, lambda cell: _unmarked(cell, budget)),
        ]
        if any(run_here[cell.key].zero for cell in members):
            lines.append(line("here", "run here", members, lambda cell: _unmarked(run_here[cell.key], None)))
        lines.append(line("marked", "marked", members, lambda one: _marked(one, run_here[one.key], starts)))
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
    budget, starts = usual_budget(cells), usual_starts(cells)
    text = f"RMSE on hidden entries, mean ± standard deviation. {marks}."
    text += " Published and unmarked: the solver does not know of hidden entries and takes them for zeros"
    if budget is not None:
        text += f"; {_starts(budget[0])}, at most {budget[1]} of {PAPER_OUTER} outer iterations"
    text += ". Marked: they are left out"
    text += f"; {_starts(starts)}." if starts else "."
    text += " Cells made otherwise say so." if budget or starts else ""
    if tuned := [cell.tuned for cell in cells if cell.tuned is not None]:
        text += (
            " λ tuned: AT-NMF, unmarked too, by the fast solver with the λ that best predicts held-out "
            f"entries other than zeros; {_starts(tuned[0].starts)}."
        )
    return text


def noise_note(cells: Sequence[Cell]) -> str:
    """How far noise in the start moves Algorithm 1 at its smallest lambda; empty where that is unknown."""
    found = {cell.published.alpha: cell.sensitivity for cell in cells if cell.sensitivity is not None}
    if not found:
        return ""
    lam = min(cell.published.lam for cell in cells if cell.sensitivity and cell.published.lam)
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
        f' title="{words}">{mark}</span> {percent(cell.difference)}</span>{_own_budget(zero, usual)}'
    )


def _own_budget(row: Measurement, usual: tuple[int, int] | None) -> str:
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
