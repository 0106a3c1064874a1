"""Imputation of missing entries: nearest neighbours and chained regressions of scikit-learn, factorization of
cmfrec. Pixels are samples, bands are features.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from atnmf_core.restoration import Layout

Array = npt.NDArray[np.floating]
Mask = npt.NDArray[np.bool_]


def _samples(fill: Callable[[Array], Array], V: Array, observed: Mask) -> Array:
    """Rows and columns without data are what such imputers drop or refuse: the row's mean stands in."""
    holed = np.where(observed, V, np.nan).T
    empty = ~observed.any(axis=1)
    filled = np.zeros_like(holed)
    filled[:, ~empty] = fill(holed[:, ~empty])
    return filled.T


def nearest_neighbours(V: Array, observed: Mask, layout: Layout) -> Array:
    from sklearn.impute import KNNImputer

    return _samples(KNNImputer(n_neighbors=5).fit_transform, V, observed)


def chained_regressions(V: Array, observed: Mask, layout: Layout) -> Array:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    # With all other bands as regressors it takes an hour on these cubes.
    imputer = IterativeImputer(max_iter=3, n_nearest_features=15, min_value=0, random_state=0, tol=1e-3)
    return _samples(imputer.fit_transform, V, observed)


def factorization(V: Array, observed: Mask, layout: Layout) -> Array:
    from cmfrec import CMF
    from scipy.sparse import coo_matrix

    rows, columns = np.nonzero(observed)
    seen = coo_matrix((V[rows, columns].astype(np.float32), (rows, columns)), shape=V.shape)
    # cmfrec's own defaults but for the rank, which it cannot choose, and signs.
    model = CMF(k=8, nonneg=True, center=False, user_bias=False, item_bias=False, verbose=False, nthreads=1)
    model.fit(seen)
    return model.A_ @ model.B_.T


IMPUTERS = {
    "KNNImputer": nearest_neighbours,
    "IterativeImputer": chained_regressions,
    "cmfrec": factorization,
}
