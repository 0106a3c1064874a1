"""The league at the top of the README, from the package's reference tables.

Between two marks in the README is what `write_readme` writes there; a test compares them.
"""

import textwrap
from pathlib import Path

from atnmf_core.reference.league import LEAGUE_DATA, OURS, YARDSTICK, LeagueRow, compared, league

README = Path(__file__).parents[2] / "README.md"
BEGIN, END = "<!-- league -->\n", "<!-- end of league -->\n"
DATA = "moffet"
KINDS = (
    "10 % dark",
    "50 % dark",
    "5 % bright",
    "dead columns in a quarter of the bands",
    "stripes in a third of the bands",
    "salt and pepper, 20 %",
    "5 % dark, noise of 1 to 5 % by band",
    "everything at once",
    "a shadow over all bands",
    "a slow drift over all bands",
)
COLUMNS = ("NMF", "L1-NMF", "PCP", OURS, YARDSTICK)
RIVALS = COLUMNS[:-1]


def ten_rows() -> list[LeagueRow]:
    found = {row.damage: row for row in league() if row.data == DATA and row.part in ("unmarked", "beyond")}
    return [found[kind] for kind in KINDS]


def readme_text() -> str:
    rows = ten_rows()
    heads = {OURS: f"**{OURS}**", YARDSTICK: "NMF, told which"}
    lines = [
        f"| {LEAGUE_DATA[DATA]}, none marked | "
        + " | ".join(heads.get(name, name) for name in COLUMNS)
        + " |",
        "|---" * (1 + len(COLUMNS)) + "|",
    ]
    for row in rows:
        numbers = {name: f"{row.means[name]:.4f}" for name in COLUMNS}
        best = min(numbers[name] for name in RIVALS)
        cells = (
            f"**{numbers[name]}**" if name in RIVALS and numbers[name] == best else numbers[name]
            for name in COLUMNS
        )
        lines.append(f"| {row.damage} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *sentences(rows)]) + "\n"


def sentences(rows: list[LeagueRow]) -> list[str]:
    seeds = sorted({row.seeds for row in rows})
    draws = "One draw each" if seeds == [1] else f"{' or '.join(map(str, seeds))} draws each"
    chosen = sum(bool(row.adversaries) for row in rows)
    every = compared()
    won = sum(row.best == OURS for row in every)
    six = [row for row in league() if row.part == "six"]
    ours, theirs = (", ".join(f"{row.means[name]:.1f}" for row in six) for name in (OURS, "E-3DTV"))
    lost = [place for place, row in enumerate(six, start=1) if row.means["E-3DTV"] > row.means[OURS]]
    behind = f"and is ahead in case {' and '.join(map(str, lost))}" if lost else "and is behind in all"
    said = (
        f"{draws}, the lowest error bold. `restore` was given no setting, and chose an adversary in {chosen} "
        f"of these {len(rows)} rows; NMF and L1-NMF had the best of three K; PCP is principal component "
        "pursuit. With noise the denoised data is compared. "
        f"Of all {len(every)} cells with rivals, `restore` is best in {won}; *How good is it?* on its page "
        "shows every one. On the field's six cases of mixed noise (simulated Indian Pines) its denoised data "
        f"has an MPSNR of {ours} dB; the best published that we know, E-3DTV, has {theirs}, {behind}."
    )
    return textwrap.wrap(said, 175)


def write_readme() -> None:
    before, _, rest = README.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    README.write_text(before + BEGIN + readme_text() + END + after)


if __name__ == "__main__":
    write_readme()
