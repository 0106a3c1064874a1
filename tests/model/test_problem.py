"""What is refused, and that the refusal says which argument, which value and what is allowed."""

import re

import numpy as np
import pytest
from scipy import sparse

from atnmf_core import InputError, factorize
from atnmf_core.model.problem import make_problem

V = np.arange(1.0, 21.0).reshape(4, 5)


def with_entry(value):
    changed = V.copy()
    changed[1, 2] = value
    return changed


REFUSED = {
    "negative entry": ({"V": with_entry(-0.25)}, ["V", "1 observed", "negative", "-0.25", "nonnegative"]),
    "infinite entry": ({"V": with_entry(np.inf)}, ["V", "1 observed", "infinite", "NaN to leave"]),
    "all NaN": ({"V": np.full((4, 5), np.nan)}, ["V", "no entry is observed", "at least one"]),
    "all hidden": ({"observed": np.zeros((4, 5), bool)}, ["V", "no entry is observed", "at least one"]),
    "hidden but for NaN": (
        {"V": with_entry(np.nan), "observed": np.isnan(with_entry(np.nan))},
        ["V", "no entry is observed"],
    ),
    "mask of another shape": ({"observed": np.ones((5, 4), bool)}, ["observed", "(5, 4)", "(4, 5)"]),
    "mask of other numbers": ({"observed": np.full((4, 5), 2)}, ["observed", "True/False"]),
    "mask of words": ({"observed": np.full((4, 5), "yes")}, ["observed", "True/False"]),
    "vector": ({"V": np.ones(5)}, ["V", "(5,)", "two axes"]),
    "three axes": ({"V": np.ones((2, 2, 2))}, ["V", "(2, 2, 2)", "two axes"]),
    "empty": ({"V": np.ones((0, 5))}, ["V", "(0, 5)", "at least one entry"]),
    "complex": ({"V": V + 1j}, ["V", "complex128", "real"]),
    "words": ({"V": np.full((4, 5), "a")}, ["V", "real numbers"]),
    "sparse": ({"V": sparse.csr_array(V)}, ["V is sparse", "V.toarray()", "observed"]),
    "too large for float32": ({"V": V * 1e100}, ["V", "2e+101", "dtype='float32'", "'float64'"]),
    "too small for float32": ({"V": V * 1e-60}, ["V", "dtype='float32'", "'float64'"]),
    "too small for float64": ({"V": V * 1e-250, "dtype": "float64"}, ["V", "other units"]),
    "K of 0": ({"K": 0}, ["K=0", "between 1 and 4"]),
    "K of -3": ({"K": -3}, ["K=-3", "between 1 and 4"]),
    "K above min(F, N)": ({"K": 5}, ["K=5", "4 x 5", "between 1 and 4"]),
    "K not whole": ({"K": 2.5}, ["K=2.5", "whole number"]),
    "K as a float": ({"K": 2.0}, ["K=2.0", "whole number"]),
    "K as a truth value": ({"K": True}, ["K=True", "whole number"]),
    "K as a word": ({"K": "2"}, ["K='2'", "whole number"]),
    "lam of 1": ({"method": "atnmf", "lam": 1.0}, ["lam=1.0", "above 1", "unbounded"]),
    "lam below 1": ({"method": "atnmf", "lam": 0.5}, ["lam=0.5", "above 1", "unbounded"]),
    "lam negative": ({"method": "atnmf", "lam": -2.0}, ["lam=-2.0", "above 1", "unbounded"]),
    "lam NaN": ({"method": "atnmf", "lam": float("nan")}, ["lam=nan", "above 1"]),
    "lam next to 1": ({"method": "atnmf", "lam": np.nextafter(1, 2)}, ["lam=", "too near 1", "1.000000001"]),
    "lam a word": ({"method": "atnmf", "lam": "2"}, ["lam='2'", "above 1"]),
    "lam left out": ({"method": "atnmf"}, ["lam=None", "atnmf", "above 1"]),
    "lam without adversary": ({"lam": 2.0}, ["lam=2.0", "nmf", "no adversary"]),
    "leash negative": ({"method": "atnmf", "lam": 2.0, "leash": -0.5}, ["leash=-0.5", "at least 0", "None"]),
    "leash NaN": ({"method": "atnmf", "lam": 2.0, "leash": float("nan")}, ["leash=nan", "at least 0"]),
    "leash a word": ({"method": "atnmf", "lam": 2.0, "leash": "1"}, ["leash='1'", "at least 0"]),
    "leash without adversary": ({"leash": 1.0}, ["leash=1.0", "'atnmf'", "leave it out"]),
    "leash for the paper's solver": (
        {"method": "atnmf", "lam": 2.0, "leash": 1.0, "solver": "paper"},
        ["leash=1.0", "'paper'", "no leash", "'fast'"],
    ),
    "start of an unknown name": (
        {"init": "zeros"},
        ["init='zeros'", "choose one of", "'random'", "'pure-pixels'"],
    ),
    "method": ({"method": "svd"}, ["method='svd'", "'nmf'", "'atnmf'"]),
    "missing": ({"missing": "mean"}, ["missing='mean'", "'ignore'", "'zero'"]),
    "solver": ({"solver": "slow"}, ["solver='slow'", "'fast'", "'paper'"]),
    "dtype": ({"dtype": "float16"}, ["dtype='float16'", "'float32'", "'float64'"]),
    "dtype None": ({"dtype": None}, ["dtype=None", "'float32'", "'float64'"]),
    "dtype nonsense": ({"dtype": "colour"}, ["dtype='colour'", "'float32'", "'float64'"]),
    "seed negative": ({"seed": -1}, ["seed=-1", "whole number", "4294967295"]),
    "seed not whole": ({"seed": 0.5}, ["seed=0.5", "whole number"]),
    "seed too large": ({"seed": 2**32}, [f"seed={2**32}", "4294967295"]),
    "n_init": ({"n_init": 0}, ["n_init=0", "at least 1"]),
    "max_outer": ({"max_outer": 0}, ["max_outer=0", "at least 1"]),
    "max_inner": ({"max_inner": 1.5}, ["max_inner=1.5", "whole number"]),
    "tol_inner": ({"tol_inner": -1e-3}, ["tol_inner=-0.001", "at least 0"]),
    "tol_outer": ({"tol_outer": float("nan")}, ["tol_outer=nan", "at least 0"]),
    "init not a pair": ({"init": np.ones((4, 2))}, ["init", "pair (W, H)"]),
    "init W of another shape": (
        {"init": (np.ones((5, 2)), np.ones((2, 5)))},
        ["init", "W has shape (5, 2)", "(4, 2)"],
    ),
    "init H of another shape": (
        {"init": (np.ones((4, 2)), np.ones((3, 5)))},
        ["init", "H has shape (3, 5)", "(2, 5)"],
    ),
    "init negative": ({"init": (-np.ones((4, 2)), np.ones((2, 5)))}, ["init", "W", "at least 0"]),
    "init NaN": ({"init": (np.ones((4, 2)), np.full((2, 5), np.nan))}, ["init", "H", "finite"]),
    "init complex": ({"init": (1j * np.ones((4, 2)), np.ones((2, 5)))}, ["init", "W", "complex128", "real"]),
    "init beyond float32": ({"init": (np.full((4, 2), 1e60), np.ones((2, 5)))}, ["init", "W", "float32"]),
    "pure pixels of nothing": ({"V": np.zeros((4, 5)), "init": "pure-pixels"}, ["V", "0", "leave init out"]),
    "init with several starts": (
        {"init": (np.ones((4, 2)), np.ones((2, 5))), "n_init": 3},
        ["n_init=3", "one start"],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_names_the_argument_the_value_and_what_is_allowed(case):
    changes, fragments = REFUSED[case]
    computed = []
    with pytest.raises(ValueError, match=re.escape(fragments[0])) as refusal:
        factorize(**{"V": V, "K": 2, "callback": computed.append, **changes})
    missing = [part for part in fragments if part not in str(refusal.value)]
    assert not missing, str(refusal.value)
    assert isinstance(refusal.value, InputError)
    assert not computed


def test_whole_numbers_and_truth_values_are_data_and_masks():
    whole = factorize(V.astype(int), K=np.int64(2), seed=np.uint8(0), n_init=np.int32(1))
    assert np.array_equal(whole.W, factorize(V, K=2).W)
    assert np.isfinite(factorize(V > 7, K=2).V_hat).all()
    observed = np.ones((4, 5), int)
    observed[0, 1] = observed[3, 3] = 0
    assert np.array_equal(factorize(V, observed, K=2).H, factorize(V, observed.astype(bool), K=2).H)


def posed(data, observed=None, missing="ignore"):
    return make_problem(data, observed, K=1, method="nmf", lam=None, missing=missing, dtype="float64")


@pytest.mark.parametrize("size", [1e-30, 1e-3, 1.0, 3.0, 1e30])
def test_scaling_by_a_power_of_two_loses_no_digit(size):
    problem = posed(V * size)
    assert 0.5 < problem.V.max() <= 1
    assert np.array_equal(problem.V * problem.scale, V * size)


def test_the_problem_holds_zeros_where_nothing_is_observed_and_the_loss_looks_there_if_they_count():
    observed = V % 2 == 0
    problem = posed(np.where(observed, V, np.nan))
    assert np.array_equal(problem.observed, observed)
    assert np.array_equal(problem.mask, observed)
    assert np.array_equal(problem.V == 0, ~observed)
    assert posed(V, observed, "zero").mask is None
    assert posed(V, np.ones(V.shape, bool)).observed is None


def test_the_callers_arrays_are_left_as_they_are():
    data, observed = V.copy(), V % 3 > 0
    start = np.ones((4, 2)), np.ones((2, 5))
    for solver in ("fast", "paper"):
        factorize(data, observed, K=2, method="atnmf", lam=2.0, init=start, solver=solver, dtype="float64")
    assert np.array_equal(data, V)
    assert np.array_equal(observed, V % 3 > 0)
    assert (start[0] == 1).all()
    assert (start[1] == 1).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_infinite_entries_are_counted_in_every_precision(dtype):
    V = np.ones((3, 4), dtype)
    V[0, 0] = np.inf
    with pytest.raises(InputError, match="1 observed entry is infinite"):
        factorize(V, K=1)
    V[1] = np.inf
    with pytest.raises(InputError, match="5 observed entries are infinite"):
        factorize(V, K=1)
