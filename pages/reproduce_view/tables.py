"""What is chosen, the four tables to choose from, and the chosen one with a cell to choose in it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from atnmf_core.datasets import PAPER_ALPHAS
from atnmf_core.figures.images import agreement_mosaic, data_url
from atnmf_core.figures.report import MARKS, comparison_table, legend, noise_note
from atnmf_core.model.problem import ANMF_NOTE, METHOD_NAMES, Missing
from atnmf_core.recipe import command_line
from atnmf_core.reference import NAMES, TITLES, measured, published
from atnmf_core.reference.compare import (
    AGREEMENTS,
    CHAOTIC,
    PAPER_OUTER,
    Cell,
    CellKey,
    agreement_counts,
    compare_table,
    exception_reason,
    mean_and_deviation,
    method_title,
    percent,
    provenance,
    small_spread,
)
from atnmf_core.reference.paper_tables import PROTOCOLS, ignoring_hidden, published_grid
from atnmf_core.sweep import Measurement
from atnmf_core.sweep.grid import PAPER_STARTS, Grid
from pages.common.address import Address, change
from pages.common.controls import OneOf, redeclare
from pages.common.setting import Setting
from pages.common.widgets import component

OUTER = (1, 10, 20, 50, PAPER_OUTER)
STARTS = (1, 2, 3, 5, PAPER_STARTS)  # Limits for a quicker run


def columns(table: str) -> dict[str, tuple[Any, float | None]]:
    found = dict.fromkeys((cell.method, cell.lam) for cell in published(table))
    return {method if lam is None else f"{method}-{lam:g}": (method, lam) for method, lam in found}


def _names(values: Iterable[Any]) -> dict[Any, str]:
    return {value: str(value) for value in values}


@dataclass(frozen=True)
class ReproduceSetting:
    """A table, one of its cells, and how to rerun that.

    method : a column of the table: "nmf", "anmf", or "atnmf-3" for AT-NMF at lambda = 3.
    missing : "zero" runs the cell as it was published, "ignore" with hidden entries left out of the loss.
    outer : limit on the outer iterations of Algorithm 1.
    look : whether the numbers are shown as a table or a plot.
    """

    table: str = OneOf.field("synthetic", "Table", _names(NAMES))
    alpha: float = OneOf.field(0.5, "Hidden share α", _names(PAPER_ALPHAS))
    method: str = OneOf.field("atnmf-3", "Method", _names(name for t in NAMES for name in columns(t)))
    missing: Missing = redeclare(Setting, "missing")
    starts: int = OneOf.field(
        1, "Starts", _names(STARTS), help="How many of the authors' ten starts to run, from the first on."
    )
    outer: int = OneOf.field(
        PAPER_OUTER,
        "Outer iterations",
        _names(OUTER),
        help="Algorithm 1 stops after this many; the authors allowed 100. Other methods have none.",
    )
    look: str = OneOf.field("table", "Show as", {"table": "Numbers", "chart": "Chart"})

    @property
    def cell_key(self) -> CellKey:
        return self.alpha, *columns(self.table)[self.method]

    def grid(self) -> Grid:
        method, lam = columns(self.table)[self.method]
        lams = None if lam is None else [lam]
        zero = published_grid(
            self.table, [self.alpha], [method], starts=self.starts, max_outer=self.outer, lams=lams
        )
        return zero if self.missing == "zero" else ignoring_hidden(zero)

    def command_line(self) -> str:
        method, lam = columns(self.table)[self.method]
        return command_line(
            "reproduce", self.table, alpha=self.alpha, methods=method, lam=lam, starts=self.starts,
            treatment=self.missing, max_outer=self.outer if self.missing == "zero" else None,
        )  # fmt: skip


def method_of(table: str, method: str) -> str:
    """That column if the table has it, else its first of AT-NMF."""
    return method if method in columns(table) else "atnmf-2"


def key(name: str) -> str:
    return f"reproduce_{name}"


ADDRESS = Address("reproduce", ReproduceSetting, key=key)


def arrive() -> None:
    ADDRESS.load_from_address()
    asked = st.session_state[key("method")]
    if (method := method_of(st.session_state[key("table")], asked)) != asked:
        change(**{key("method"): method})


def show_treatments(cells: Sequence[Cell], alpha: float) -> None:
    """Unmarked or marked: the one difference between the released code and the paper's text."""
    st.markdown("**Hidden entries: unmarked or marked**")
    st.markdown(
        "The paper's text leaves hidden entries out. The authors' code masks only the numerator of its "
        "updates, with M = 1 where V is observed:"
    )
    st.html(_update("W H"))
    st.markdown(
        "The denominator counts every entry, so hidden ones look like measured zeros: they are **unmarked**. "
        "So the published tables tell how well an adversary copes with losses that nobody has marked. "
        f"{gain_in_words(cells, alpha)}"
    )
    if tuned := tuned_in_words(cells, alpha):
        st.markdown(tuned)
    st.markdown("With the mask in both places hidden entries are **marked**, and left out:")
    st.html(_update("(M ∘ W H)"))
    if example := _example(cells, alpha):
        st.markdown(example)


def show_notes(table: str, cells: Sequence[Cell]) -> None:
    if PROTOCOLS[table].note:
        st.markdown(PROTOCOLS[table].note)
    st.markdown(f":violet[**{METHOD_NAMES['anmf']}.**] {ANMF_NOTE}")
    outside = [cell for cell in cells if cell.agreement == "outside" and cell.published.method != "anmf"]
    if outside:
        st.markdown("**Outside the published spread**")
    for cell in outside:
        _, method, lam = cell.key
        st.markdown(
            f"- {method_title(method, lam)} at α = {cell.published.alpha:g}: {exception_reason(cell)}."
        )


def _update(denominator: str) -> str:
    """The step on H in plain HTML: a formula in LaTeX would first load a whole typesetter."""
    numerator = "W<sup>⊤</sup>(M ∘ V)"
    fraction = (
        '<span style="display:inline-grid;justify-items:center;vertical-align:middle;margin-left:0.3em">'
        f'<span style="border-bottom:1px solid;padding:0 0.4em">{numerator}</span>'
        f"<span>W<sup>⊤</sup>{denominator}</span></span>"
    )
    return f'<div style="text-align:center;font-family:serif;font-size:1.0625rem">H ← H ∘ {fraction}</div>'


def gain_in_words(cells: Sequence[Cell], alpha: float) -> str:
    here = {cell.key: cell.published.mean for cell in cells if cell.published.alpha == alpha}
    nmf = here[alpha, "nmf", None]
    (_, _, lam), mean = min(
        ((key, mean) for key, mean in here.items() if key[1] == "atnmf"), key=lambda one: one[1]
    )
    return (
        f"At α = {alpha:g} the error of AT-NMF is {mean:g} (λ = {lam:g}), NMF's {nmf:g}: "
        f"{1 - mean / nmf:.0%} less."
    )


def tuned_in_words(cells: Sequence[Cell], alpha: float) -> str:
    """What the adversary gains on the same unmarked entries with the lambda that held-out ones choose."""
    cell = next(cell for cell in cells if cell.key[:2] == (alpha, "atnmf"))
    nmf = next(one.published.mean for one in cells if one.key == (alpha, "nmf", None))
    if cell.tuned is None:
        return ""
    gain = 1 - cell.tuned.mean / nmf
    return (
        "**λ tuned**: the same unmarked entries, the fast solver, and the λ that best predicts a tenth of "
        "the nonzero entries, held out. That needs no truth, and the error is "
        f"{small_spread(cell.tuned.mean, None)} (λ = {cell.tuned.lam:g}), {gain:.0%} below NMF's."
    )


def _example(cells: Sequence[Cell], alpha: float) -> str:
    """What marking hidden entries does to NMF, and then to the lead of AT-NMF, at the chosen alpha."""
    cell = next(cell for cell in cells if cell.key == (alpha, "nmf", None))
    if cell.ignore is None:
        return ""
    before, after = cell.published.mean, cell.ignore.mean
    example = f"That turns NMF's published {before:g} into **{small_spread(after, None)}**"
    if after > before:
        return f"{example}: so little is observed there that it does not determine K parts."
    others = [one.ignore.mean for one in cells if one.key[:2] == (alpha, "atnmf") and one.ignore is not None]
    lead = f"; AT-NMF's best is {small_spread(min(others), None)}" if others else ""
    return f"{example}{lead}."


COLOURS = {"nmf": "blue", "anmf": "violet", "atnmf": "orange"}


def show_cell(cell: Cell, here: Cell) -> None:
    row = cell.published
    title = method_title(row.method, row.lam)
    with st.container(gap="xsmall"):
        st.markdown(f"**:{COLOURS[row.method]}[{title}] at α = {row.alpha:g}**")
        st.markdown(f"Published **{mean_and_deviation(row.mean, row.deviation, cell.digits)}**")
        st.caption(f"{PAPER_STARTS} of {PAPER_STARTS} starts.")
        _number("Unmarked", cell)
        if here.zero is not None:
            _number("Unmarked, run here", here)
        _noise(cell)
        _tuned(cell)
        _marked("Marked", cell.ignore)
        if here.ignore is not None:
            _marked("Marked, run here", here.ignore)


def _number(words: str, cell: Cell) -> None:
    if cell.zero is None or cell.agreement is None or cell.difference is None:
        st.markdown(f"{words}: not yet")
        return
    verdict = f"{MARKS[cell.agreement]} {AGREEMENTS[cell.agreement]}"
    value = mean_and_deviation(cell.zero.mean, cell.zero.deviation, cell.digits + 1)
    st.markdown(f"{words} **{value}**, {percent(cell.difference)}: {verdict}")
    st.caption(f"{provenance(cell.zero)}.")
    if cell.agreement == "outside":
        st.caption(f"Why it may differ: {exception_reason(cell)}")


def _noise(cell: Cell) -> None:
    """How far the same start moves with a little noise, at the lambdas where Algorithm 1 may be chaotic."""
    if cell.sensitivity is not None:
        st.caption(cell.sensitivity.describe(cell.digits + 1))
    elif cell.published.lam is not None and cell.published.lam <= CHAOTIC:
        st.caption("At this λ Algorithm 1 can be chaotic; how far noise moves this cell was not measured.")


def _tuned(cell: Cell) -> None:
    if cell.tuned is not None:
        value = small_spread(cell.tuned.mean, cell.tuned.deviation)
        st.markdown(f"Unmarked, λ tuned to {cell.tuned.lam:g} **{value}**")
        st.caption(f"{provenance(cell.tuned)}; λ chosen by held-out entries.")


def _marked(words: str, row: Measurement | None) -> None:
    if row is None:
        st.markdown(f"{words}: not measured")
        return
    st.markdown(f"{words} **{small_spread(row.mean, row.deviation)}**")
    st.caption(f"{provenance(row)}.")


def bundled_cells(table: str) -> tuple[Cell, ...]:
    return compare_table(table, measured(table))


def show_tables(setting: ReproduceSetting) -> None:
    # A tuple: for a list, Streamlit imports pandas to see whether it is a table.
    cards = tuple(
        {
            "title": TITLES[name],
            "note": _agreeing(bundled_cells(name)),
            "src": data_url(
                agreement_mosaic([cell.agreement for cell in bundled_cells(name)], len(columns(name)))
            ),
            "active": name == setting.table,
        }
        for name in NAMES
    )
    component("cards")(
        data={"cards": cards, "label": "The paper's tables"},
        key="reproduce_cards",
        on_chosen_change=_choose_table,
    )


def show_numbers(setting: ReproduceSetting, here: Sequence[Cell]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        protocol = PROTOCOLS[setting.table]
        st.header(f"{TITLES[setting.table]}, K = {protocol.K}", anchor=False, width="content")
        ADDRESS.draw("look", label_visibility="collapsed")
    counts = agreement_counts(bundled_cells(setting.table))
    st.markdown("  \n".join(f"**{group}:** {counted}" for group, counted in counts.items()))
    show = {"table": _show_table, "chart": _show_chart}[setting.look]
    show(setting, here)


def _show_chart(setting: ReproduceSetting, here: Sequence[Cell]) -> None:
    # Plotly takes a third of a second to import, which the table of numbers need not wait for.
    from atnmf_core.figures.report import reproduction_figure

    st.plotly_chart(
        reproduction_figure(bundled_cells(setting.table)),
        key="reproduce_chart",
        config={"displaylogo": False, "toImageButtonOptions": {"filename": setting.table, "scale": 2}},
        alt=f"{TITLES[setting.table]}: published and measured RMSE against the share of hidden entries",
    )
    st.caption(
        "Open marks and lines: published, with one standard deviation. Filled marks: measured. All unmarked."
    )


def _show_table(setting: ReproduceSetting, here: Sequence[Cell]) -> None:
    cells = bundled_cells(setting.table)
    keys = [cell.key for cell in cells]
    component("comparison", page="reproduce_view")(
        data={
            "table": comparison_table(setting.table, cells, here),
            "label": f"{TITLES[setting.table]}, choose a cell",
            "chosen": keys.index(setting.cell_key),
        },
        key=f"reproduce_cells_{setting.table}",
        on_chosen_change=lambda: _choose_cell(setting.table),
    )
    st.caption(legend(cells))
    if note := noise_note(cells):
        st.caption(note)


def _choose_table() -> None:
    table = NAMES[int(st.session_state["reproduce_cards"]["chosen"])]
    change(**{key("table"): table, key("method"): method_of(table, st.session_state[key("method")])})


def _choose_cell(table: str) -> None:
    cell = bundled_cells(table)[int(st.session_state[f"reproduce_cells_{table}"]["chosen"])]
    alpha, *column = cell.key
    method = next(name for name, found in columns(table).items() if found == tuple(column))
    change(**{key("alpha"): alpha, key("method"): method})


def _agreeing(cells: Sequence[Cell]) -> str:
    counts: Counter[Any] = Counter(cell.agreement for cell in cells)
    done = sum(counts.values()) - counts[None]
    return f"{counts['within']} of {done} measured ✓"
