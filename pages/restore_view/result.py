"""The result: pictures, spectrum, and a closer look at the suspects that follows the threshold at once."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from atnmf_core import Dataset
from atnmf_core.export import AXES, how_sure, in_ranges, only_noise, reasons
from atnmf_core.figures.images import HIDDEN
from atnmf_core.figures.plotting import candidate_at, error_against_K
from atnmf_core.model.problem import Mask, three_digits
from atnmf_core.restoration import Choice
from atnmf_core.restoration.choice import EQUAL, WORTH
from atnmf_core.restoration.findings import (
    KINDS,
    Finding,
    Region,
    doubtful_regions,
    findings,
    lines_mask,
    noisy_rows,
)
from atnmf_core.restoration.lines import BadLine
from atnmf_core.restoration.restore import BOUND, mostly_bad, shares_along
from atnmf_core.restoration.task import Errors
from pages.common.address import change
from pages.common.cache import cached
from pages.common.controls import spell_pixel
from pages.common.data import UPLOAD
from pages.common.setting import MAX_LAM
from pages.common.widgets import component, show_chart

from .jobs import FRESH, Key, Restored, as_wanted, ask, choice_of, key_of, questions_of
from .pictures import (
    choose_picture,
    error_of,
    named,
    percent,
    rivals_of,
    show_marking,
    show_pictures,
    show_rivals_switch,
    show_spectrum,
)
from .setting import ADDRESS, RestoreSetting
from .take_away import show_download, show_take_away

# What came of it, in a sentence or two, and how the setting was chosen.


CHART = "restore_K"
HOW_IT_WAS_CHOSEN = {
    "unmarked": "Each entry is predicted from the others of its {column}. Chosen is the model under which "
    f"the data is most probable (log density per entry, shown at each point): of those within {EQUAL:g} the "
    f"one with the fewest parts, with an adversary only if it gains {WORTH:g} or more. ",
    "marked": "Gaps shaped like yours were moved to where the data is sound. Chosen is the model that "
    f"predicts these best: of those within {EQUAL:.1%} the one with the fewest parts. ",
}
CLICK = "Click a point to restore with that setting."


def show_nothing_missing() -> None:
    """Marked losses of data that has none, and what to do next."""
    st.info(
        "Nothing is missing in this data, so there is nothing to restore. Some entries may be wrong all the "
        "same: have them looked for, or try some damage in the sidebar.",
        icon=":material/check_circle:",
    )
    st.button(
        "Look for wrong entries",
        icon=":material/search:",
        on_click=change,
        kwargs={"restore_losses": "unmarked"},
    )


def show_verdict(setting: RestoreSetting, shown: Restored) -> None:
    """What was found or, where the truth is known, the errors; and how sure that is."""
    with st.container(key="callout", gap="xsmall"):
        st.markdown(_sentence(setting, shown))
        if sure := how_sure(shown.data, shown.restoration):
            st.caption(sure)


def _sentence(setting: RestoreSetting, shown: Restored) -> str:
    if shown.errors is not None:
        if setting.losses == "marked":
            return _of_marked(shown.errors)
        said = _of_unmarked(shown.errors, _error(key_of(setting, shown.truth or shown.data), setting, shown))
        # Noise is on every entry, and what is lost is seen to be missing: there was nothing to find.
        some = shown.wrong is not None and bool((shown.wrong & shown.data.observed).any())
        return said + (_hits(shown.errors) if some else "")
    restoration, data = shown.restoration, shown.data
    found, missing = int(restoration.defects.sum()), int((~data.observed).sum())
    lost = int(restoration.unrestorable.sum())
    if setting.losses == "marked":
        if lost == missing:
            return f"None of the **{missing:,}** missing entries can be predicted."
        rest = f"; {lost:,} cannot be" if lost else ""
        return f"**{missing - lost:,}** missing entries are predicted{rest}."
    if not found and not missing:
        if only_noise(data, restoration) is not None:
            return "**No entry looks wrong**, but all have noise: take home the data denoised everywhere."
        if restoration.offsets is not None:
            return f"**No entry looks wrong** by itself; {_off_stripes(restoration.offsets)}."
        return (
            "**No entry looks wrong:** there is nothing to restore. For data with noise choose “Denoised "
            "everywhere”. Lower the threshold to see what comes closest to a defect, or try damage in the "
            "sidebar to see what would be found."
        )
    were = f"{missing:,} {'was' if missing == 1 else 'were'} missing"
    looks = (
        f"**{found:,}** {'entry looks' if found == 1 else 'entries look'} wrong ({found / data.V.size:.2%})"
    )
    said = (
        f"{looks}, and {were}"
        if found and missing
        else looks
        if found
        else f"**No entry looks wrong**; {were}"
    )
    others = "“Restored” keeps all others as they were measured"
    if restoration.offsets is not None:
        others = _off_stripes(restoration.offsets)
    return f"{said}. {_predicted(found + missing - lost, lost)}; {others}."


def _off_stripes(offsets: npt.NDArray[np.floating]) -> str:
    return f"stripes were taken off **{np.count_nonzero(offsets):,}** entries"


@cached()
def _error(key: Key, _setting: RestoreSetting, _shown: Restored) -> float:
    return error_of(_setting, _shown, _shown.restoration.V)


def _predicted(predicted: int, lost: int) -> str:
    if not predicted:
        return "None of them can be predicted"
    those = f"{predicted:,} of them" if lost else "They" if predicted > 1 else "It"
    are = "is" if predicted == 1 else "are"
    return f"{those} {are} predicted" + (f", and {lost:,} cannot be" if lost else "")


def _of_unmarked(errors: Errors, off: float) -> str:
    """`off` is the error of the result that keeps measured values."""
    kept, made, nmf, told = map(three_digits, (off, errors.restored, errors.nmf, errors.told))
    return (
        f":orange[Restored], not told which entries are bad, is off by **{kept}**, and denoised everywhere "
        f"by **{made}**; :blue[NMF] by **{nmf}**; NMF told the bad entries by **{told}**."
    )


def _hits(errors: Errors) -> str:
    said = f" {errors.recall:.0%} of the bad entries were found"
    return said + (f", and {errors.precision:.0%} of what was found was bad." if errors.recall else ".")


def _of_marked(errors: Errors) -> str:
    return (
        f"The missing entries are predicted with an error of **{three_digits(errors.restored)}** (root mean "
        f"square). :blue[NMF] that takes them for zeros is off by **{three_digits(errors.nmf)}**; leaving "
        f"them at zero, by {three_digits(errors.damaged)}."
    )


def show_choice(setting: RestoreSetting, data: Dataset) -> None:
    """The error against K for each first prediction; a point can be chosen."""
    choice = choice_of(setting, data)
    if choice is None:
        return
    st.header("Why this setting" if setting.by == "search" else "What the search found", anchor=False)
    st.markdown("**Error of entries predicted from others, by number of parts**")
    alt = "Error against the number of parts K, a line for each first prediction"
    click = partial(_choose, choice, data)
    figure = error_against_K(choice, height=320)
    show_chart(figure, CHART, alt, on_select=click, selection_mode="points")
    st.caption(HOW_IT_WAS_CHOSEN[setting.losses].format(column=AXES[data.kind][1]) + CLICK)


def _choose(choice: Choice, data: Dataset) -> None:
    """Restore with the setting that was clicked, as if set by hand."""
    points = st.session_state[CHART].selection.points
    if not points:
        return
    chosen = candidate_at(choice, points[0]["x"], points[0]["y"])
    if chosen is None:
        return
    lam, leash = chosen.treatment.lam, chosen.treatment.leash
    change(
        restore_by="hand",
        K=chosen.K,
        lam=MAX_LAM if lam is None else lam,
        leash=math.inf if leash is None else leash,
    )
    ask(key_of(ADDRESS.get(RestoreSetting), data))


# What is below the result: drawn only when somebody scrolls there.
#
# Plotly and the colouring of code are six megabytes of script: loading and starting them would take most of
# the time in which the page opens.


REACHED = "restore_reached"


def show_when_reached(setting: RestoreSetting, data: Dataset, shown: Restored) -> None:
    """How the setting was chosen, and what can be taken away."""
    st.fragment(_below)(setting, data, shown)


def _below(setting: RestoreSetting, data: Dataset, shown: Restored) -> None:
    now = ADDRESS.get(RestoreSetting)
    if (now.task, now.others) != (setting.task, setting.others):
        # A point of the chart was clicked.
        st.rerun()
    reached = st.session_state.get(REACHED)
    if reached:
        show_choice(now, data)
        show_take_away(now, shown, choice_of(now, data))
    component("reached", page="restore_view")(
        data={"label": "" if reached else "Why this setting, and downloads"},
        key="restore_end",
        on_reached_change=lambda: change(**{REACHED: True}),
    )


# When not to trust a restoration: a sentence where it matters, and more for those who want to know.


UNMARKED = """
- **Most of every {row} and of every {column} has to be sound.** A {column} that is wrong in most places looks
  like one that is meant to be so.
- **What is dark by one factor in most bands or images looks like another scene**: a shadow, a block in more
  than half of the image or up to the last band, a column in most bands. Such entries are found in part or not
  at all, and the typical error knows nothing of them.
- **A defect has to stand out from what the model cannot describe.** In a band full of noise, or beside the
  eyes of a face, defects look like the rest and stay in.
"""
MARKED = """
- **A {row} or {column} with nothing left cannot be predicted from others**, and one with little left hardly
  can.
- **Whole lines and blocks are harder than single entries.** The deviations come from gaps shaped like yours,
  moved to where the data is sound.
- **Only what is missing changes.** Values that are there but wrong stay, and mislead the prediction.
"""


def show_limits(setting: RestoreSetting, shown: Restored) -> None:
    """A warning where most of a row or column looks wrong, and what else can go wrong."""
    row, column = AXES[shown.data.kind]
    if setting.losses == "unmarked":
        _warning(shown, row, column)
    limits = st.expander(
        "When not to trust this",
        key=f"restore_limits_{setting.losses}",
        expanded=setting.losses == "marked",
        on_change="rerun",
    )
    if limits.open:
        limits.markdown((UNMARKED if setting.losses == "unmarked" else MARKED).format(row=row, column=column))


def _warning(shown: Restored, row: str, column: str) -> None:
    bad = mostly_bad(shown.restoration.defects, shown.data.observed)
    counts = dict(zip((row, column), bad, strict=True))
    found = [f"{count:,} {name}{'' if count == 1 else 's'}" for name, count in counts.items() if count]
    if found:
        st.warning(
            f"More wrong than sound entries in {' and '.join(found)}: what is restored there is little more "
            "than a guess.",
            icon=":material/warning:",
        )


FEW = 0.01
"""Up to this share of the wanted entries, those that cannot be restored are worth a line and no warning."""


def show_result(setting: RestoreSetting, shown: Restored, whole: Dataset) -> None:
    """A fragment: looking around changes nothing else on the page but, soon after, what can be taken away.

    `whole` is the data with what was marked as wrong.
    """
    st.fragment(_result)(setting, shown, whole)


def _result(setting: RestoreSetting, shown: Restored, whole: Dataset) -> None:
    ADDRESS.restore()
    now = ADDRESS.get(RestoreSetting)
    if (now.marks, now.mask) != (setting.marks, setting.mask):
        st.rerun()
    if st.session_state.pop(FRESH, False) and now.data == UPLOAD:
        now = _what_matters_most(now, shown)
    others, shown = rivals_of(now, shown), as_wanted(now, shown)
    data, restoration, marked = shown.data, shown.restoration, now.losses == "marked"
    found = findings(data, restoration, questions_of(data.content_hash, data))
    of_kind = _what_was_wrong(found, data)
    of_kind = _in_doubt(doubtful_regions(data, restoration)) or of_kind
    _which_result(now, shown)
    choose_picture(now, shown.truth or data)
    show_marking(now, whole)
    show_pictures(now, shown, others, of_kind)
    show_rivals_switch(now, shown)
    _unrestorable(shown)
    left, right = st.columns(2, gap="medium") if data.kind == "cube" or not marked else [st.container()] * 2
    if data.kind == "cube":
        with left:
            show_spectrum(now, shown)
    if not marked:
        with right if data.kind == "cube" else left:
            _suspects(shown)
    with right:
        show_limits(now, shown)
    _bars(now, shown, of_kind)
    ADDRESS.write()


def _what_matters_most(setting: RestoreSetting, shown: Restored) -> RestoreSetting:
    """What was just restored is shown in a band or image where the most frequent kind of damage is, and
    denoised if noise outweighs the damage.
    """
    data, restoration = shown.data, shown.restoration
    noise = only_noise(data, restoration)
    # Who brings a dark block wants the rest back as it was measured.
    damage = np.where(restoration.defects, data.V - restoration.denoised, 0.0)
    if noise is not None and np.square(damage).mean() < noise[0] ** 2:
        change(restore_result="denoised")
    # A band without any data shows nothing.
    found = findings(data, restoration, questions_of(data.content_hash, data))
    kinds = [finding.mask & ~restoration.unrestorable for finding in found]
    wrong = max(kinds, key=np.count_nonzero, default=shown.all_wrong)
    by_image = wrong.sum(axis=1 if data.kind == "cube" else 0)
    if data.kind != "matrix" and by_image.any() and not by_image[min(setting.image, len(by_image)) - 1]:
        change(image=int(by_image.argmax()) + 1)
    return ADDRESS.get(RestoreSetting)


def _what_was_wrong(found: Sequence[Finding], data: Dataset) -> Finding | None:
    """Each kind with its count and share; the one that is chosen, or a line of it, is shown alone."""
    if not found:
        return None
    names = {"all": "All"} | {
        finding.kind: f"{finding.count:,} {KINDS[finding.kind]}, {percent(finding.share)}"
        for finding in found
    }
    if st.session_state["restore_wrong"] not in names:
        change(restore_wrong="all")
    ADDRESS.draw("wrong", among=names, widget=_pills, on_change=_look_there, args=(found, data.kind))
    chosen = next((one for one in found if one.kind == st.session_state["restore_wrong"]), None)
    if chosen is None or not (chosen.lines or chosen.regions):
        return chosen
    st.caption(str(chosen))
    if chosen.regions:
        number = _places("Where", list(map(str, chosen.regions)), IN_BLOCKS, _look_at, chosen.regions)
        return chosen if number is None else Finding(chosen.kind, chosen.regions[number].mask)
    lines = _one_of_each_first(
        sorted(chosen.lines, key=lambda line: (-abs(line.offset), -(line.last - line.first)))
    )
    number = _places("Where", list(map(str, lines)), f"restore_in_{chosen.kind}", _look_along, data, lines)
    if number is None:
        return chosen
    return Finding(chosen.kind, lines_mask(data, (lines[number],)), (lines[number],))


def _one_of_each_first(lines: Sequence[BadLine]) -> list[BadLine]:
    """So that a list of the first few names every line, however many bands each is bad in."""
    seen: Counter[tuple[str, int]] = Counter()
    turns = []
    for line in lines:
        turns.append(seen[line.what, line.first])
        seen[line.what, line.first] += 1
    return [lines[n] for n in sorted(range(len(lines)), key=turns.__getitem__)]


IN_DOUBT, IN_BLOCKS = "restore_in_doubt", "restore_in_blocks"
MOST_LISTED = 12
LONG = 60  # Letters that the noisy bands may take in a title


def _in_doubt(regions: Sequence[Region]) -> Finding | None:
    """Every region that the restoration cannot be sure of; a click leads there and shows it alone."""
    if not regions:
        return None
    number = _places(
        f"{len(regions)} region{'' if len(regions) == 1 else 's'} that nobody can be sure of",
        list(map(str, regions)),
        IN_DOUBT,
        _look_at,
        regions,
        help="Where most bands of a pixel look wrong, the typical error does not hold.",
    )
    return None if number is None else Finding("doubtful", regions[number].mask)


def _places(
    label: str, words: list[str], key: str, lead: Callable[..., None], *about: object, help: str | None = None
) -> int | None:
    """Places to be led to, the first of many: the number of the one that was clicked."""
    names = dict(enumerate(words[:MOST_LISTED]))
    if st.session_state.get(key) not in names:
        st.session_state.pop(key, None)
    st.pills(label, names, format_func=names.get, key=key, on_change=lead, args=(key, *about), help=help)
    if len(words) > MOST_LISTED:
        st.caption(f"{MOST_LISTED} of {len(words):,} are listed.")
    number: int | None = st.session_state.get(key)
    return number


def _look_at(key: str, regions: Sequence[Region]) -> None:
    number = st.session_state.get(key)
    if number is not None:
        region = regions[number]
        change(image=region.band, pixel=spell_pixel(region.pixel), restore_view="band")


def _look_along(key: str, data: Dataset, lines: Sequence[BadLine]) -> None:
    number = st.session_state.get(key)
    if number is not None and data.kind != "matrix":
        first = np.argwhere(data.layout.unfold(lines_mask(data, (lines[number],))))
        image, row, col = (first[len(first) // 2] if data.kind == "cube" else first[0]) + 1
        where = {"pixel": spell_pixel((int(row), int(col)))} if data.kind == "cube" else {}
        change(image=int(image), restore_view="band", **where)


def _pills(label: str, names: Mapping[str, str], *, index: int, **options: Any) -> None:
    """Segments that wrap."""
    st.pills(label, names, default=list(names)[index], required=True, **options)


def _look_there(found: Sequence[Finding], kind: str) -> None:
    """The band or image with most of what was chosen."""
    chosen = next((one for one in found if one.kind == st.session_state["restore_wrong"]), None)
    if chosen is not None and kind != "matrix":
        change(image=int(chosen.mask.sum(axis=1 if kind == "cube" else 0).argmax()) + 1, restore_view="band")


def _which_result(setting: RestoreSetting, shown: Restored) -> None:
    """The two results, what to expect of the one in view, and that one to take home."""
    restoration, row = shown.restoration, AXES[shown.data.kind][0]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        ADDRESS.draw("result", label_visibility="collapsed")
        if setting.result == "denoised":
            noise = only_noise(shown.data, restoration)
            off = three_digits(restoration.denoised_error if noise is None else noise[1])
            how_far = (
                f"Typical error everywhere: ±{off}."
                if restoration.is_smoothed or noise is not None
                else f"Typically ±{off} from what would have been measured, with its noise."
            )
            st.caption(f"Every value changes. {how_far}")
        else:
            left = three_digits(float(np.median(restoration.noise)))
            st.caption(f"Measured values are kept, with their noise: ±{left} in the median {row}.")
        changed = shown.all_wrong.any() or restoration.is_smoothed
        if shown.truth is None and (changed or setting.result == "denoised"):
            show_download(setting, shown)


def _suspects(shown: Restored) -> None:
    """The threshold, and what it lets through."""
    wrong = shown.restoration.defects
    ADDRESS.draw("threshold")
    ADDRESS.draw("side")
    st.markdown(
        f"**{int(wrong.sum()):,}** of {shown.data.V.size:,} entries count as defects, {wrong.mean():.2%}. "
        + _found(shown, wrong)
    )


def _bars(setting: RestoreSetting, shown: Restored, of_kind: Finding | None) -> None:
    """Where what was wrong is frequent: along the bands, the rows and the columns. And the noise by band. A
    click leads to a band or image.
    """
    data, restoration = shown.data, shown.restoration
    lines = restoration.lines
    wrong = shown.all_wrong if of_kind is None else of_kind.mask
    colour = HIDDEN[setting.colour]
    what = "All that was wrong" if of_kind is None else named(of_kind).capitalize()
    charts = [
        {
            "title": f"{what} by {name}, %",
            "label": _label(what, name, shares),
            "values": (100 * shares).tolist(),
            "bad": [[line.first, line.last] for line in lines if line.what == name and line.bands is None],
        }
        for name, shares in shares_along(wrong, data).items()
        if wrong.any()
    ]
    if data.kind == "cube":
        noisy = noisy_rows(restoration.noise)
        where = f"band {in_ranges(noisy)}"
        if len(where) > LONG:
            where = f"{len(noisy)} of {len(restoration.noise)} bands"
        bands = f": far more than usual in {where}" if noisy else ""
        at = data.wavelengths
        if at is not None and (np.diff(at) <= 0).any():
            at = None
        along = "band" if at is None else "wavelength in nm"
        charts.append(
            {
                "title": f"Noise by {along}, standard deviation{bands}",
                "label": f"Noise by band{bands}",
                "values": restoration.noise.tolist(),
                "at": None if at is None else at.tolist(),
                "bad": [[band, band] for band in noisy],
            }
        )
    component("bars", "chart", page="restore_view")(
        key="restore_bars",
        data={
            "charts": charts,
            "colour": colour,
            "first": data.kind != "matrix",
            # What is at the end of the page follows, without being waited for.
            "judged": f"{setting.threshold} {setting.side} {setting.result}",
        },
        on_picked_change=_go_to_band,
    )


def _go_to_band() -> None:
    change(image=int(st.session_state["restore_bars"]["picked"]), restore_view="band")


def _label(what: str, name: str, shares: npt.NDArray[np.floating]) -> str:
    worst = int(shares.argmax())
    return f"{what} by {name}: most in {name} {worst + 1}, {shares[worst]:.0%}"


def _found(shown: Restored, wrong: Mask) -> str:
    """Against the damage that was done, where it is known."""
    if shown.wrong is None or not shown.wrong.any() or not wrong.any():
        return ""
    they = "They"
    if shown.restoration.offsets is not None:
        wrong, they = wrong | (shown.restoration.offsets != 0), "With what was in stripes, they"
    hits = int((wrong & shown.wrong).sum())
    return (
        f"{they} include **{hits / shown.wrong.sum():.0%}** of the {int(shown.wrong.sum()):,} damaged "
        f"entries; **{hits / wrong.sum():.0%}** of them were in fact damaged."
    )


def _unrestorable(shown: Restored) -> None:
    lost, held = int(shown.restoration.unrestorable.sum()), int(shown.restoration.bounded.sum())
    if lost:
        said = (
            f"{lost:,} {'entry' if lost == 1 else 'entries'} could not be restored. In the files to take "
            "away they have the value for missing data, where the format has one. "
            + " ".join(reasons(shown.data, shown.restoration))
        )
        wanted = int((shown.restoration.defects | ~shown.data.observed).sum())
        if lost > FEW * wanted:
            st.warning(said, icon=":material/visibility_off:")
        else:
            st.caption(said)
    if held:
        row = AXES[shown.data.kind][0]
        st.caption(
            f"{held:,} {'prediction' if held == 1 else 'predictions'} far beyond everything measured in the "
            f"same {row} {'was' if held == 1 else 'were'} capped at {BOUND:g} times the most extreme "
            "value there."
        )
