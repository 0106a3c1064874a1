"""A restoration as a self-contained page: before and after, what was replaced, how the model was chosen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go

from ..datasets import Dataset
from ..datasets.scene_file import SceneFile
from ..recipe import RestoreRecipe
from ..restoration import Choice, Restoration
from ..restoration.scenes import SceneModel, SceneRestoration
from ..result import Fit
from .before_after import BeforeAfter, before_and_after
from .html_page import html_page
from .images import data_url
from .restoration import adversary_map, error_against_K
from .scene_view import scene_before_after

RULES = {
    "rmse": "root mean square over the held-out entries",
    "rmse of sound entries": "root mean square over the held-out entries, those that look wrong left out",
}
AXES = {"cube": ("band", "pixel"), "faces": ("pixel", "image"), "matrix": ("row", "column")}
"""What the rows and columns of V are called."""
SIDES = {"both": "too dark or too bright", "dark": "too dark", "bright": "too bright"}
# Plotly writes its colours into each element; these rules follow the reader's theme instead.
STYLE = """
.before-after { display: grid; grid-template-columns: repeat(3, 1fr); gap: 1rem }
.before-after img { width: 100%; image-rendering: pixelated; border: 1px solid var(--line) }
.lead { font-size: 1.1rem }
table.settings { border-collapse: collapse }
.settings th, .settings td { text-align: left; vertical-align: top; padding: 0.2rem 1rem 0.2rem 0 }
.settings th { font-weight: 400; color: var(--muted); white-space: nowrap }
.settings td { overflow-wrap: anywhere }
.xaxislayer-above text, .yaxislayer-above text, .infolayer text { fill: var(--ink) !important }
.gridlayer path { stroke: var(--line) !important }
"""


def restoration_page(data: Dataset, restored: Restoration, settings: Mapping[str, str]) -> str:
    """The whole page as HTML; `settings` are those of the restoration, by name."""
    lead = restored.choice.verdict if restored.choice else "K, λ and leash were given, not chosen."
    findings = _findings(data, restored)
    return _page(data.title, lead, findings, before_and_after(data, restored), restored.choice, settings)


def scene_page(
    scene: SceneFile, after: SceneFile, restored: SceneRestoration, settings: Mapping[str, str]
) -> str:
    """The same for a scene that was restored block by block; both files are read, thinned for display."""
    model, sight = restored.model, scene_before_after(scene, after, restored.replaced)
    return _page(scene.path.stem, model.words, restored.findings, [sight], model.choice, settings)


def _page(
    title: str,
    lead: str,
    findings: list[str],
    pictures: list[BeforeAfter],
    choice: Choice | None,
    settings: Mapping[str, str],
) -> str:
    listed = "".join(f"<li>{escape(finding)}</li>" for finding in findings)
    body = [f'<p class="lead">{escape(lead)}</p><ul>{listed}</ul>', *map(_pictures, pictures)]
    if choice is not None:
        body.append(_chosen(choice))
    body.append(f"<h2>Settings</h2>{_table(settings)}")
    return html_page(f"{title}, restored", "".join(body), STYLE)


def report_settings(
    recipe: RestoreRecipe, data: str, fit: Fit | SceneModel, choice: Choice | None, notes: Sequence[str]
) -> dict[str, str]:
    """Everything that went into a restoration, for its report."""
    unmarked = recipe.losses == "unmarked"
    adversary = (
        "none"
        if fit.lam is None
        else f"λ = {fit.lam:g}" + ("" if fit.leash is None else f", leash {fit.leash:g}")
    )
    settings = {
        "data": data,
        "losses": "unmarked: some entries are wrong" if unmarked else "marked: what is missing is known",
        "K": f"{fit.W.shape[1]}, {'given' if isinstance(recipe.K, int) else 'chosen'}",
        "adversary": f"{adversary}, {'chosen' if recipe.lam is None else 'given'}",
        "seed": str(recipe.seed),
    }
    if recipe.keep_suspects:
        settings["suspects"] = "counted in the fit"
    if not recipe.as_judged:
        settings["defects"] = f"from suspicion {recipe.threshold:g}, {SIDES[recipe.side]}"
    if choice is not None:
        settings["tried"] = f"{len(choice.scores)} candidates in {choice.seconds:.0f} s"
    return settings | ({"note": " ".join(notes)} if notes else {})


def _findings(data: Dataset, restored: Restoration) -> list[str]:
    missing, total = int((~data.observed).sum()), data.V.size
    wrong, lost = int(restored.defects.sum()), int(restored.unrestorable.sum())
    found = [
        f"Missing: {missing:,} of {total:,} entries ({missing / total:.2%}).",
        f"Wrong, as it looks: {wrong:,} ({wrong / total:.2%}).",
    ]
    if restored.lines:
        found.append("Bad as a whole: " + "; ".join(map(str, restored.lines)) + ".")
    held = int(restored.bounded.sum())
    if held:
        found.append(f"Held at the bound: {held:,} predictions lay above what their row has elsewhere.")
    if lost:
        found.append(f"Not restored: {lost:,} entries. " + " ".join(reasons(data, restored)))
    return found


def reasons(data: Dataset, restored: Restoration) -> list[str]:
    """Why entries could not be restored."""
    sound, lost = data.observed & ~restored.defects, restored.unrestorable
    row, column = AXES[data.kind]
    empty_rows, empty_columns = sound.sum(axis=1) == 0, sound.sum(axis=0) == 0
    said = [
        f"{int(empty.sum()):,} {name}{'s have' if empty.sum() > 1 else ' has'} no sound entry at all."
        for name, empty in ((row, empty_rows), (column, empty_columns))
        if empty.any()
    ]
    others = int((lost & ~empty_rows[:, None] & ~empty_columns).sum())
    if others:
        those = "They" if others == lost.sum() else f"{others:,}"
        said.append(
            f"{those} lie in a {row} or {column} with too few sound entries to tell, or their prediction is "
            "beyond all sound values."
        )
    return said


def _pictures(sight: BeforeAfter) -> str:
    figures = "".join(
        f'<figure><figcaption>{escape(panel.title)}</figcaption><img alt="{escape(panel.alt)}" '
        f'src="{data_url(panel.pixels)}"></figure>'
        for panel in sight[1:]
    )
    return f'<section><h2>{escape(sight.title)}</h2><div class="before-after">{figures}</div></section>'


def _chosen(choice: Choice) -> str:
    """The charts. The first includes Plotly's code."""
    charts = [_chart(error_against_K(choice), with_code=True)]
    if len({score.candidate.treatment for score in choice.scores}) > 2:
        words = "Lowest error over K of each adversary that was tried"
        charts.append(f"<h3>{words}</h3>{_chart(adversary_map(choice), with_code=False)}")
    early = (
        "" if choice.complete else " The choice was ended early; this is the best that was found until then."
    )
    note = f"Error: {RULES[choice.rule]}. {choice.suspects:.1%} of all held-out entries look wrong.{early}"
    if any(math.isinf(score.error) for score in choice.scores):
        note += " Crosses: candidates left out for their typical error, drawn in proportion to it."
    return f"<h2>How it was chosen</h2>{charts[0]}<p>{escape(note)}</p>{''.join(charts[1:])}"


def _chart(figure: go.Figure, *, with_code: bool) -> str:
    html: str = figure.to_html(
        full_html=False, include_plotlyjs=with_code, config={"displaylogo": False, "responsive": True}
    )
    return f"<figure>{html}</figure>"


def _table(settings: Mapping[str, str]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>'
        for name, value in settings.items()
    )
    return f'<table class="settings">{rows}</table>'
