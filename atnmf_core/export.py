"""Results as files: factors as NPZ, measures as CSV, a restoration as a page."""

import io
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from .analysis import pictures
from .analysis.pictures import compare_picture, reach_of
from .analysis.unmixing import PixelSpectrum
from .datasets import Dataset
from .datasets.files.scene_file import SceneFile
from .figures.images import data_url
from .figures.plotting import error_against_K, noise_by_band
from .figures.publish import CHART_STYLE, chart_html
from .figures.report import html_page
from .figures.views import BeforeAfter, before_and_after, defect_sheet, scene_before_after
from .model.metrics import rmse
from .model.problem import Mask, three_digits
from .model.result import HasFactors
from .recipe import RestoreRecipe
from .restoration import Candidate, Choice, Restoration
from .restoration.findings import KINDS, Finding, doubtful_regions, findings, noisy_rows
from .restoration.restore import BOUND
from .restoration.scenes import SceneRestoration
from .sweep.measurements import csv_table

AXES = {"cube": ("band", "pixel"), "faces": ("pixel", "image"), "matrix": ("row", "column")}
"""What the rows and columns of V are called."""
MOST_NAMED = 3  # Regions that a sentence lists
SIDES = {"both": "too dark or too bright", "dark": "too dark", "bright": "too bright"}
STYLE = """
.before-after { display: grid; grid-template-columns: repeat(3, 1fr); gap: 1rem }
.before-after img { width: 100%; image-rendering: pixelated; border: 1px solid var(--line) }
.lead { font-size: 1.1rem }
table.settings { border-collapse: collapse }
.settings th, .settings td { text-align: left; vertical-align: top; padding: 0.2rem 1rem 0.2rem 0 }
.settings th { font-weight: 400; color: var(--muted); white-space: nowrap }
.settings td { overflow-wrap: anywhere }
"""


def restoration_page(data: Dataset, restored: Restoration, settings: Mapping[str, str]) -> str:
    lead = restored.choice.verdict if restored.choice else "K, λ and leash were given, not chosen."
    found = findings(data, restored)
    kinds = _kinds(data, found) + (_noise(data, restored) if data.kind == "cube" else "")
    sights = before_and_after(data, restored)
    return _page(
        data.title, lead, _told(data, restored, found), sights, restored.choice, settings, kinds=kinds
    )


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
    *,
    kinds: str = "",
) -> str:
    listed = "".join(f"<li>{escape(finding)}</li>" for finding in findings)
    body = [f'<p class="lead">{escape(lead)}</p><ul>{listed}</ul>', *map(_pictures, pictures), kinds]
    if choice is not None:
        body.append(_chosen(choice))
    body.append(f"<h2>Settings</h2>{_table(settings)}")
    return html_page(f"{title}, restored", "".join(body), STYLE + CHART_STYLE)


def report_settings(
    recipe: RestoreRecipe, data: str, model: Candidate, choice: Choice | None, notes: Sequence[str]
) -> dict[str, str]:
    unmarked = recipe.losses == "unmarked"
    lam, leash = model.treatment.lam, model.treatment.leash
    adversary = "none" if lam is None else f"λ = {lam:g}" + ("" if leash is None else f", leash {leash:g}")
    settings = {
        "data": data,
        "losses": "unmarked: some entries are wrong" if unmarked else "marked: what is missing is known",
        "K": f"{model.K}, {'given' if isinstance(recipe.K, int) else 'chosen'}",
        "adversary": f"{adversary}, {'chosen' if recipe.lam is None else 'given'}",
        "seed": str(recipe.seed),
    }
    if not recipe.as_judged:
        settings["defects"] = f"from suspicion {recipe.threshold:g}, {SIDES[recipe.side]}"
    if choice is not None:
        settings["tried"] = f"{len(choice.scores)} candidates in {choice.seconds:.0f} s"
    return settings | ({"note": " ".join(notes)} if notes else {})


def _kinds(data: Dataset, found: Sequence[Finding]) -> str:
    if not found:
        return ""
    figures = "".join(
        f"<figure><figcaption>{finding.count:,} {KINDS[finding.kind]}</figcaption><img "
        f'alt="Where entries are {KINDS[finding.kind]}" '
        f'src="{data_url(defect_sheet(data, finding.mask))}"></figure>'
        for finding in found
    )
    note = "The brighter a pixel, the more of its bands." if data.kind == "cube" else "Those are white."
    return f'<h2>What was wrong</h2><div class="before-after">{figures}</div><p>{note}</p>'


def _noise(data: Dataset, restored: Restoration) -> str:
    chart = chart_html(noise_by_band(data, restored.noise, noisy_rows(restored.noise)))
    return f"<h2>Noise by band</h2><figure>{chart}</figure>"


def _told(data: Dataset, restored: Restoration, kinds: Sequence[Finding]) -> list[str]:
    lost = int(restored.unrestorable.sum())
    row = AXES[data.kind][0]
    found = [f"{finding}." for finding in kinds] or ["Nothing looks wrong."]
    noisy = noisy_rows(restored.noise)
    if noisy:
        found.append(f"Noisy: {row} {in_ranges(noisy)}.")
    found += filter(None, [how_sure(data, restored)])
    held = int(restored.bounded.sum())
    if held:
        found.append(
            f"{held:,} predictions beyond everything measured in the same {row} were capped at {BOUND:g} "
            "times the most extreme value there."
        )
    if lost:
        found.append(f"{lost:,} entries could not be restored. " + " ".join(reasons(data, restored)))
    return found


def in_ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers in words, neighbours together."""
    firsts = [number for number in numbers if number - 1 not in numbers]
    lasts = [number for number in numbers if number + 1 not in numbers]
    return ", ".join(
        f"{first}" if first == last else f"{first} to {last}"
        for first, last in zip(firsts, lasts, strict=True)
    )


def how_sure(data: Dataset, restored: Restoration) -> str:
    """The error to expect, and where it does not hold; empty if nothing was done."""
    said = []
    is_replaced = ((restored.defects | ~data.observed) & ~restored.unrestorable).any()
    if is_replaced or restored.offsets is not None:
        changed = "replaced" if is_replaced else "taken off"
        expected = restored.expected_error
        share = expected / float(np.abs(data.V[data.observed]).mean() or 1.0)
        said.append(
            f"Typical error of what was {changed}: ±{three_digits(expected)}, {share:.1%} of the mean value."
        )
    if (noise := only_noise(data, restored)) is not None:
        kept, off = map(three_digits, noise)
        said.insert(
            0,
            f"There is noise on every entry: measured values are off by about ±{kept}, the data denoised "
            f"everywhere by about ±{off}, {noise[1] / noise[0]:.0%} of that.",
        )
    elif restored.is_smoothed:
        median, off = map(three_digits, (float(np.median(restored.noise)), restored.denoised_error))
        said.append(
            f"There is noise, ±{median} in the median {AXES[data.kind][0]}: measured values keep it; the "
            f"data denoised everywhere is typically off by ±{off}."
        )
    regions = doubtful_regions(data, restored)
    if regions:
        some = "; ".join(map(str, regions[:MOST_NAMED])) + ("; …" if len(regions) > MOST_NAMED else "")
        unsure = "This does not hold" if said else "Nobody can be sure"
        said.append(f"{unsure} where most bands look wrong: {some}.")
    return " ".join(said)


NEXT_TO_NOTHING, LITTLE_NOISE, ALIKE = 0.01, 1e-3, 0.1
"""Shares of wrong entries, of noise in the mean value, and the correlation of neighbours up to which what a
model leaves over is noise.
"""


def only_noise(data: Dataset, restored: Restoration) -> tuple[float, float] | None:
    """Root mean square errors of a cube in which nothing but noise on every entry is wrong: as measured, and
    denoised; None of other data.

    What the model leaves over is noise where it is unrelated between neighbouring pixels. As in any least
    squares, the model takes up a share of it: that of its free numbers, K (F + N - K), in all F N.
    """
    wrong = restored.defects | ~data.observed
    if data.kind != "cube" or restored.offsets is not None or wrong.mean() > NEXT_TO_NOTHING:
        return None
    left = np.where(wrong, 0.0, data.V - restored.denoised)
    noise = float(np.sqrt(np.square(left).mean()))
    if noise < LITTLE_NOISE * float(np.abs(data.V[data.observed]).mean()):
        return None
    if restored.is_smoothed:
        return noise, restored.denoised_error
    images = data.images(left / (left.std(axis=1, keepdims=True) + 1e-300))
    related = [
        float(np.median(np.mean(one * other, axis=(1, 2))))
        for one, other in ((images[:, 1:], images[:, :-1]), (images[:, :, 1:], images[:, :, :-1]))
    ]
    (F, N), K = data.shape, restored.model.K
    return None if max(related) > ALIKE else (noise, noise * (K * (F + N - K) / (F * N)) ** 0.5)


def reasons(data: Dataset, restored: Restoration) -> list[str]:
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
            f"{those} lie in a {row} or {column} with too few sound entries, or their prediction is "
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
    early = "" if choice.complete else " The choice was ended early; this is the best so far."
    note = (
        "Error: root mean square over entries that look sound, each predicted from the other entries of its "
        f"column. While it was chosen, {choice.suspects:.1%} of all entries were suspects.{early}"
    )
    chart = chart_html(error_against_K(choice))
    return f"<h2>How it was chosen</h2><figure>{chart}</figure><p>{escape(note)}</p>"


def _table(settings: Mapping[str, str]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>'
        for name, value in settings.items()
    )
    return f'<table class="settings">{rows}</table>'


def factors_npz(fits: Mapping[str, HasFactors], observed: Mask) -> bytes:
    """W and H of each fit, as W_<name> and H_<name>, and the mask; `numpy.load` reads it."""
    arrays: dict[str, npt.NDArray[np.generic]] = {"observed": observed}
    for name, fit in fits.items():
        arrays |= {f"W_{name}": fit.W, f"H_{name}": fit.H}
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def measures_csv(
    data: Dataset, observed: Mask, atnmf: HasFactors, nmf: HasFactors, *, lam: float, keep_observed: bool
) -> str:
    """Two lines for all of the data, then one per picture and method: RMSE, PSNR and SSIM."""
    lines: list[tuple[object, ...]] = [
        ("all", method, _fixed(rmse(data.V, fit.W @ fit.H, ~observed)), "", "")
        for method, fit in (("AT-NMF", atnmf), ("NMF", nmf))
    ]
    factors = (atnmf.W, atnmf.H), (nmf.W, nmf.H)
    reach = reach_of(observed)
    for index in range(pictures.count(data)):
        compared = compare_picture(
            data, observed, *factors, index, lam=lam, keep_observed=keep_observed, reach=reach
        )
        for method, measures in zip(("AT-NMF", "NMF"), compared.measures(), strict=True):
            lines.append((index + 1, method, *(_fixed(value) for value in measures)))
    return csv_table(("picture", "method", "RMSE", "PSNR", "SSIM"), lines)


def spectra_csv(data: Dataset, spectra: Sequence[PixelSpectrum]) -> str:
    """One line per pixel and band: its true value, whether it was observed, and each method's prediction."""
    methods = list(spectra[0].predicted) if spectra else []
    lines: list[tuple[object, ...]] = []
    for one in spectra:
        for f, value in enumerate(one.original):
            nm = "" if data.wavelengths is None else f"{data.wavelengths[f]:.7g}"
            predicted = (_number(one.predicted[method][f]) for method in methods)
            seen = int(one.observed[f])
            lines.append((one.row + 1, one.col + 1, f + 1, nm, _number(value), seen, *predicted))
    return csv_table(("row", "column", "band", "nm", "original", "observed", *methods), lines)


def _fixed(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.6f}"


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.7g}"
