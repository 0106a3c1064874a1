"""Chapter 4: adversary and learner take turns."""

from __future__ import annotations

from typing import Any, Literal

import streamlit as st

from atnmf_core import lesson
from atnmf_core.figures.lesson import round_marks
from atnmf_core.lesson import EXAMPLE, HalfStep
from pages.common.control import Number, OneOf, Stops
from pages.common.setting import MAX_SEED

from ..chapter import Chapter, Stage, show_film

K, ROUNDS = 2, 12
TRACKS = {"paper": "Algorithm 1 of the paper", "fast": "exact descent"}


def facts(stage: Stage) -> dict[str, str]:
    return {"K": str(K)}


def show(stage: Stage) -> None:
    film = _film(stage["lam"], stage["seed"], stage["track"])
    show_film(stage, "game", film, len(film["steps"]) - 1, "chart", "legend")
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


@st.cache_resource(show_spinner=False, max_entries=200)
def _game(lam: float, seed: int, track: Literal["paper", "fast"]) -> lesson.PlayedGame:
    return lesson.play(EXAMPLE, lam, K=K, solver=track, seed=seed, rounds=ROUNDS)


@st.cache_data(show_spinner=False, max_entries=200)
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


def _places(game: lesson.PlayedGame) -> list[tuple[int, float]]:
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
        "at": Number(0, "Player: half-step", 0, 2 * ROUNDS + 1),
    },
    show=show,
    in_picture=("at",),
    facts=facts,
)
