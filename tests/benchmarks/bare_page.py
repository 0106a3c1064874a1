"""A Streamlit page with one slider and one image: the least that a moved slider can cost."""

import numpy as np
import streamlit as st

hidden = st.slider("Hidden percent", 1, 95, 20, key="percent")
observed = np.random.default_rng(0).random((25, 25)) > hidden / 100
picture = np.where(observed, 128, 0).astype(np.uint8)
st.image(picture.repeat(10, axis=0).repeat(10, axis=1))
