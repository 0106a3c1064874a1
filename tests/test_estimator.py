"""The scikit-learn transformer: scikit-learn's own checks, and what they leave out."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from atnmf_core import factorize, hide_entries
from atnmf_core import transform as transform_columns
from atnmf_core.estimator import ATNMF

rng = np.random.default_rng(5)
TRUTH = rng.random((80, 3)) @ rng.random((3, 24))
MEASURED = TRUTH * (1 + 0.02 * rng.standard_normal(TRUTH.shape))
GAPS = np.where(hide_entries(TRUTH.shape, 0.3, seed=1), MEASURED, np.nan)
FRAME = pd.DataFrame(GAPS, columns=[f"band {f}" for f in range(24)], index=[f"pixel {n}" for n in range(80)])


def model(**parameters):
    return ATNMF(**{"n_components": 3, "random_state": 0, **parameters})


@parametrize_with_checks(
    [ATNMF(max_iter=50), ATNMF(lam=1.05, leash=0.5, max_iter=50)],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": "random starts depend on the number of samples, and"
        " the number of components is at most that"
    },
)
@pytest.mark.filterwarnings("default::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("settings", [{"lam": None}, {"lam": 1.2}, {"lam": 1.1, "leash": 0.5}])
def test_it_is_the_cores_fit_with_samples_as_rows(settings):
    method = "nmf" if settings["lam"] is None else "atnmf"
    fit = factorize(np.ascontiguousarray(GAPS.T), K=3, method=method, seed=0, dtype="float64", **settings)
    estimator = model(**settings).fit(GAPS)
    assert np.array_equal(estimator.components_, fit.W.T)
    assert np.array_equal(estimator.transform(GAPS), transform_columns(GAPS.T, fit.W, **settings).T)
    assert estimator.loss_ == fit.history["adversarial_loss"][-1]
    assert estimator.n_iter_ == fit.n_iter


def test_missing_entries_of_new_samples_are_filled():
    estimator = model(lam=None).fit(GAPS[:60])
    restored = estimator.inverse_transform(estimator.transform(GAPS[60:]))
    assert np.sqrt(((restored - TRUTH[60:]) ** 2).mean()) < 0.02 * TRUTH.mean()


def test_a_sample_of_which_nothing_is_known_stays_unknown():
    estimator = model().fit(GAPS)
    nothing = np.full((1, 24), np.nan)
    assert np.isnan(estimator.transform(nothing)).all()
    assert np.isnan(estimator.score(nothing))
    with pytest.raises(ValueError, match="2 columns, but this model has 3"):
        estimator.inverse_transform(np.ones((1, 2)))


def test_a_data_frame_gives_the_numbers_of_its_array_and_keeps_its_names_in_a_pipeline_too():
    names = ["atnmf0", "atnmf1", "atnmf2"]
    estimator = model().fit(FRAME)
    assert list(estimator.feature_names_in_) == list(FRAME.columns)
    assert list(estimator.get_feature_names_out()) == names
    with pytest.raises(ValueError, match="feature names should match"):
        estimator.transform(FRAME[FRAME.columns[::-1]])

    frame = model().set_output(transform="pandas").fit_transform(FRAME)
    assert (list(frame.columns), list(frame.index)) == (names, list(FRAME.index))
    assert np.array_equal(frame.to_numpy(), model().fit_transform(GAPS))
    pipeline = make_pipeline(MinMaxScaler(clip=True), model()).set_output(transform="pandas")
    assert pipeline.fit_transform(FRAME).shape == (80, 3)
    assert list(pipeline.get_feature_names_out()) == names
    # Pandas' own missing value is missing.
    assert np.allclose(model().fit_transform(FRAME.convert_dtypes()), model().fit_transform(GAPS))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_single_precision_stays_single(dtype):
    estimator = model().fit(GAPS.astype(dtype))
    assert estimator.components_.dtype == dtype
    assert estimator.transform(GAPS.astype(dtype)).dtype == dtype


def defective(share, seed=2):
    """A share of the entries recorded too low, unmarked."""
    generator = np.random.default_rng(seed)
    factors = np.where(generator.random(TRUTH.shape) < share, 0.6 * generator.random(TRUTH.shape), 1.0)
    return MEASURED * factors


def test_a_grid_search_finds_the_adversary_that_unmarked_defects_need():
    X = defective(0.2)
    search = GridSearchCV(model(), {"lam": [None, 3.0, 1.05]}, cv=3).fit(X)
    errors = {}
    for lam in (None, 3.0, 1.05):
        estimator = clone(search.best_estimator_).set_params(lam=lam)
        errors[lam] = np.abs(estimator.inverse_transform(estimator.fit_transform(X)) - TRUTH).mean()
    assert search.best_params_["lam"] == min(errors, key=errors.get) == 1.05
    assert errors[1.05] < errors[None] / 3


def test_a_grid_search_does_not_take_more_components_than_there_are():
    search = GridSearchCV(model(lam=None), {"n_components": [1, 2, 3, 8, 16]}, cv=3).fit(GAPS)
    assert search.best_params_["n_components"] == 3


def test_the_score_is_minus_the_median_error_of_what_was_held_out():
    """With one constant component, an entry is predicted as the mean of its row's other known entries."""
    estimator = model(n_components=1, lam=None).fit(np.ones((4, 2)))
    X = np.array([[1.0, 3.0], [5.0, 5.5], [2.0, 2.1], [7.0, np.nan], [1.0, 2.0]])
    assert estimator.score(X) == pytest.approx(-0.75)


def test_the_same_seed_gives_the_same_and_a_generator_moves_on():
    generator = np.random.RandomState(4)
    first, second = (model(random_state=generator).fit(GAPS).components_ for _ in range(2))
    assert not np.array_equal(first, second)
    assert np.array_equal(model().fit(GAPS).components_, model().fit(GAPS).components_)
    # A weight counts like repeated samples.
    times = rng.integers(0, 4, len(MEASURED))
    weighted = model(tol=1e-9).fit(MEASURED, sample_weight=times)
    repeated = model(tol=1e-9).fit(np.repeat(MEASURED, times, axis=0))
    assert weighted.loss_ == pytest.approx(repeated.loss_, rel=1e-3)


def test_a_fit_that_is_cut_short_says_so_and_one_without_error_ends_there():
    with pytest.warns(ConvergenceWarning, match="2 iterations were not enough"):
        model(max_iter=2).fit(GAPS)
    assert model(lam=None).fit(np.outer(np.arange(1.0, 9), np.arange(1.0, 6))).n_iter_ < 100


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 25}, "from 1 to 24"),
        ({"n_components": 2.5}, "a whole number"),
        ({"lam": 1.0}, "above 1"),
        ({"lam": None, "leash": 0.5}, "only the adversary"),
        ({"leash": -1.0}, "at least 0"),
    ],
)
def test_parameters_that_cannot_be_used_are_refused_at_fit(parameters, message):
    with pytest.raises(ValueError, match=message):
        model(**parameters).fit(GAPS)
