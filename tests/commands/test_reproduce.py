"""`reproduce` runs the authors' protocol and sets its numbers beside the published ones."""

import re
from pathlib import Path

import numpy as np
import pytest

from atnmf_core import factorize, load_dataset, paper_mask, rmse
from atnmf_core.__main__ import main
from atnmf_core.reference import NAMES, published
from atnmf_core.reference.compare import method_title
from atnmf_core.reference.paper_tables import published_grid, sweep_name, tuned
from atnmf_core.sweep import Measures, open_store
from atnmf_core.sweep.grid import identify
from atnmf_core.sweep.measurements import csv_text, read_csv

HOLES: dict[str, list[str]] = {}
"""Cells of NMF and AT-NMF that have not been measured yet; to shrink to nothing."""
NMF_ONLY = ["reproduce", "synthetic", "--alpha", "0.8", "--methods", "nmf", "--starts", "1", "--jobs", "1"]


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    """A folder and a store for each test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ATNMF_STORE", "store.sqlite")


def test_the_measured_cell_is_the_authors_run(paper_data, capsys):
    assert main([*NMF_ONLY, "--max-outer", "10", "--csv", "measured.csv"]) == 0

    rows = read_csv(Path("measured.csv").read_text())
    zero, ignore = sorted(rows, key=lambda row: row.missing, reverse=True)
    assert (zero.K, zero.solver, zero.dtype, zero.starts) == (5, "paper", "float32", 1)
    assert (ignore.missing, ignore.solver) == ("ignore", "fast")
    assert zero.mean == pytest.approx(first_start_at_the_sixth_alpha(), rel=1e-5)
    assert capsys.readouterr().out.splitlines()[1].split()[:5] == ["0.8", "NMF", "7.87", "±", "0.01"]


@pytest.mark.parametrize("before", ["", csv_text([])], ids=["empty", "without rows"])
def test_a_csv_is_filled_and_keeps_the_better_measurement_of_a_cell(paper_data, before):
    Path("measured.csv").write_text(before)
    for words in (["--max-outer", "2"], ["--max-outer", "1"]):
        assert main([*NMF_ONLY, "--treatment", "zero", "--csv", "measured.csv", *words]) == 0

    cells = read_csv(Path("measured.csv").read_text())
    assert [cell.max_outer for cell in cells] == [2]


@pytest.mark.parametrize("other", [b"a,b\n1,2\n", b"name,age\n", b"alpha,method\n0.3\n", b"caf\xe9\n"])
def test_a_csv_of_something_else_is_refused_before_the_first_fit_and_kept(other, capsys):
    Path("mine.csv").write_bytes(other)

    assert main([*NMF_ONLY, "--csv", "mine.csv"]) == 2

    assert "--csv mine.csv: not a file that `reproduce` wrote" in capsys.readouterr().err
    assert Path("mine.csv").read_bytes() == other
    assert not Path("store.sqlite").exists()


def test_what_the_store_has_is_shown_without_running_or_writing(paper_data, capsys):
    short = ["--max-outer", "1", "--treatment", "zero"]
    assert main([*NMF_ONLY, *short]) == 0
    ran = capsys.readouterr().out
    stored = Path("store.sqlite").read_bytes()

    assert main(["reproduce", "synthetic", "--methods", "nmf", *short, "--no-run"]) == 0

    assert capsys.readouterr().out == ran
    assert Path("store.sqlite").read_bytes() == stored


@pytest.mark.parametrize("name", NAMES)
def test_without_a_store_a_table_has_no_holes_but_the_known_ones(name, capsys):
    methods = ["--methods", "nmf", "atnmf", "--treatment", "zero"]

    assert main(["reproduce", name, *methods, "--no-run"]) == 0

    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("0.")]
    printed = [f"{float(alpha):g} {method}" for alpha, method in (re.split(r"\s{2,}", x)[:2] for x in lines)]
    cells = [
        f"{cell.alpha:g} {method_title(cell.method, cell.lam)}"
        for cell in published(name)
        if cell.method != "anmf"
    ]
    assert [cell for cell in cells if cell not in printed] == HOLES.get(name, [])
    assert len(printed) == len(set(printed)) == len(cells) - len(HOLES.get(name, []))
    assert all(line.count("±") in (1, 2) and "%" in line for line in lines)
    assert not Path("store.sqlite").exists()


def test_a_run_in_the_store_is_shown_in_place_of_a_bundled_one_of_the_same_length(capsys):
    with open_store("store.sqlite") as store:
        for alpha, error, how in ((0.5, 6.66, {"starts": 10}), (0.7, 9.99, {"starts": 1, "max_outer": 1})):
            grid = published_grid("synthetic", [alpha], ["nmf"], **how)
            store.add_sweep(sweep_name("synthetic", grid), grid, "hash", reproduces="synthetic")
            for point in grid.points():
                measures = Measures(error, error, 1.0, 1.0, 10, True, 0.1)
                store.add_outcome(identify(point, "hash")[0], measures)

    assert main(["reproduce", "synthetic", "--methods", "nmf", "--treatment", "zero", "--no-run"]) == 0

    shown = capsys.readouterr().out
    assert "6.66" in shown
    assert "9.99" not in shown


def test_what_a_tuned_lambda_reaches_stands_below_the_table_of_at_nmf(capsys):
    shown = {}
    for method in ("nmf", "atnmf"):
        assert main(["reproduce", "moffet", "--methods", method, "--alpha", "0.5", "--no-run"]) == 0
        shown[method] = capsys.readouterr().out

    row = tuned("moffet")[0.5]
    assert re.search(rf"\n  0\.5  AT-NMF \(λ = {row.lam:g}\) +{row.mean:.5f} ± ", shown["atnmf"])
    assert "held-out" not in shown["nmf"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["mnist"], "invalid choice: 'mnist'"),
        (["synthetic", "--alpha", "0.35"], "--alpha 0.35: the paper has 0.3, 0.4"),
        (["synthetic", "--lam", "4"], "--lam 4: the table synthetic has lambda = 2, 3, 5."),
        (["synthetic", "--starts", "11"], "--starts 11: the authors made 10 starts"),
        (["synthetic", "--starts", "0"], "starts=0"),
        (["synthetic", "--methods", "pca"], "invalid choice: 'pca'"),
    ],
)
def test_what_the_paper_does_not_have_is_refused_in_one_line(words, complaint, capsys):
    try:
        code = main(["reproduce", *words])
    except SystemExit as end:
        code = end.code

    said = capsys.readouterr().err
    assert code == 2
    assert complaint in said
    assert said.count("\n") == 1


def first_start_at_the_sixth_alpha() -> float:
    """RMSE of NMF at alpha = 0.8 after ten outer iterations from the 51st pair of the authors' factors."""
    data, observed = load_dataset("synthetic-paper"), paper_mask("synthetic-paper", 0.8)
    stream = np.random.RandomState(1)
    for _ in range(51):
        W, H = np.abs(stream.normal(size=(100, 5))), np.abs(stream.normal(size=(5, 50)))
    fit = factorize(data.V, observed, K=5, missing="zero", solver="paper", init=(W, H), max_outer=10)
    return rmse(data.V, fit.V_hat, ~observed)
