"""When not to trust a restoration: a sentence where it matters, and more for those who want to know."""

from __future__ import annotations

import streamlit as st

from atnmf_core.figures.restoration_report import AXES
from atnmf_core.restoration.suspects import mostly_bad

from .request import Restored
from .setting import RestoreSetting

UNMARKED = """
- **Most of every {row} and of every {column} has to be sound.** A {column} that is wrong in most places, or
  too dark by the same factor throughout, looks like one that is meant to be so. In two cubes with five
  image columns dark in 60% of the bands the error was 0.03 to 0.06; told what was dark, 0.01 to 0.03.
- **Long stretches that are dark by one factor are hardly found.** Of five image columns that were so in a
  third of the bands each, up to 36% of the entries were found, and often none.
- **A defect has to stand out from what the model cannot describe.** Where a few parts describe the data
  badly, as with faces, many defects look like the rest and stay in.
"""
MARKED = """
- **A {row} or {column} with nothing left cannot be predicted**, and one with little left hardly can.
- **Whole lines and blocks are harder than single entries.** The deviations come from gaps shaped like
  yours, moved to where the data is sound. From single entries they would be up to 12 times too small.
- **Only what is missing changes.** Values that are there but wrong stay, and mislead the prediction.
"""


def show_limits(setting: RestoreSetting, shown: Restored) -> None:
    """A warning where most of a row or column looks wrong, and what else can go wrong."""
    row, column = AXES[shown.data.kind]
    if setting.losses == "unmarked":
        _warning(shown, row, column)
    with st.expander("When not to trust this", expanded=setting.losses == "marked"):
        st.markdown((UNMARKED if setting.losses == "unmarked" else MARKED).format(row=row, column=column))


def _warning(shown: Restored, row: str, column: str) -> None:
    bad = mostly_bad(shown.restoration.defects, shown.data.observed)
    counts = dict(zip((row, column), bad, strict=True))
    found = [f"{count:,} {name}{'' if count == 1 else 's'}" for name, count in counts.items() if count]
    if found:
        st.warning(
            f"More wrong than sound entries in {' and '.join(found)}: what is restored there is little more "
            "than a guess.",
            icon=":material/warning:",
        )
    else:
        st.caption(f"This can be trusted where most of every {row} and of every {column} is sound.")
