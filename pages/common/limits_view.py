"""A sentence about what cannot be restored."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import streamlit as st

from atnmf_core import Dataset
from atnmf_core.analysis.recovery import Reach, reach_of, unreached_in_words

from . import fit_pair
from .setting import MaskKey, Setting


def reach(setting: Setting, data: Dataset) -> Reach:
    """Which rows and columns have an observation."""
    return _reach(setting.mask_key(data.content_hash), fit_pair.mask(setting, data))


@st.cache_data(show_spinner=False, max_size="32 MB")
def _reach(key: MaskKey, _observed: npt.NDArray[np.bool_]) -> Reach:
    return reach_of(_observed)


def show_unreached(setting: Setting, data: Dataset) -> None:
    """A warning if some entries cannot be predicted."""
    lost = unreached_in_words(data, reach(setting, data))
    if lost:
        st.warning(
            f"Nothing is observed of {lost}, so nothing can be predicted there. The restored pictures and "
            f"the parts are {setting.colour} in these places, and files with restored data have NaN.",
            icon=":material/visibility_off:",
        )
