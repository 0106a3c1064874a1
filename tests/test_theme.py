"""Both themes can be read: every text colour keeps the contrast that WCAG AA asks for."""

import tomllib
from pathlib import Path

import pytest

CONFIG = Path(__file__).parents[1] / ".streamlit" / "config.toml"
THEME = tomllib.loads(CONFIG.read_text())["theme"]
WORDS = ("red", "orange", "blue", "violet", "green")
RGB = tuple[float, float, float]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    "ink", ["textColor", "linkColor", "grayTextColor", *(f"{word}TextColor" for word in WORDS)]
)
def test_text_is_readable_on_page_sidebar_and_widgets(theme: str, ink: str) -> None:
    for paper in papers(theme):
        assert contrast(rgb(THEME[theme][ink]), paper) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("word", WORDS)
def test_coloured_text_is_readable_in_a_box_of_its_colour(theme: str, word: str) -> None:
    ink, paper = THEME[theme][f"{word}TextColor"], THEME[theme][f"{word}BackgroundColor"]

    assert contrast(rgb(ink), rgb(paper)) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_captions_are_readable_although_streamlit_fades_them(theme: str) -> None:
    for paper in papers(theme):
        faded = mix(rgb(THEME[theme]["textColor"]), paper, share=0.6)

        assert contrast(faded, paper) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_chosen_segment_is_readable_on_its_tint(theme: str) -> None:
    accent = rgb(THEME[theme]["primaryColor"])
    for paper in papers(theme):
        assert contrast(accent, mix(accent, paper, share=0.1)) >= 4.5


def papers(theme: str) -> list[RGB]:
    page = THEME[theme]
    return [
        rgb(page["backgroundColor"]),
        rgb(page["secondaryBackgroundColor"]),
        rgb(page["sidebar"]["backgroundColor"]),
    ]


def rgb(colour: str) -> RGB:
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red / 255, green / 255, blue / 255


def mix(ink: RGB, paper: RGB, share: float) -> RGB:
    red, green, blue = (share * a + (1 - share) * b for a, b in zip(ink, paper, strict=True))
    return red, green, blue


def contrast(first: RGB, second: RGB) -> float:
    """Contrast ratio of two colours as WCAG 2 defines it, 1 to 21."""
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: RGB) -> float:
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
