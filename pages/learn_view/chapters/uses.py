"""Chapter 8: defects that nobody has marked, why a strong adversary helps, and what neighbours know."""

import math

import streamlit as st

from atnmf_core.analysis import pictures
from atnmf_core.analysis.pictures import white_level
from atnmf_core.figures.images import HIDDEN, Panel, dotted, grey, grey_with_gaps
from atnmf_core.figures.lesson import weights_chart
from atnmf_core.lesson.examples import (
    DEFECTS,
    FACES_HIDDEN,
    FACES_SHOWN,
    Mended,
    Recorded,
    filled_face,
    mend,
    mend_known,
    mend_robust,
    recorded,
    small_scene,
)
from atnmf_core.model.adversary import curvature
from atnmf_core.reference.league import OURS, YARDSTICK, league
from pages.common.controls import FreeSlider, OneOf, Stops
from pages.common.setting import LEASHES
from pages.common.widgets import show_chart, show_panels
from pages.learn_view.chapter import Chapter, Stage, faces, show_controls

NAMES = {"dead": "dead", "bright": "bright", "both": "both"}
SHARES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.8)
LAMS = (1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 5.0, math.inf)
BAND = 40  # The wavelength that is shown
FILLED_IN = {"parts": "Parts alone", "neighbours": "Neighbours alone", "both": "Both"}
IN_PICTURE = ("lost", "face")


def facts(stage: Stage) -> dict[str, str]:
    few, half, most = (recorded("dead", share) for share in (0.2, 0.5, 0.8))
    bright = recorded("bright", 0.2)
    walls = mend(bright, LAMS[0]).walls
    return {
        "side": str(small_scene().image_shape[0]),
        "bands": str(small_scene().shape[0]),
        "two": f"{curvature(2.0):.3g}",
        "strong": f"{curvature(1.05):.3g}",
        "strongest": f"{curvature(LAMS[0]):.3g}",
        "half_nmf": f"{mend(half, math.inf).error:.3f}",
        "half_atnmf": f"{mend(half, LAMS[0]).error:.3f}",
        "most_atnmf": f"{mend(most, LAMS[0]).error:.3f}",
        "free": f"{mend(few, 1.05).error:.4f}",
        "short": f"{mend(few, 1.05, 0.25).error:.4f}",
        "lost": f"{walls[~bright.wrong].mean():.0%}",
        "caught": f"{walls[bright.wrong].mean():.0%}",
        "bright": f"{mend(bright, LAMS[0], LEASHES[0]).error:.3f}",
        "robust": f"{mend_robust(few).error:.4f}",
        "robust_half": f"{mend_robust(half).error:.3f}",
        "robust_bright": f"{mend_robust(bright).error:.3f}",
    } | _facts_of_noise()


def _facts_of_noise() -> dict[str, str]:
    kind = "5 % dark, noise of 1 to 5 % by band"
    row = next(row for row in league() if (row.data, row.damage) == ("moffet", kind))
    names = {"noise_nmf": "NMF", "noise_told": YARDSTICK, "noise_ours": OURS}
    return {fact: f"{row.means[name]:.4f}" for fact, name in names.items()}


def show(stage: Stage) -> None:
    given = recorded(stage["damage"], stage["share"])
    nmf = mend(given, math.inf)
    atnmf = mend(given, stage["lam"], None if math.isinf(stage["g"]) else stage["g"])
    _show_pictures(stage, given, nmf, atnmf)
    steepness = curvature(stage["lam"])
    if stage.presenting:
        st.markdown(_said(stage, given, nmf, atnmf))
        return
    alt = f"Weights: 1 for an entry that was given up, {steepness:.3g} for one that is attacked"
    show_chart(weights_chart(steepness, size=stage.letters), stage.key("weights"), alt)
    st.markdown(_said(stage, given, nmf, atnmf))
    _show_faces(stage)


def _show_faces(stage: Stage) -> None:
    st.markdown("**What neighbours know: missing pixels of a face, predicted**")
    show_controls(USES, stage, IN_PICTURE)
    shown = filled_face(faces(), stage["lost"], stage["face"])
    top = white_level(shown.truth)
    panels = [Panel("", "As seen", grey_with_gaps(shown.seen, top, HIDDEN["red"]), "The face as it was seen")]
    panels += [
        Panel("", FILLED_IN[by], grey(image, top), f"{FILLED_IN[by]}, error {shown.errors[by]:.3f}")
        for by, image in shown.by.items()
    ]
    panels.append(Panel("", "The truth", grey(shown.truth, top), "The face as it is"))
    notes = ["red: missing", *(f"error <b>{error:.3f}</b>" for error in shown.errors.values()), ""]
    show_panels(panels, notes, stage.key("faces"))


def _show_pictures(stage: Stage, given: Recorded, nmf: Mended, atnmf: Mended) -> None:
    scene = small_scene()
    truth, seen, by_nmf, by_atnmf, walls = (
        pictures.picture(scene, matrix, BAND)
        for matrix in (given.truth, given.V, nmf.V_hat, atnmf.V_hat, atnmf.walls)
    )
    top = white_level(truth)
    drawn = [
        (
            "As recorded",
            dotted(grey(seen, top), walls),
            "The picture as recorded, dots where the adversary gave up",
        ),
        ("NMF", grey(by_nmf, top), f"NMF's prediction, error {nmf.error:.3f}"),
        ("AT-NMF", grey(by_atnmf, top), f"AT-NMF's prediction, error {atnmf.error:.3f}"),
        ("The truth", grey(truth, top), "The picture as it is"),
    ]
    panels = [Panel("", title, pixels, alt) for title, pixels, alt in drawn]
    dots = "• given up" if walls.any() else ""
    notes = [dots, _error(nmf, "blue"), _error(atnmf, "orange"), ""]
    show_panels(panels, notes, stage.key("panels"), frames=("", "blue", "orange", ""))


def _error(fit: Mended, colour: str) -> str:
    return f'error <b class="{colour}">{fit.error:.4f}</b>'


def _said(stage: Stage, given: Recorded, nmf: Mended, atnmf: Mended) -> str:
    errors = (
        f"Error over the whole picture: :blue[NMF **{nmf.error:.4f}**], :orange[AT-NMF "
        f"**{atnmf.error:.4f}**]; with the defects marked and left out, NMF has "
        f"{mend_known(given).error:.4f}."
    )
    if math.isinf(stage["lam"]):
        return f"{errors} There is no adversary: AT-NMF is NMF, and every entry weighs 1."
    times = nmf.error / atnmf.error
    verdict = f"{times:.1f} times smaller" if times >= 1 else f"{1 / times:.1f} times larger"
    wrong, sound = int(given.wrong.sum()), int((~given.wrong).sum())
    caught, lost = int((atnmf.walls & given.wrong).sum()), int((atnmf.walls & ~given.wrong).sum())
    return (
        f"{errors} AT-NMF's error is **{verdict}** than NMF's. The adversary gave up on {caught / wrong:.0%} "
        f"of the {wrong:,} wrong entries and on {lost / sound:.0%} of the {sound:,} sound ones."
    )


USES = Chapter(
    name="uses",
    short="Uses",
    controls={
        "damage": OneOf("dead", "Wrong entries are", {kind: NAMES[kind] for kind in DEFECTS}),
        "share": Stops(0.2, "Their share", SHARES),
        "lam": FreeSlider(math.inf, "Price λ", LAMS, low=1.0, none="no adversary (plain NMF)"),
        "g": FreeSlider(math.inf, "Leash g", LEASHES, none="no leash"),
        "lost": OneOf(0.3, "Missing pixels", {share: f"{share:.0%}" for share in FACES_HIDDEN}),
        "face": OneOf(8, "Face", {face: str(face) for face in FACES_SHOWN}),
    },
    in_picture=IN_PICTURE,
    show=show,
    facts=facts,
)
