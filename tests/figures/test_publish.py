"""Figures for print: three formats from one drawing, of the size that was asked for, letters as letters."""

import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from atnmf_core import InputError
from atnmf_core.figures.error_curves import against_alpha, against_lambda, gain_map
from atnmf_core.figures.images import Panel
from atnmf_core.figures.plotting import material_spectra, plot
from atnmf_core.figures.publish import Look, chart_html, chart_page, look_of, save_chart, save_panels
from atnmf_core.reference.paper_tables import bundled_curve

pytest.importorskip("matplotlib")

POINTS = [point for point in bundled_curve("lfw") if point.missing == "zero"]
CURVE = against_lambda([point for point in POINTS if point.alpha == 0.3])
RED, BLUE = (np.full((5, 5, 3), colour, np.uint8) for colour in ((200, 0, 0), (0, 0, 200)))
BAR = np.zeros((1, 8, 3), np.uint8)
PANELS = [
    Panel("a", "Original V", RED, ""),
    Panel("c", "Adversary R*", BLUE.repeat(3, 0).repeat(3, 1), "", (BAR, -0.5, 0.5)),
]


def words(svg: bytes) -> set[str]:
    return set(re.findall(r"<text[^>]*>([^<]+)</text>", svg.decode()))


def opened(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png))


@pytest.mark.parametrize("width", [85.0, 160.0])
def test_a_figure_is_as_wide_as_asked_in_every_format(width):
    for save, drawn in ((save_chart, CURVE), (save_panels, PANELS)):
        png, svg, pdf = (save(drawn, Look(form, width)) for form in ("png", "svg", "pdf"))

        assert opened(png).width == pytest.approx(width / 25.4 * 300, abs=1)
        points = [re.search(rb'width="([\d.]+)pt"', svg)[1], re.search(rb"/MediaBox \[ 0 0 ([\d.]+)", pdf)[1]]
        assert [float(one) / 72 * 25.4 for one in points] == pytest.approx([width] * 2, abs=0.01)
    files = [look_of(Path(name)).format for name in ("a.svg", "a.PDF", "a.png", "a")]
    assert files == ["svg", "pdf", "png", "png"], "the ending of a file chooses the format"


def test_letters_stay_letters_of_the_size_that_was_chosen():
    for size in (7.0, 11.0):
        svg = save_chart(CURVE, Look("svg", font_size=size))

        assert {"RMSE on hidden entries", "adversary's price λ", "AT-NMF", "best λ = 1.05"} <= words(svg)
        assert f"font-size: {size:g}px" in svg.decode() or f"font: {size:g}px" in svg.decode()
    assert b"/FontFile2" in save_chart(CURVE, Look("pdf"))
    assert {"(a) Original V", "(c) Adversary R*", "−0.5", "0.5"} <= words(save_panels(PANELS, Look("svg")))


@pytest.mark.parametrize(("save", "drawn"), [(save_chart, CURVE), (save_panels, PANELS)])
@pytest.mark.parametrize("clear", [True, False])
def test_the_background_is_white_or_not_there(save, drawn, clear):
    corner = opened(save(drawn, Look(transparent=clear))).convert("RGBA").getpixel((0, 0))

    assert corner == (255, 255, 255, 0 if clear else 255)


def test_panels_have_one_size_although_one_has_dots_and_one_without_a_title_fills_its_figure():
    picture = np.asarray(opened(save_panels(PANELS, Look("png", 800, "px"))).convert("RGB"))

    boxes = [np.argwhere((picture == colour[0, 0]).all(axis=2)) for colour in (RED, BLUE)]
    assert picture.shape[1] == 800
    assert len({tuple(box.max(axis=0) - box.min(axis=0)) for box in boxes}) == 1
    assert len({box.min(axis=0)[0] for box in boxes}) == 1
    alone = opened(save_panels([Panel("", "", RED, "")], Look("png", 500, "px")))
    assert alone.size == (500, 500)
    assert alone.convert("RGB").getcolors() == [(500 * 500, (200, 0, 0))]
    # More panels than columns take further rows.
    one_row, two = (opened(save_panels(PANELS * 2, Look("png", 800, "px"), columns=n)).height for n in (4, 2))
    assert two > 2 * one_row


def test_published_deviations_are_drawn():
    line = {"x": [0.3, 0.5], "y": [1.0, 2.0], "mode": "lines", "name": "NMF"}
    plain, with_bars = (
        save_chart(plot([line | more], 300), Look("svg")).count(b"<use")
        for more in ({}, {"error_y": {"array": [0.1, 0.2]}})
    )

    # Two caps for each point, and perhaps more ticks.
    assert with_bars >= plain + 4


@pytest.mark.parametrize(
    "chart",
    [against_alpha(POINTS, [1.05, 2.0]), gain_map(POINTS), against_lambda(POINTS, compact=True)],
    ids=["alpha", "map", "compact"],
)
def test_every_view_of_a_curve_can_be_saved(chart):
    named = {trace.name for trace in chart.data if trace.showlegend is not False and trace.name}
    cells = {cell for trace in chart.data if trace.type == "heatmap" for row in trace.text for cell in row}

    assert named | cells - {""} <= set(words(save_chart(chart, Look("svg"))))


def test_spectra_have_the_colour_of_their_material_and_the_line_of_their_way():
    lines = [{"tone": "orange", "values": [0.1, None]}, {"tone": "truth", "values": [0.2, 0.3]}]
    drawn = {"x": [400, 500], "unit": "nm", "cards": [{"name": "Soil", "colour": "#112233", "lines": lines}]}

    svg = save_chart(material_spectra(drawn, {"orange": "AT-NMF", "truth": "truth"}), Look("svg"))

    assert {"Soil", "AT-NMF", "truth", "wavelength, nm"} <= set(words(svg))
    assert svg.count(b"#112233") >= 3


def test_a_page_tells_every_point_needs_no_network_and_is_small():
    page = chart_page(CURVE, "Curve & more")

    lines = [trace for trace in CURVE.data if trace.customdata is not None and "markers" in trace.mode]
    assert page.count('tabindex="0"') == sum(len(trace.x) for trace in lines)
    assert "AT-NMF, λ = 2, α = 0.3" in page
    assert "Curve &amp; more" in page
    assert not re.findall(r'<(?:script|link|img|image)[^>]+(?:src|href)="http', page)
    assert len(page) < 100_000
    # The points lie on its curve.
    lefts = [float(left) for left in re.findall(r"left:([\d.]+)%", chart_html(CURVE))]
    assert lefts == sorted(lefts)
    assert 5 < lefts[0] < 15
    assert lefts[-1] > 90


@pytest.mark.parametrize("wrong", [{"width": 0.0}, {"width": 5000.0}, {"font_size": 0.0}])
def test_a_size_that_nobody_can_print_is_refused(wrong):
    with pytest.raises(InputError, match="wide"):
        Look("svg", **wrong)
