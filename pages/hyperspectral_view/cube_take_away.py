"""The restored cube, the factors and the spectra to take away, and how to get the same numbers again."""

from __future__ import annotations

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.datasets import write_envi_zip, write_mat, write_npz
from atnmf_core.export import factors_npz
from atnmf_core.recipe import Recipe
from atnmf_core.recovery import restored_cube
from pages.common import solving
from pages.common.data_choice import UPLOAD
from pages.common.take_away import download

from .cube_controls import SCENE
from .cube_setting import SIZES, CubeSetting, span
from .pictures import METHODS, factors_of

__all__ = ["show_cube_take_away"]

FORMATS = {
    "NPZ": (write_npz, "npz", "application/zip"),
    "MAT": (write_mat, "mat", "application/octet-stream"),
    "ENVI": (None, "zip", "application/zip"),
}


def show_cube_take_away(setting: CubeSetting, data: Dataset, pair: solving.Pair) -> None:
    """Files on the left, the snippet on the right."""
    st.subheader("Take away", anchor=False)
    left, right = st.columns([2, 3], gap="large")
    with left:
        _cubes(setting, data, pair)
        _numbers(setting, data, pair)
        st.caption(f"{data.title}. {data.terms}")
    with right:
        st.markdown("**The same numbers again**")
        again = _recipe(setting, data)
        st.code(again.python(), language=None, wrap_lines=True)
        if again.command_line():
            st.code(again.command_line(), language=None, wrap_lines=True)


def _stem(setting: CubeSetting, data: Dataset) -> str:
    return f"{data.name}-alpha{setting.alpha:g}-lam{setting.lam:g}-K{setting.K}-{setting.missing}"


def _cubes(setting: CubeSetting, data: Dataset, pair: solving.Pair) -> None:
    kept = "observed entries kept" if setting.restored == "kept" else "W H alone"
    wavelengths = "" if data.wavelengths is None else ", with its wavelengths"
    st.markdown(f"**The restored cube** · {kept}{wavelengths}")
    for (method, tone), (W, H) in zip(METHODS.items(), factors_of(pair).values(), strict=True):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.markdown(f":{tone}[{method}]", width=64)
            for name in FORMATS:
                _restored(setting, data, method, W, H, name)


def _restored(setting: CubeSetting, data: Dataset, method: str, W: object, H: object, name: str) -> None:
    write, ending, mime = FORMATS[name]
    stem = f"{_stem(setting, data)}-{method.lower()}"

    def make() -> bytes:
        cube = restored_cube(
            data, solving.mask(setting, data), W, H, method=method, keep_observed=setting.restored == "kept"
        )
        return write(cube) if write else write_envi_zip(cube, stem)

    label = "ENVI pair" if name == "ENVI" else name
    download(label, make, f"{stem}.{ending}", mime, f"{data.title} as restored by {method}, {label}")


def _numbers(setting: CubeSetting, data: Dataset, pair: solving.Pair) -> None:
    st.markdown("**Numbers**")
    observed = solving.mask(setting, data)
    download(
        "Factors and mask, NPZ",
        lambda: factors_npz({"atnmf": pair.atnmf.fit, "nmf": pair.nmf.fit}, observed),
        f"{_stem(setting, data)}-factors.npz",
        "application/zip",
    )


def _recipe(setting: CubeSetting, data: Dataset) -> Recipe:
    """How this setting's numbers are made without the dashboard."""
    source = f'load_dataset("{setting.data}")'
    if setting.data == UPLOAD:
        normalised = "" if data.normalisation == "none" else f', normalisation="{data.normalisation}"'
        source = f'read_dataset("your-file"{normalised})'
    elif setting.data == SCENE and setting.size != "small":
        options = ", ".join(f"{name}={value}" for name, value in SIZES[setting.size].items())
        source = f'load_dataset("{SCENE}", {options})'
    return Recipe(
        source=source + _cut(setting),
        data=setting.data if source == f'load_dataset("{setting.data}")' and not _cut(setting) else "",
        alpha=setting.alpha,
        mask_seed=setting.mask_seed,
        pattern=setting.pattern,
        K=setting.K,
        lam=setting.lam,
        missing=setting.missing,
        solver=setting.solver,
        seed=setting.seed,
        start=setting.start,
    )


def _cut(setting: CubeSetting) -> str:
    spans = {name: getattr(setting, name) for name in ("rows", "cols", "bands")}
    cuts = [
        f"{name}=slice({span(text, 10**9)[0] - 1}, {span(text, 10**9)[1]})"
        for name, text in spans.items()
        if text
    ]
    return f".subset({', '.join(cuts)})" if cuts else ""
