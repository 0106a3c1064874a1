"""Gaps filled from the pixels around them, each band or image by itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..datasets.dataset import Layout
from ..problem import Array, Mask


def inpaint(
    V: Array, observed: Mask, layout: Layout, callback: Callable[[float], None] | None = None
) -> Array:
    """V with what is not observed filled in by biharmonic inpainting.

    A band or image of which nothing is observed stays NaN. `callback` is called after each of them with the
    share that is done.
    """
    # Takes long to import, and few ask for it.
    from skimage.restoration import inpaint_biharmonic

    images, seen = layout.unfold(np.where(observed, V, 0)), layout.unfold(observed)
    filled = np.full(images.shape, np.nan)
    for number, (image, known) in enumerate(zip(images, seen, strict=True)):
        if known.any():
            filled[number] = image if known.all() else inpaint_biharmonic(image, ~known)
        if callback is not None:
            callback((number + 1) / len(images))
    return np.asarray(layout.fold(filled))
