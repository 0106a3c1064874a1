"""Whether a measured cell agrees with the paper, how both are shown, and how long a run will take."""

import csv
import io
import re
from collections import defaultdict
from dataclasses import replace
from html import unescape
from importlib.resources import files

import pytest

from atnmf_core.figures.report import comparison_page, comparison_table, legend, noise_note
from atnmf_core.reference import NAMES, measured, published
from atnmf_core.reference.compare import (
    Cell,
    agreement_counts,
    compare_table,
    comparison_csv,
    exception_reason,
    expected_run_seconds,
    provenance,
)
from atnmf_core.reference.paper_tables import ignoring_hidden, published_grid, tuned
from atnmf_core.sweep import Measurement

FULL = Measurement(
    0.3, "atnmf", 2.0, 49, "zero", "paper", "float32", 0.1764, 0.0008, 10, 100, 9.5, "3", "2026-01-31"
)
"""Belongs to a cell that the paper prints as 0.176 ± 0.001."""


@pytest.mark.parametrize(
    ("mean", "agreement"),
    [
        (0.176, "within"),
        (0.1779, "within"),  # 0.176 and 0.001 are rounded: the sum may be as much as 0.178
        (0.1741, "within"),
        (0.1785, "near"),
        (0.1735, "near"),
        (0.1795, "outside"),
        (0.1715, "outside"),
    ],
)
def test_agreement_follows_the_published_spread(mean, agreement):
    assert cell_of(replace(FULL, mean=mean)).agreement == agreement
    # One per cent is near where the published deviation is smaller.
    row = next(row for row in published("moffet") if row.mean == 0.151)
    cell = replace(FULL, alpha=row.alpha, method=row.method, lam=row.lam, mean=0.1524)
    assert next(cell for cell in compare_table("moffet", [cell]) if cell.zero).agreement == "near"


def test_both_treatments_find_their_place_and_a_cell_that_was_not_measured_has_no_difference():
    ignored = replace(FULL, missing="ignore", solver="fast", mean=0.08)

    cells = compare_table("cbcl", [ignored, FULL])
    cell = next(cell for cell in cells if cell.key == (0.3, "atnmf", 2.0))

    assert (cell.zero, cell.ignore) == (FULL, ignored)
    assert cell.difference == pytest.approx(0.1764 / 0.176 - 1)
    assert len(cells) == len(published("cbcl"))
    others = {(one.zero, one.ignore, one.difference, one.agreement) for one in cells if one is not cell}
    assert others == {(None,) * 4}


def test_an_exception_names_what_differs_from_the_authors_run_and_provenance_what_it_was_made_from():
    cut_short = replace(FULL, starts=1, max_outer=10)
    short = exception_reason(cell_of(cut_short))

    assert "stopped after 10 of 100 outer iterations" in short
    assert "1 of the authors' 10 starts" in short
    assert "oscillates" in short
    assert "oscillates" not in exception_reason(cell_of(replace(FULL, lam=5.0), lam=5.0))
    assert "not public" in exception_reason(cell_of(replace(FULL, method="anmf", lam=None), "anmf", None))
    for words in ("1 of 10 starts", "10 of 100 outer", "float32", "version 3", "2026-01-31"):
        assert words in provenance(cut_short)


def test_counts_tell_measured_cells_and_how_they_agree():
    near, far = replace(FULL, lam=5.0, mean=0.0), replace(FULL, alpha=0.5, mean=0.9)
    row = next(cell for cell in published("cbcl") if (cell.alpha, cell.lam) == (0.3, 5.0))
    near = replace(near, mean=row.mean + 2.9 * row.deviation)

    assert agreement_counts(compare_table("cbcl", [FULL, near, far]))["NMF and AT-NMF"] == (
        "3 of 21 cells measured: 1 within the published spread, 1 within three deviations or 1%, 1 outside."
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_table_shows_every_published_and_every_measured_number(name):
    cells = compare_table(name, measured(name))

    shown = Table(comparison_table(name, cells, compare_table(name, [])))

    for number, cell in enumerate(cells):
        of_cell = shown.cells[number]
        assert of_cell["published"] == f"{cell.published.mean:.{cell.digits}f} ± " + (
            f"{cell.published.deviation:.{cell.digits}f}"
        )
        if cell.zero is None:
            assert of_cell["unmarked"] == "not measured"
        else:
            assert of_cell["unmarked"].startswith(f"{cell.zero.mean:.{cell.digits}f}")
            assert f"{abs(100 * cell.difference):.1f}%" in of_cell["unmarked"]
            assert {"within": "✓", "near": "≈", "outside": "✗"}[cell.agreement] in of_cell["unmarked"]
        if cell.ignore is not None:
            shown_mean = of_cell["marked"].split()[0]
            assert (
                shown_mean == "<"
                if cell.ignore.mean < 0.001
                else float(shown_mean) == pytest.approx(cell.ignore.mean, rel=0.005)
            )
    assert "ANMF reconstruction" in shown.heads


def test_what_differs_from_the_usual_budget_is_said_in_the_cell_and_what_was_run_here_below_it():
    short = replace(FULL, starts=1, max_outer=20)
    cells = compare_table("cbcl", [short, replace(short, alpha=0.4), replace(FULL, alpha=0.5)])

    table = Table(comparison_table("cbcl", cells, compare_table("cbcl", [replace(FULL, mean=0.1770)])))
    said = [texts["unmarked"] for texts in table.cells.values() if texts["unmarked"] != "not measured"]

    assert ["start" in text for text in said] == [False, False, True]
    assert "10 starts, 100 of 100" in said[2]
    assert "1 start, at most 20 of 100" in legend(cells)
    (here,) = [texts["here"] for texts in table.cells.values() if texts.get("here")]
    assert here.startswith("0.177 ± 0.001")


def test_anmf_stands_beside_its_published_number_as_a_reconstruction_with_its_own_starts():
    anmf = replace(FULL, method="anmf", lam=None, solver="fast", mean=0.2, starts=3)
    ignored = [replace(FULL, alpha=alpha, missing="ignore", solver="fast") for alpha in (0.3, 0.4)]
    cells = compare_table("cbcl", [FULL, anmf, *ignored, replace(ignored[0], alpha=0.5, starts=2)])

    table = Table(comparison_table("cbcl", cells, compare_table("cbcl", [])))
    by_place = {cell.key: table.cells[number] for number, cell in enumerate(cells)}

    assert "ANMF reconstruction" in table.heads
    shown = by_place[0.3, "anmf", None]
    assert shown["published"].startswith("0.189")
    assert (shown["unmarked"][:5], shown["unmarked"][-8:]) == ("0.200", "3 starts")
    marked = ["start" in by_place[alpha, "atnmf", FULL.lam]["marked"] for alpha in (0.3, 0.4, 0.5)]
    assert marked == [False, False, True]
    assert "left out; 10 starts." in legend(cells)


@pytest.mark.parametrize("name", NAMES)
def test_every_alpha_has_a_line_for_the_lambda_that_held_out_entries_chose(name):
    cells = compare_table(name, measured(name))
    page = comparison_page(name, cells, compare_table(name, []))

    table = re.findall(r">([\d.]+) <i>± ([\d.]+)</i></span> <i class=\"atnmf\">λ = ([\d.]+)</i>", page)
    rows = csv.DictReader(io.StringIO(comparison_csv(name, cells)))

    assert [float(lam) for _, _, lam in table] == [row.lam for row in tuned(name).values()]
    means = [row.mean for row in tuned(name).values()]
    assert [float(mean) for mean, _, _ in table] == pytest.approx(means, rel=0.005)
    for row in rows:
        found = tuned(name).get(float(row["alpha"])) if row["method"] == "atnmf" else None
        assert row["tuned"] == ("" if found is None else f"{found.mean:.6g}")


def test_the_note_on_noise_is_what_was_measured():
    text = (files("atnmf_core.reference") / "start_sensitivity.csv").read_text()
    rows = [row for row in csv.DictReader(text.splitlines()) if row["table"] == "synthetic"]
    note = noise_note(compare_table("synthetic", measured("synthetic")))

    assert "At λ = 2 Algorithm 1 can be chaotic" in note
    for alpha in ("0.3", "0.4", "0.5"):
        first, *others = [float(row["rmse"]) for row in rows if row["alpha"] == alpha]
        farthest = max(abs(other - first) for other in others) / first
        assert f"up to {100 * farthest:.1f}% at α = {alpha}" in note
    assert "less than 0.1% at α = 0.6, 0.7, 0.8, 0.9." in note
    assert noise_note(compare_table("cbcl", measured("cbcl"))) == "", "not measured"


def test_a_page_of_its_own_lists_exceptions_and_asks_nothing_of_the_network():
    cells = compare_table("moffet", [replace(FULL, mean=0.02, K=3, starts=1)])

    page = comparison_page("moffet", cells, compare_table("moffet", []))

    assert "AT-NMF (λ = 2) at α = 0.3: it is the mean of 1 of the authors&#x27; 10 starts" in page
    assert "K = 3" in page
    assert not re.search(r"https?:|src=|href=", page)


def test_the_csv_has_a_line_per_cell_and_says_what_was_not_measured():
    cells = compare_table("cbcl", [FULL])

    rows = list(csv.DictReader(io.StringIO(comparison_csv("cbcl", cells))))

    assert len(rows) == len(cells)
    found = next(row for row in rows if (row["alpha"], row["method"], row["lam"]) == ("0.3", "atnmf", "2.0"))
    assert (found["published"], found["published_deviation"]) == ("0.176", "0.001")
    assert (found["unmarked"], found["agreement"], found["starts"]) == ("0.1764", "within", "10")
    assert {row["agreement"] for row in rows if row is not found} == {"not measured"}


def cell_of(zero: Measurement, method: str = "atnmf", lam: float | None = 2.0) -> Cell:
    return next(cell for cell in compare_table("cbcl", [zero]) if cell.key == (0.3, method, lam))


class Table:
    """The texts of a comparison: those of each cell by line, and the column heads."""

    def __init__(self, page: str) -> None:
        self.heads = [plain(head) for head in re.findall(r'<th scope="col"[^>]*>(.*?)</th>', page)]
        self.cells: dict[int, dict[str, str]] = defaultdict(dict)
        for line, number, text in re.findall(r'<td class="(\w+)" data-cell="(\d+)">(.*?)</td>', page):
            self.cells[int(number)][line] = plain(text)


def plain(markup: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", markup)).split())


ROW = Measurement(
    0.3, "atnmf", 2.0, 3, "zero", "paper", "float32", 0.04, None, 1, 20, 50.0, "3", "2026-01-31"
)
GRID = published_grid("moffet", [0.3], ["atnmf"], starts=1, max_outer=20, lams=[2.0])


FAST = replace(ROW, missing="ignore", solver="fast", seconds=0.5, max_outer=100)


@pytest.mark.parametrize(
    ("grid", "known", "workers", "seconds"),
    [
        (GRID, [replace(ROW, seconds=seconds) for seconds in (40.0, 50.0, 90.0)], 2, 50),
        (replace(GRID, max_outer=100), [ROW], 2, 250),
        (GRID, [ROW, replace(ROW, seconds=None)], 1, 50),
        (replace(GRID, starts=4), [ROW], 1, 200),
        (replace(GRID, starts=4), [ROW], 2, 100),
        # The fast solver is not cut short by outer iterations.
        (ignoring_hidden(GRID), [FAST], 2, 0.5),
    ],
    ids=["median", "more iterations", "one without a time", "starts in turn", "starts side by side", "fast"],
)
def test_a_run_is_expected_to_take_as_long_as_those_that_are_known(grid, known, workers, seconds):
    assert expected_run_seconds("moffet", grid, known, workers=workers) == pytest.approx(seconds)


@pytest.mark.parametrize("method", ["nmf", "anmf", "atnmf"])
@pytest.mark.parametrize("treat", [lambda grid: grid, ignoring_hidden], ids=["zero", "ignore"])
def test_without_a_measurement_a_model_is_asked(method, treat):
    small, large = (
        expected_run_seconds(name, treat(published_grid(name, [0.5], [method], starts=1)), [], workers=1)
        for name in ("synthetic", "cbcl")
    )

    assert 0 < small < large
