"""The restored cube, the factors and the spectra to download, and how to reproduce the numbers."""

from __future__ import annotations

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.analysis.recovery import restored_cube
from atnmf_core.datasets import write_envi_zip, write_mat, write_npz
from atnmf_core.export import factors_npz
from pages.common import fit_pair
from pages.common.markdown import plain
from pages.common.restored_files import WHAT_IS_KEPT, download_like_source, draw_written, entries_to_keep
from pages.common.take_away import download, recipe, show_recipe, source_of, stem_of

from .cube_setting import ADDRESS, SIZES, CubeSetting, span
from .pictures import METHODS, factors_of
from .sidebar import SCENE

FORMATS = {
    "NPZ": (write_npz, "npz", "application/zip"),
    "MAT": (write_mat, "mat", "application/octet-stream"),
    "ENVI": (None, "zip", "application/zip"),
}


def show_cube_take_away(setting: CubeSetting, data: Dataset, pair: fit_pair.Pair) -> None:
    """Files on the left, the snippet on the right."""
    st.subheader("Take away", anchor=False)
    left, right = st.columns([2, 3], gap="large")
    with left:
        _cubes(setting, data, pair)
        _numbers(setting, data, pair)
        st.caption(f"{plain(data.title)}. {plain(data.terms)}")
    with right:
        options = SIZES[setting.size] if setting.data == SCENE and setting.size != "small" else {}
        source = source_of(setting, data, **options) + _cut(setting)
        show_recipe(recipe(setting, source, setting.start))


def _cubes(setting: CubeSetting, data: Dataset, pair: fit_pair.Pair) -> None:
    wavelengths = "" if data.wavelengths is None else ", with its wavelengths"
    st.markdown(f"**The restored cube** · {WHAT_IS_KEPT[entries_to_keep(setting, data)]}{wavelengths}")
    draw_written(ADDRESS, setting, data)
    for (method, tone), (W, H) in zip(METHODS.items(), factors_of(pair).values(), strict=True):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.markdown(f":{tone}[{method}]", width=64)
            for name in FORMATS:
                _restored(setting, data, method, W, H, name)
            download_like_source(setting, data, method, W, H)


def _restored(setting: CubeSetting, data: Dataset, method: str, W: object, H: object, name: str) -> None:
    write, ending, mime = FORMATS[name]
    stem = f"{stem_of(setting, data)}-{method.lower()}"

    def make() -> bytes:
        cube = restored_cube(
            data, fit_pair.mask(setting, data), W, H, method=method, keep=entries_to_keep(setting, data)
        )
        return write(cube) if write else write_envi_zip(cube, stem)

    label = "ENVI pair" if name == "ENVI" else name
    download(label, make, f"{stem}.{ending}", mime, f"{plain(data.title)} as restored by {method}, {label}")


def _numbers(setting: CubeSetting, data: Dataset, pair: fit_pair.Pair) -> None:
    st.markdown("**Numbers**")
    observed = fit_pair.mask(setting, data)
    download(
        "Factors and mask, NPZ",
        lambda: factors_npz({"atnmf": pair.atnmf, "nmf": pair.nmf}, observed),
        f"{stem_of(setting, data)}-factors.npz",
        "application/zip",
    )


def _cut(setting: CubeSetting) -> str:
    spans = {name: getattr(setting, name) for name in ("rows", "cols", "bands")}
    cuts = [
        f"{name}=slice({span(text, 10**9)[0] - 1}, {span(text, 10**9)[1]})"
        for name, text in spans.items()
        if text
    ]
    return f".subset({', '.join(cuts)})" if cuts else ""
