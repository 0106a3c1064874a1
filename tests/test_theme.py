"""Both themes can be read: every text colour keeps the contrast that WCAG AA asks for."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

CONFIG = Path(__file__).parents[1] / ".streamlit" / "config.toml"
THEME = tomllib.loads(CONFIG.read_text())["theme"]
WORDS = ("red", "orange", "blue", "violet", "green")
RGB = tuple[float, ...]


def pairs(theme: str) -> Iterator[tuple[str, RGB, RGB]]:
    """What is read on what: texts on page, sidebar and widgets, and what Streamlit makes of some of them."""
    of = {name: rgb(value) for name, value in THEME[theme].items() if str(value).startswith("#")}
    grounds = [of["backgroundColor"], of["secondaryBackgroundColor"]]
    grounds.append(rgb(THEME[theme]["sidebar"]["backgroundColor"]))
    for paper in grounds:
        for ink in ("textColor", "linkColor", "grayTextColor", *(f"{word}TextColor" for word in WORDS)):
            yield ink, of[ink], paper
        yield "a caption, which is faded", mix(of["textColor"], paper, share=0.6), paper
        yield "a chosen segment on its tint", of["primaryColor"], mix(of["primaryColor"], paper, share=0.1)
    for paper in (grounds[0], grounds[2]):
        yield "the same under the pointer", of["primaryColor"], mix(of["primaryColor"], paper, share=0.2)
    for word in WORDS:
        yield f"{word} in a box", of[f"{word}TextColor"], of[f"{word}BackgroundColor"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everything_that_is_written_can_be_read(theme):
    found = list(pairs(theme))

    assert len(found) == 3 * 10 + 2 + 5
    assert [(name, ink, paper) for name, ink, paper in found if contrast(ink, paper) < 4.5] == []


def rgb(colour: str) -> RGB:
    return tuple(byte / 255 for byte in bytes.fromhex(colour.removeprefix("#")))


def mix(ink: RGB, paper: RGB, share: float) -> RGB:
    return tuple(share * a + (1 - share) * b for a, b in zip(ink, paper, strict=True))


def contrast(first: RGB, second: RGB) -> float:
    """Contrast ratio of two colours as WCAG 2 defines it, 1 to 21."""
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: RGB) -> float:
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
