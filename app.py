"""The dashboard's frame: its title, its logo and its pages. Start it with ``streamlit run app.py``."""

from pathlib import Path

import streamlit as st

from pages.common.jobs import admit
from pages.common.widgets import component, show_style, text_of

ASSETS = Path(__file__).parent / "assets"

st.set_page_config(
    page_title="AT-NMF Lab",
    page_icon=ASSETS / "icon.svg",
    layout="wide",
    # In another site's frame the page needs the width; a button still opens the controls.
    initial_sidebar_state="collapsed" if st.context.is_embedded else "auto",
)
st.logo(text_of(ASSETS / "logo.svg"), icon_image=text_of(ASSETS / "icon.svg"), size="large")
show_style(ASSETS / "style.css")

page = st.navigation(
    [
        st.Page("pages/explore.py", title="Explore", icon=":material/grid_on:", default=True),
        st.Page("pages/hyperspectral.py", title="Hyperspectral", icon=":material/layers:"),
        st.Page("pages/restore.py", title="Restore", icon=":material/healing:"),
        st.Page("pages/curves.py", title="Curves", icon=":material/show_chart:"),
        st.Page("pages/reproduce.py", title="Reproduce", icon=":material/fact_check:"),
        st.Page("pages/learn.py", title="Learn", icon=":material/school:"),
    ]
)
admit()
component("keyboard")(key="keyboard")
page.run()
