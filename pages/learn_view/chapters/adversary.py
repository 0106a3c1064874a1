"""Chapters 3 to 5: an adversary and one entry, the game, the loss. 3 and 5 follow sliders in the browser."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

from atnmf_core.figures.lesson import round_marks
from atnmf_core.lesson.examples import EXAMPLE, HalfStep, PlayedGame, play
from pages.common.cache import cached
from pages.common.controls import FreeSlider, Number, OneOf, Stops
from pages.common.setting import LAMBDAS, LEASHES, MAX_SEED
from pages.learn_view.chapter import Chapter, Stage, moving_picture, show_film

# Chapter 4: adversary and learner take turns.

K, ROUNDS_SHOWN = 2, 12
TRACKS = {"paper": "Algorithm 1 of the paper", "fast": "exact descent"}


def show(stage: Stage) -> None:
    film = _film(stage["lam"], stage["seed"], stage["track"])
    show_film(stage, "game", film, len(film["steps"]) - 1, "chart", "legend")
    if not stage.presenting:
        st.markdown(_score(stage["lam"], stage["seed"]))


def _score(lam: float, seed: int) -> str:
    counts = []
    for track, name in TRACKS.items():
        game = _game(lam, seed, track)
        rounds = len(game.losses) - 1
        counts.append(
            f"{name}: the loss rose in **{game.rises} of {rounds}** rounds and ended at {game.losses[-1]:.2f}"
        )
    return f"λ = {lam:g}, start {seed}. " + "; ".join(counts) + "."


@cached()
def _game(lam: float, seed: int, track: Literal["paper", "fast"]) -> PlayedGame:
    return play(EXAMPLE, lam, K=K, solver=track, seed=seed, rounds=ROUNDS_SHOWN)


@cached()
def _film(lam: float, seed: int, track: Literal["paper", "fast"]) -> dict[str, Any]:
    games = {name: _game(lam, seed, name) for name in TRACKS}
    here, other = games[track], next(name for name in TRACKS if name != track)
    values = [step.value for step in here.half_steps] + list(games[other].losses)
    marks = round_marks(min(*values, 0.0), max(values))
    return {
        "film": f"{lam} {seed} {track}",
        "V": EXAMPLE.tolist(),
        "steps": [
            {
                "actor": step.actor,
                "value": step.value,
                "said": _said(step, here.half_steps[max(0, number - 1)]),
                "R": step.R.tolist(),
                "U": step.U.tolist(),
                "P": step.V_hat.tolist(),
            }
            for number, step in enumerate(here.half_steps)
        ],
        "tracks": {
            "this": {"name": f"loss, {TRACKS[track]}", "losses": _places(here)},
            "other": {"name": f"loss, {TRACKS[other]}", "losses": _places(games[other])},
        },
        "range": [marks[0], marks[-1]],
        "ticks": marks,
    }


def _places(game: PlayedGame) -> list[tuple[int, float]]:
    return [(at, step.value) for at, step in enumerate(game.half_steps) if step.actor == "adversary"]


def _said(step: HalfStep, before: HalfStep) -> str:
    if step.actor == "start":
        return f"The start: nobody has moved yet. The number is <b>{_spelled(step.value)}</b>."
    actor = {"adversary": "The adversary", "learner": "The learner"}[step.actor]
    move = {"adversary": "adds its best R", "learner": "answers with other W and H"}[step.actor]
    way = "rises" if step.value > before.value else "falls" if step.value < before.value else "stays"
    return (
        f'Round {step.round}. <b class="{step.actor}">{actor}</b> {move}. The number {way} from '
        f"{_spelled(before.value)} to <b>{_spelled(step.value)}</b>."
    )


def _spelled(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


GAME = Chapter(
    name="game",
    short="Game",
    controls={
        "track": OneOf("paper", "The learner plays", {"paper": "Algorithm 1", "fast": "exact descent"}),
        "lam": Stops(2.0, "Price λ", (1.5, 2.0, 2.5, 3.0, 5.0, 10.0)),
        "seed": Number(
            0, "Start", 0, MAX_SEED, typed=True, help="W and H start at random; each number is another start."
        ),
        "at": Number(0, "Player: half-step", 0, 2 * ROUNDS_SHOWN + 1),
    },
    show=show,
    in_picture=("at",),
    facts=lambda stage: {"K": str(K)},
)

MAX_V = 1.0
STEP = 0.05


@dataclass(frozen=True)
class Leash(FreeSlider):
    """A dial has no values between its stops."""

    def read(self, text: str) -> float | None:
        value = super().read(text)
        if value is None or math.isinf(value):
            return value
        return min(self.stops, key=lambda stop: abs(stop - value))


def _chapter(
    name: str, short: str, picture: str, *, v: float, p: float, max_p: float, leash: bool = False
) -> Chapter:
    """A picture with sliders for v, p, lambda and perhaps the leash; v and p are their first values."""
    controls: dict[str, Stops] = {
        "v": Stops(v, "v, the entry of the data", _stops(MAX_V), "{:.2f}"),
        "p": Stops(p, "p, its prediction", _stops(max_p), "{:.2f}"),
        "lam": Stops(2.0, "λ, the adversary's price", LAMBDAS),
    }
    if leash:
        controls["g"] = Leash(math.inf, "g, the adversary's leash", LEASHES, none="no leash")
    return Chapter(
        name=name,
        short=short,
        controls=controls,
        show=lambda stage: _show(picture, controls, stage),
        in_picture=controls,
    )


def _stops(end: float) -> tuple[float, ...]:
    return tuple(round(STEP * step, 2) for step in range(round(end / STEP) + 1))


def _show(picture: str, controls: Mapping[str, Stops], stage: Stage) -> None:
    key = stage.key("picture")

    def remember() -> None:
        chosen = st.session_state[key]["values"]
        for name, control in controls.items():
            said = "inf" if chosen[name] is None else str(chosen[name])
            st.session_state[stage.key(name)] = control.parse_or_default(said)

    dials = [
        {
            "name": name,
            "label": control.label,
            "stops": [_finite(stop) for stop in control.stops],
            "texts": [control.word(stop) for stop in control.stops],
        }
        for name, control in controls.items()
        if name not in stage.hidden
    ]
    values = {name: _finite(stage[name]) for name in controls}
    moving_picture(picture, "agree", "chart", "legend", "dials", "closed_form")(
        data={"dials": dials, "values": values}, key=key, on_values_change=remember
    )


def _finite(stop: float) -> float | None:
    """None for infinity, which JSON does not know."""
    return None if math.isinf(stop) else stop


ADVERSARY = _chapter("adversary", "Adversary", "attack", v=0.6, p=0.2, max_p=1.5)
LOSS = _chapter("loss", "Loss", "loss", v=0.4, p=1.2, max_p=2.0, leash=True)
