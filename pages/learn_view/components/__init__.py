"""The lesson's moving pictures. The core computes what they play; the two curves that follow a finger
(`attack`, `loss`) evaluate the closed forms in `closed_form.js`, which the tests compare with the core.
"""

from __future__ import annotations

from typing import Any

from pages.common.components import component

__all__ = ["moving_picture"]


def moving_picture(name: str, *shared: str) -> Any:
    """The mounting command of one of this folder's components."""
    return component(name, *shared, page="learn_view")
