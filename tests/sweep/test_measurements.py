"""Measurements come back from the table they are written in, and a curve of them says what is best."""

import math
from dataclasses import replace

import pytest

from atnmf_core import InputError
from atnmf_core.sweep.measurements import Measurement, best, csv_text, gain, level, read_csv

ROW = Measurement(
    alpha=0.3,
    method="atnmf",
    lam=2.0,
    K=5,
    missing="zero",
    solver="fast",
    dtype="float32",
    mean=0.25,
    deviation=0.015625,
    starts=3,
    max_outer=100,
    seconds=0.5,
    version="3",
    date="2026-01-31",
    dataset="lfw",
    rmse_observed=0.1,
    n_iter=12.0,
)
NMF = replace(ROW, method="nmf", lam=None, mean=0.5)
CURVE = [NMF, replace(ROW, lam=1.05, mean=0.375), ROW, replace(ROW, lam=100.0, mean=0.484375)]


@pytest.mark.parametrize(
    "rows", [CURVE, [replace(ROW, starts=1, deviation=None, seconds=None)], []], ids=["curve", "one", "none"]
)
def test_measurements_come_back_from_their_table(rows: list[Measurement]) -> None:
    assert read_csv(csv_text(rows)) == tuple(rows)


def test_a_table_without_the_optional_columns_is_read() -> None:
    text = "alpha,method,lam,K,missing,solver,dtype,mean\n0.3,nmf,,3,zero,paper,float32,0.12\n"

    assert read_csv(text) == (Measurement(0.3, "nmf", None, 3, "zero", "paper", "float32", 0.12),)


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n",
        "alpha,method,mean\n0.3,nmf,0.1\n",
        csv_text([]).replace("date", "date,notes"),
        csv_text([ROW]).replace("0.25", "much"),
        csv_text([]) + "0.3,nmf\n",
    ],
    ids=["foreign", "lacking", "more", "no number", "short"],
)
def test_another_kind_of_table_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a table of measurements"):
        read_csv(text)


def test_the_best_point_is_atnmfs_of_least_error_and_its_gain_is_a_share_of_nmfs() -> None:
    found, nmf = best([*CURVE, replace(ROW, lam=3.0, mean=math.nan)]), level(CURVE, "nmf")

    assert found == ROW
    assert nmf == NMF
    assert gain(found, nmf) == pytest.approx(0.5)
    assert gain(nmf, found) == pytest.approx(-1.0)


def test_without_atnmf_nothing_is_best() -> None:
    assert best([NMF]) is None


def test_a_level_is_that_of_the_same_solver_where_there_are_two() -> None:
    other = replace(NMF, solver="paper", mean=0.6)

    assert level([NMF, other], "nmf", like=replace(ROW, solver="paper")) == other
