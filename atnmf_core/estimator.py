"""The model as a scikit-learn transformer; this module alone needs ``pip install .[sklearn]``."""

import warnings
from numbers import Integral
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .model.problem import Array
from .solvers.factorization import factorize, transform

DTYPES = (np.float64, np.float32)
EXACT = 1e-12  # A loss below this share of the data's sum of squares counts as zero, and the search ends
FOLDS = 5  # `score` holds out every entry once, a fifth of them at a time


class ATNMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Nonnegative matrix factorization with missing entries, and robust to wrong ones.

    X (samples x features, nonnegative) is approximated by Z @ components_, with both nonnegative. NaN in X is
    missing: it is left out of the loss, in `fit` and in `transform`. With `lam` the model is trained against
    an adversary (AT-NMF), so that wrong entries, which nobody has marked, count little; see `factorize`.

    Parameters
    ----------
    n_components : number of components, at most min(samples, features), which None stands for.
    lam : the adversary's price, above 1; near 1 it is strong. None for no adversary: standard NMF.
    leash : the most that the adversary may add to an entry, as a multiple of it; None for no limit. With a
        leash, entries that are far too large count little as well, not only those that are far too small.
    n_init : number of random starts; the fit with the lowest loss is returned.
    max_iter : maximum number of iterations per start.
    tol : see `tol_outer` of `factorize`.
    random_state : for the starts. An integer gives the result of `factorize` with that seed.

    Attributes
    ----------
    components_ : n_components_ x features; the transpose of the paper's W.
    n_components_ : number of components.
    loss_ : the final adversarial loss; without an adversary, the squared error.
    n_iter_ : number of sweeps.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn.

    Examples
    --------
    A fifth of the entries are recorded far too low, and nobody knows which. Cross-validation shows how strong
    an adversary the data needs.

    >>> from sklearn.model_selection import GridSearchCV
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random((60, 3)) @ rng.random((3, 20))
    >>> X = np.where(rng.random(truth.shape) < 0.2, 0.3 * truth, truth)
    >>> grid = {"lam": [None, 2.0, 1.05]}
    >>> search = GridSearchCV(ATNMF(n_components=3, random_state=0), grid, cv=3).fit(X)
    >>> search.best_params_
    {'lam': 1.05}
    >>> restored = search.best_estimator_.inverse_transform(search.transform(X))
    >>> bool(np.abs(restored - truth).mean() < np.abs(X - truth).mean() / 4)
    True

    Missing entries need no imputation before it in a pipeline:

    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> y = truth.sum(axis=1)
    >>> X = np.where(rng.random(truth.shape) < 0.3, np.nan, truth)
    >>> model = make_pipeline(ATNMF(n_components=3, tol=1e-5, random_state=0), LinearRegression())
    >>> round(model.fit(X[:40], y[:40]).score(X[40:], y[40:]), 2)
    1.0
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        lam: float | None = 2.0,
        leash: float | None = None,
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-2,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.lam = lam
        self.leash = leash
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: npt.ArrayLike, y: object = None, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Find the components of X. Each sample counts in the loss with its weight; y is ignored."""
        data = self._validated(X, reset=True)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if weights is not None:
            if weights.shape != (len(data),):
                raise ValueError(
                    f"sample_weight has shape {weights.shape}: one for each of {len(data)} samples."
                )
            if not weights.any():
                raise ValueError("sample_weight: every weight is zero; at least one sample must count.")
        if isinstance(self.random_state, Integral):
            seed = int(self.random_state)
        else:
            seed = check_random_state(self.random_state).randint(2**31 - 1)
        square = np.square(data.T, dtype=np.float64)
        exact = EXACT * float(np.nansum(square if weights is None else weights * square))
        fit = factorize(
            # In the paper samples are columns. The same memory order for arrays and data frames: it affects
            # the last digit of sums.
            np.ascontiguousarray(data.T),
            K=self._checked_n_components(data),
            method="nmf" if self.lam is None else "atnmf",
            lam=self.lam,
            leash=self.leash,
            seed=seed,
            n_init=self.n_init,
            max_inner=self.max_iter,
            tol_outer=self.tol,
            dtype=data.dtype,
            callback=lambda progress: progress.loss <= exact,
            weights=weights,
        )
        if not fit.converged and fit.history["adversarial_loss"][-1] > exact:
            message = f"{fit.n_iter} iterations were not enough to converge: raise max_iter or tol."
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        self.components_ = np.ascontiguousarray(fit.W.T)
        self.n_components_ = len(self.components_)
        self.loss_ = float(fit.history["adversarial_loss"][-1])
        self.n_iter_ = fit.n_iter
        return self

    def transform(self, X: npt.ArrayLike) -> Array:
        """Z (samples x n_components_), each sample solved on its own; NaN where all entries are missing."""
        check_is_fitted(self)
        return self._coefficients(self._validated(X, reset=False))

    def inverse_transform(self, X: npt.ArrayLike) -> Array:
        """The samples with these coefficients, complete: X @ components_."""
        check_is_fitted(self)
        coefficients = check_array(X, dtype=DTYPES, ensure_all_finite="allow-nan")
        if coefficients.shape[1] != self.n_components_:
            raise ValueError(
                f"X has {coefficients.shape[1]} columns, but this model has {self.n_components_} components."
            )
        return np.asarray(coefficients @ self.components_)

    def score(self, X: npt.ArrayLike, y: object = None) -> float:
        """Minus the median absolute error with which entries are predicted from the others of their sample.

        Every entry that is not missing is held out once. It is the median because some held-out entries may
        themselves be wrong, and a mean would favour models that follow them. y is ignored.
        """
        check_is_fitted(self)
        data = self._validated(X, reset=False)
        fold = np.random.default_rng(0).integers(FOLDS, size=data.shape)
        errors = np.empty_like(data)
        for number in range(FOLDS):
            held_out = fold == number
            predicted = self._coefficients(np.where(held_out, np.nan, data)) @ self.components_
            errors[held_out] = np.abs(data - predicted)[held_out]
        known = errors[~np.isnan(errors)]
        return -float(np.median(known)) if known.size else float("nan")

    def _coefficients(self, data: Array) -> Array:
        return transform(data.T, self.components_.T, lam=self.lam, leash=self.leash).T

    def _validated(self, X: npt.ArrayLike, *, reset: bool) -> Array:
        data: Array = validate_data(self, X, reset=reset, dtype=DTYPES, ensure_all_finite="allow-nan")
        if (data < 0).any():
            raise ValueError("Negative values in data passed to ATNMF: entries must be at least 0 or NaN.")
        return data

    def _checked_n_components(self, data: Array) -> int:
        most = int(min(data.shape))
        if self.n_components is None:
            return most
        if not isinstance(self.n_components, Integral) or not 1 <= self.n_components <= most:
            samples, features = data.shape
            raise ValueError(
                f"n_components={self.n_components!r}: a whole number from 1 to {most} is needed for"
                f" n_samples={samples} and n_features={features}."
            )
        return int(self.n_components)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Tags:
        tags: Any = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
