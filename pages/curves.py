"""Curves: RMSE against lambda and alpha, as sweeps find it; sweeps run beside the dashboard and are kept."""

from pathlib import Path

import streamlit as st

from pages.common.download_offer import show_offer
from pages.common.setting import Setting
from pages.common.streamlit_private import ensure_app_frame
from pages.common.sweeping import keep_going, unreadable
from pages.curves_view.form import show_form
from pages.curves_view.state import ADDRESS, arrive
from pages.curves_view.view import show_curves

TITLE = "How the error moves with λ and α"

ensure_app_frame()
for folder in ("common", "curves_view"):
    st.html(Path(__file__).parent / folder / "style.css")
if reason := unreadable():
    st.title(TITLE, anchor=False)
    st.error(f"The sweeps of this machine cannot be read. {reason}")
    st.stop()
arrive()
plan, data = show_form()
keep_going()
st.title(TITLE, anchor=False)
if data is None:
    show_offer(Setting(data=plan.data, upload=plan.upload))
show_curves()
ADDRESS.write()
