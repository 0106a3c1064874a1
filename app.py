"""The dashboard's frame: its title, its logo and its pages. Start it with ``streamlit run app.py``."""

import streamlit as st

st.set_page_config(page_title="AT-NMF Lab", page_icon="assets/icon.svg", layout="wide")
st.logo("assets/logo.svg", icon_image="assets/icon.svg", size="large")

st.navigation(
    [
        st.Page("pages/explore.py", title="Explore", icon=":material/grid_on:", default=True),
    ]
).run()
