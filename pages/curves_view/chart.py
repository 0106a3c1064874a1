"""The page below its form, redrawn while sweeps run: the chart, what of a curve is in it, downloads."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from atnmf_core.figures.error_curves import against_alpha, against_lambda, compare_curves, gain_map
from atnmf_core.figures.images import MATERIALS
from atnmf_core.figures.publish import chart_page
from atnmf_core.sweep.measurements import Measurement, baseline, best, csv_text, gain
from pages.common.address import change
from pages.common.jobs import poll_interval
from pages.common.sweeps import STORE_POLL_SECONDS, ensure_queue_runs, show_refusal, showing_store_errors
from pages.common.take_away import chart_files, download, show_figures
from pages.common.widgets import escape_markdown, show_code

from .curve import BUNDLED, Curve, find_curve, follow_click, opens_in_explore, remember_click
from .setting import ADDRESS, CHART, FIRST, TREATMENTS, VIEWS, CurveSelection, key, select_curve
from .sweeps import records, show_status, show_sweeps, show_trouble

SOLVER_WORDS = {"fast": "the fast solver", "paper": "Algorithm 1"}
FEW_LAMBDAS = 4
COMPARED = "curves_compared"  # How many lambdas are drawn against alpha at first
CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}


@dataclass(frozen=True)
class Shown:
    """A curve, what of it is in view, the lambdas drawn against alpha, and addresses of curves beside it."""

    curve: Curve
    chosen: CurveSelection
    lams: tuple[float, ...] = ()
    beside: tuple[str, ...] = ()

    @property
    def points(self) -> list[Measurement]:
        here = self.chosen
        points = [p for p in self.curve.points if (p.missing, p.K) == (here.at_missing, here.at_K)]
        if here.view == "lambda":
            points = [point for point in points if point.alpha == here.at_alpha]
        return points

    @property
    def title(self) -> str:
        return f"RMSE on hidden entries {VIEWS[self.chosen.view]}: {self.curve.title}"


def choose_view(curve: Curve) -> Shown:
    """Draw the choices of a curve: view, alpha, treatment, K, and others to draw in the same chart."""
    points, lams = curve.points, ()
    several_alphas = len({point.alpha for point in points}) > 1
    views = VIEWS if several_alphas else {"lambda": VIEWS["lambda"]}
    if ADDRESS.get(CurveSelection).view not in views:
        change(**{key("view"): "lambda"})
    view = ADDRESS.get(CurveSelection).view
    if view == "alpha":
        lams = _choose_lambdas(curve)
    if view == "lambda":
        _one_of("at_alpha", sorted({point.alpha for point in points}), "{:g}".format)
    treatments = [name for name in TREATMENTS if name in {point.missing for point in points}]
    _one_of("at_missing", treatments, lambda name: TREATMENTS[name])
    _one_of("at_K", sorted({point.K for point in points}), str)
    if several_alphas:
        ADDRESS.draw("view", among=views)
    chosen = ADDRESS.get(CurveSelection)
    return Shown(curve, chosen, lams, _choose_beside(chosen) if view == "lambda" else ())


def _one_of(name: str, options: Sequence[Any], spelled: Any) -> None:
    chosen = getattr(ADDRESS.get(CurveSelection), name)
    if options and chosen not in options:
        chosen = options[(len(options) - 1) // 2 if name == "at_alpha" else 0]
        change(**{key(name): chosen})
    if len(options) > 1:
        label = ADDRESS.controls[name].label
        st.segmented_control(
            label, options, default=chosen, format_func=spelled, key=key(name), required=True
        )


def _choose_lambdas(curve: Curve) -> tuple[float, ...]:
    lams = sorted({point.lam for point in curve.points if point.lam is not None})
    step = max(1, len(lams) // FEW_LAMBDAS)
    first = lams if len(lams) <= FEW_LAMBDAS + 1 else lams[::step][:FEW_LAMBDAS]
    name = f"curves_lams {curve.name}"
    chosen = st.session_state.setdefault(name, first)
    return tuple(st.multiselect("AT-NMF at λ", lams, chosen, format_func="{:g}".format, key=name, width=320))


def _choose_beside(chosen: CurveSelection) -> tuple[str, ...]:
    others = {one: title for one, title in BUNDLED.items() if "table:" not in one}
    others |= {f"sweep:{record.name}": record.name for record in records()}
    others.pop(chosen.show, None)
    asked = [name for name in chosen.beside.splitlines() if name in others]
    if st.session_state.get(COMPARED, []) != asked:
        st.session_state[COMPARED] = asked
    beside = st.multiselect(
        "Compare with",
        others,
        default=asked,
        format_func=others.get,
        key=COMPARED,
        placeholder="other curves",
        on_change=lambda: change(**{key("beside"): "\n".join(st.session_state[COMPARED])}),
    )
    return tuple(beside)


def figure_of(shown: Shown) -> go.Figure:
    points, others = shown.points, _beside(shown)
    if others:
        return compare_curves({_named(shown.curve, points): points} | others, MATERIALS)
    match shown.chosen.view:
        case "alpha":
            return against_alpha(points, shown.lams)
        case "map":
            return gain_map(points)
    return against_lambda(points)


def _beside(shown: Shown) -> dict[str, list[Measurement]]:
    """The points of the other curves: those at this alpha, K and treatment, or else at their own."""
    found = {}
    for address in shown.beside:
        other = find_curve(address)
        if other is None or other.name == shown.curve.name:
            continue
        points = list(other.points)
        for name in ("missing", "K", "alpha"):
            values = sorted({getattr(point, name) for point in points}, key=str)
            here = getattr(shown.chosen, f"at_{name}")
            wanted = here if here in values else next(iter(values), None)
            points = [point for point in points if getattr(point, name) == wanted]
        if points:
            found[_named(other, points)] = points
    return found


def _named(curve: Curve, points: Sequence[Measurement]) -> str:
    point = points[0]
    return f"{curve.title} (α = {point.alpha:g}, K = {point.K}, {TREATMENTS[point.missing]})"


def show_chart(shown: Shown) -> None:
    curve = shown.curve
    st.markdown(_sentence(shown))
    clicks = opens_in_explore(curve)
    st.plotly_chart(
        figure_of(shown),
        key=CHART,
        config=CONFIG,
        alt=shown.title,
        on_select=remember_click if clicks else "ignore",
        selection_mode="points",
    )
    st.caption(f"{curve.provenance}." + (" Click a point to open it in Explore." if clicks else ""))


def _sentence(shown: Shown) -> str:
    """Where AT-NMF is best, for each solver; over several alphas, where it gains most."""
    points, record = shown.points, shown.curve.record
    solvers = list(dict.fromkeys(point.solver for point in points if point.lam is not None))
    if not solvers:
        return (
            "AT-NMF has no point yet."
            if record and record.is_under_way
            else "This curve has no point of AT-NMF."
        )
    if shown.chosen.view != "lambda" and any(point.method == "nmf" for point in points):
        return _largest_gain(points)
    said = []
    for solver in solvers:
        by = f"By {SOLVER_WORDS[solver]}, " if len(solvers) > 1 else ""
        found = best([point for point in points if point.solver == solver])
        assert found is not None
        nmf = baseline([point for point in points if point.alpha == found.alpha], "nmf", like=found)
        than = "" if nmf is None else f", {_share(found, nmf)} :blue[**NMF**] ({_error(nmf)})"
        said.append(
            f"{by}:orange[**AT-NMF**] is best at **λ = {found.lam:g}**: RMSE **{_error(found)}**{than}."
        )
    return "  \n".join(said)


def _largest_gain(points: Sequence[Measurement]) -> str:
    levels = {(point.alpha, point.solver): point for point in points if point.method == "nmf"}
    pairs = [(p, levels[p.alpha, p.solver]) for p in points if p.lam and (p.alpha, p.solver) in levels]
    if not pairs:
        return "NMF has not been fitted yet."
    found, nmf = max(pairs, key=lambda pair: gain(*pair))
    return (
        f":orange[**AT-NMF**] gains most at **α = {found.alpha:g}** with **λ = {found.lam:g}**: RMSE "
        f"**{_error(found)}**, {_share(found, nmf)} :blue[**NMF**] ({_error(nmf)})."
    )


def _share(point: Measurement, nmf: Measurement) -> str:
    share = gain(point, nmf)
    return f"**{abs(100 * share):.1f}%** {'below' if share >= 0 else 'above'}"


def _error(point: Measurement) -> str:
    spread = "" if point.deviation is None else f" ± {point.deviation:.2g}"
    return f"{point.mean:#.4g}{spread}"


_TURN = "curves_turn"


def show_curves() -> None:
    """The curve and the list of sweeps; polled only while there is something to wait for."""
    active = any(record.is_under_way for record in records())
    st.fragment(_curves, run_every=poll_interval(STORE_POLL_SECONDS) if active else None)(polled=active)


def _curves(*, polled: bool) -> None:
    ADDRESS.restore()
    show_refusal()
    with showing_store_errors():
        sweeps = records()
        active = any(record.is_under_way for record in sweeps)
        if active:
            ensure_queue_runs()
        if active != polled:
            st.rerun()  # The whole page, because only that changes whether this fragment is polled
        if address := os.environ.get("ATNMF_DASK"):
            st.caption(f":material/hub: Sweeps run on the Dask cluster at `{address}`.")
        show_trouble()
        _choose_bundled()
        _show_curve(_chosen_curve())
        show_sweeps(sweeps)
    ADDRESS.write()


def _chosen_curve() -> Curve:
    curve = find_curve(ADDRESS.get(CurveSelection).show)
    if curve is None:
        st.info("This sweep is not stored on this machine; here is a bundled curve instead.")
        select_curve(FIRST)
        curve = find_curve(FIRST)
        assert curve is not None
    return curve


def _show_curve(curve: Curve) -> None:
    follow_click(curve)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="curves_head"):
        st.header(escape_markdown(curve.title), anchor=False, width="stretch")
        shown = choose_view(curve) if curve.points else None
    show_status(curve)
    if shown is None:
        st.caption("The first point appears as soon as a fit has finished.")
        return
    with st.container(key="curves_chart"):
        show_chart(shown)
    if curve.note:
        st.markdown(curve.note)
    with st.expander("Download", icon=":material/download:"):
        _show_take_away(shown)


def _show_take_away(shown: Shown) -> None:
    curve, chosen = shown.curve, shown.chosen
    name = re.sub(r"[^\w.]+", "-", curve.name).strip("-") or "curve"
    alpha = f"-alpha{chosen.at_alpha:g}" if chosen.view == "lambda" else ""
    stem = f"{name}-{chosen.view}{alpha}-{chosen.at_missing}"
    # The figure is drawn here: the page is made on request, by a thread outside this session.
    figure = figure_of(shown)
    show_figures(stem, chart_files({"": ("Chart", lambda: figure)}))
    with st.container(horizontal=True, gap="small"):
        page = "A page of its own that needs no network and tells every point."
        download("HTML", lambda: chart_page(figure, shown.title), f"{stem}.html", "text/html", page)
        table = "Mean, deviation and number of starts of every combination."
        download("CSV", lambda: csv_text(curve.rows), f"{name}.csv", "text/csv", table)
    for command in curve.commands:
        show_code(command)


def _choose_bundled() -> None:
    """The bundled curves as pills; none is pressed while a sweep is shown."""
    show = ADDRESS.get(CurveSelection).show
    pressed = show if show in BUNDLED else None
    widget = pills_key(pressed)
    change(**{widget: pressed})
    st.pills(
        "Bundled with the program", BUNDLED, default=pressed, format_func=BUNDLED.get, key=widget,
        on_change=show_bundled, args=(widget,), label_visibility="collapsed",
    )  # fmt: skip


def pills_key(pressed: str | None) -> str:
    """The key of the pills: a new one each time a sweep replaces a bundled curve, or the reverse.

    A browser that polls before it has drawn the change still sends the pill that was pressed. With the same
    key, or an earlier one, this would count as pressing it again.
    """
    turn, none = st.session_state.get(_TURN, (0, pressed is None))
    if none != (pressed is None):
        turn += 1
    st.session_state[_TURN] = turn, pressed is None
    return f"curves_bundled_{turn}"


def show_bundled(widget: str) -> None:
    curve = st.session_state[widget]
    if curve is not None and widget == f"curves_bundled_{st.session_state[_TURN][0]}":
        select_curve(curve, view="alpha" if "table:" in curve else "lambda")
