"""The bundled faces and their fits; each fit is made once per server and shared with the other pages."""

from __future__ import annotations

import numpy as np

from atnmf_core import Dataset
from atnmf_core.problem import Missing
from atnmf_core.running.run import Run
from pages.common import fit_pair
from pages.common.data_choice import load
from pages.common.fit_cache import fit_cache
from pages.common.setting import FitKey, MaskKey, Setting
from pages.common.visitors import visitor

FACES = 100


def faces() -> Dataset:
    return load("lfw")


def fitted(K: int) -> Run:
    """NMF of all faces with K parts, nothing hidden."""
    data = faces()
    nothing_hidden = MaskKey(data.content_hash, 0.0, 0, "entries")
    key = FitKey(nothing_hidden, K, None, "ignore", "fast", 0)
    return fit_cache().solve(key, data, np.ones(data.shape, dtype=bool), visitor())


def restored(alpha: float, missing: Missing) -> Run:
    """NMF, as on the Explore page, of faces with a share alpha of all pixels hidden."""
    data, setting = faces(), Setting(alpha=alpha, missing=missing)
    key = setting.fit_key(data.content_hash, "nmf")
    return fit_cache().solve(key, data, fit_pair.mask(setting, data), visitor())
