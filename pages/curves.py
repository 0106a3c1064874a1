"""Curves: RMSE against lambda and alpha, from sweeps that run beside the dashboard and are stored."""

from pathlib import Path

import streamlit as st

from pages.common.data import show_offer
from pages.common.setting import Setting
from pages.common.streamlit_patches import ensure_app_frame
from pages.common.sweeps import ensure_queue_runs, showing_store_errors
from pages.common.widgets import show_style
from pages.curves_view.chart import show_curves
from pages.curves_view.setting import ADDRESS, arrive, show_form

ensure_app_frame()
show_style(*(Path(__file__).parent / folder / "style.css" for folder in ("common", "curves_view")))
st.title("How the error depends on λ and α", anchor=False)
arrive()
with showing_store_errors():
    plan, data = show_form()
    ensure_queue_runs()
    if data is None:
        show_offer(Setting(data=plan.data, upload=plan.upload))
    show_curves()
ADDRESS.write()
