"""How good is it? What was measured, kind of damage by kind of damage, against other methods."""

from html import escape
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from atnmf_core.model.problem import three_digits
from atnmf_core.reference.league import (
    DECIBELS,
    LEAGUE_DATA,
    OURS,
    PARTS,
    YARDSTICK,
    LeagueRow,
    compared,
    league,
)
from pages.common.address import change
from pages.common.data import UPLOAD
from pages.common.widgets import text_of

from .pictures import percent
from .setting import ADDRESS, DAMAGES, RestoreSetting
from .sidebar import choose_own_file

FIRST = "simulated-scene"
OPENS: dict[str, dict[str, float]] = {
    "10 % dark": {"dead": 0.1},
    "30 % dark": {"dead": 0.3},
    "50 % dark": {"dead": 0.5},
    "5 % bright": {"cosmic": 0.05},
    "10 % dark and 5 % bright": {"dead": 0.1, "cosmic": 0.05},
    "dead columns in a quarter of the bands": {"dead_columns": 0.1},
    "stripes in a third of the bands": {"stripes": 0.2},
    "salt and pepper, 5 %": {"salt": 0.05},
    "salt and pepper, 20 %": {"salt": 0.2},
    "5 % dark, noise of 1 to 5 % by band": {"dead": 0.05, "band_noise": 0.05},
    "everything at once": {
        "dead": 0.05,
        "cosmic": 0.02,
        "band_noise": 0.05,
        "stripes": 0.1,
        "dead_columns": 0.05,
        "salt": 0.03,
    },
    "a shadow over all bands": {"shadow": 0.1},
    "a slow drift over all bands": {"drift": 0.2},
    "10 % at random": {"dead": 0.1},
    "30 % at random": {"dead": 0.3},
    "50 % at random": {"dead": 0.5},
    "a fifth of the image columns, other ones in each band": {"streaks": 0.2},
    "twelve blocks in a third of the bands each": {"block": 0.2},
    "half of the bands in half of the image": {"block": 0.2},
    "one block, lost in all bands": {"lost": 0.05},
    "case1": {"noise": 0.3},
    "case2": {"noise": 0.3, "dead_columns": 0.05},
    "case3": {"noise": 0.2, "salt": 0.15},
    "case4": {"noise": 0.2, "salt": 0.15, "dead_columns": 0.05},
    "case5": {"band_noise": 0.3, "salt": 0.1, "dead_columns": 0.05},
    "case6": {"band_noise": 0.3, "salt": 0.1, "dead_columns": 0.05, "stripes": 0.1},
}
"""Damage to try that is like the one that was measured."""
BESIDES, SMALLEST = ", and a ", 0.01  # What names a block that is there besides, and its share of the entries
HERE = ("simulated-scene", "lfw", "moffet", "madonna", "cbcl")
"""Data that the page has, or offers to fetch; for the others the simulated scene stands in."""
_STYLE = Path(__file__).parent / "league.css"
PUBLISHED = ("LRMR", "LRTV", "LRTDTV", "E-3DTV")


def show_title(setting: RestoreSetting) -> None:
    """The title, and below it the way to data of one's own, and to the league or back."""
    if setting.league:
        st.title("How good is it?", anchor=False)
        words, icon, league = "Back to restoring", ":material/arrow_back:", ""
    else:
        st.title("Bring damaged data, take it home whole", anchor=False)
        words, icon, league = "How good is it? Measured against others", ":material/leaderboard:", FIRST
    with st.container(horizontal=True, gap="small"):
        if not setting.league and setting.data != UPLOAD:
            st.button("Bring your own file", icon=":material/upload_file:", on_click=choose_own_file)
        st.button(words, icon=icon, type="tertiary", on_click=change, kwargs={"restore_league": league})


def show_league(setting: RestoreSetting) -> None:
    """All that was measured on one data set, and what came of it on all of them."""
    st.markdown(verdict(compared()))
    measured = {row.data for row in league()}
    names = {data: title for data, title in LEAGUE_DATA.items() if data in measured}
    ADDRESS.draw("league", among=names, widget=_pills)
    now = ADDRESS.get(RestoreSetting)
    ADDRESS.write()
    rows = [row for row in league() if row.data == now.league]
    for part, title in PARTS.items():
        of_part = [row for row in rows if row.part == part]
        if of_part:
            st.header(title, anchor=False)
            st.html(f"<style>{text_of(_STYLE)}</style>{table(of_part)}")
    st.caption(NOTE)


NOTE = f"""
Root mean square error against the undamaged data, over all entries, or over the missing ones where they are
marked; for the six cases the mean peak signal-to-noise ratio in decibels, of which more is better. Restore
was told nothing but whether what is wrong is marked; with noise its denoised data is compared. NMF and L1-NMF
had the best of three K. “{YARDSTICK}” knows which entries are wrong: a yardstick, not a rival. Published
figures are those of their authors. Numbers lead to such damage on this page, on data that is here; this page
has no saturated and no shifted block to try, no gaps in half of the entries of a band, and no wedges.
"""


def _pills(label: str, names: dict[str, str], *, index: int, **options: object) -> None:
    st.pills(label, names, default=list(names)[index], required=True, label_visibility="collapsed", **options)


NEAR = 1.1  # The error is near the best one up to so many times


def verdict(rows: tuple[LeagueRow, ...]) -> str:
    """In how many cells nothing else is better, and where something is by far; the tables show all."""
    lost = [row for row in rows if row.best != OURS]
    far = [row for row in lost if row.measure == DECIBELS or row.means[OURS] > NEAR * row.means[row.best]]
    won, near = len(rows) - len(lost), len(lost) - len(far)
    said = f"Measured against others in **{len(rows)}** cells, `restore` is best in **{won}**"
    said += f", and within {NEAR - 1:.0%} of the best in {near} more." if near else "."
    where = "; ".join(f"{LEAGUE_DATA[row.data]}, {_title(row)} ({row.best})" for row in far)
    return f"{said} It loses in {len(far)}: {where}." if far else said


def table(rows: list[LeagueRow]) -> str:
    """As HTML: damage down, methods across; best and lost cells are marked in words, too."""
    methods = [OURS, *sorted({name for row in rows for name in row.rivals}, key=_place), YARDSTICK]
    methods = [name for name in methods if any(name in row.means for row in rows)]
    heads = "".join(f'<th scope="col">{escape(_named(name))}</th>' for name in methods)
    body = "".join(
        f'<tr><th scope="row">{escape(_title(row))}</th>{"".join(_cell(row, name) for name in methods)}</tr>'
        for row in rows
    )
    took = "".join(f"<td>{_seconds(rows, name)}</td>" for name in methods)
    draws = max(row.seeds for row in rows)
    foot = f'<tr class="seconds"><th scope="row">seconds of one core</th>{took}</tr>'
    caption = f"{rows[0].measure}, mean of {draws} draw{'' if draws == 1 else 's'}"
    return (
        f'<div class="league" tabindex="0" role="region" aria-label="{escape(PARTS[rows[0].part])}">'
        f'<table><caption>{caption}</caption><thead><tr><th scope="col">damage</th>{heads}</tr></thead>'
        f"<tbody>{body}{foot}</tbody></table></div>"
    )


ORDER = ("PCP", "Soft-impute", "3 x 3 median", "Biharmonic inpainting", "L1-NMF", "NMF", *PUBLISHED)


def _place(name: str) -> tuple[int, str]:
    return (ORDER.index(name) if name in ORDER else len(ORDER), name)


def _named(name: str) -> str:
    return f"{name}, published" if name in PUBLISHED else name


def _title(row: LeagueRow) -> str:
    return row.damage.replace("case", "case ") if row.part == "six" else row.damage


def _cell(row: LeagueRow, name: str) -> str:
    if name not in row.means:
        return "<td>–</td>"
    mean, best = row.means[name], row.means[row.best]
    number = f"{mean:.1f}" if row.measure == DECIBELS else three_digits(mean)
    words, style = "", ""
    if row.rivals and name == row.best:
        words, style = "best", "best"
    elif row.rivals and name == OURS:
        words = (
            f"{percent(mean / best - 1)} behind" if mean < 2 * best else f"{mean / best:.2g} times the best"
        )
        words = f"{best - mean:.1f} dB behind" if row.measure == DECIBELS else words
        style = "lost"
    address = link(row, name)
    number = f'<a href="{escape(address)}" target="_self">{number}</a>' if address else number
    return f'<td class="{style}">{number}{f"<small>{words}</small>" if words else ""}</td>'


def link(row: LeagueRow, name: str) -> str:
    """The damage on this page, with the others beside it where the number is one of theirs."""
    damage, _, block = row.damage.partition(BESIDES)
    if damage not in OPENS or block not in ("", "dark block"):
        return ""
    shares = OPENS[damage] | ({"block": SMALLEST} if block else {})
    query: dict[str, object] = {"data": row.data if row.data in HERE else FIRST}
    marked = row.part == "marked" or "at random" in row.damage
    query |= {
        share: f"{shares.get(share, 0):g}" for share in DAMAGES if shares.get(share, 0) or share == "dead"
    }
    query |= {"losses": "marked"} if marked else {}
    query |= {"result": "denoised"} if row.part == "six" or "noise" in row.damage else {}
    query |= {"others": 1} if name != OURS else {}
    return f"?{urlencode(query)}"


def _seconds(rows: list[LeagueRow], name: str) -> str:
    took = [row.seconds[name] for row in rows if name in row.seconds]
    return f"{sum(took) / len(took):.2g}" if took else "–"
