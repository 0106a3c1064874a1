"""The Learn page: each chapter's picture follows each control and shows the core's numbers."""

import re
import time
from typing import Literal

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from atnmf_core import factorize, hide_entries, load_dataset, rmse
from atnmf_core.lesson.examples import EXAMPLE, PART, SERIES, build_up, mend, play, recorded, weigh
from atnmf_core.lesson.findings import findings
from atnmf_core.model.adversary import curvature, entry_loss, lower_bend, optimal_attack
from atnmf_core.reference.paper_tables import bundled_curve
from pages.common.setting import LAMBDAS, LEASHES
from pages.learn_view.chapters import CHAPTERS
from pages.learn_view.exercises import EXERCISES

from .dashboard import Dashboard, appears

CELLS = "table => [...table.rows].map(row => [...row.cells].map(cell => Number(cell.dataset.value)))"
PLOTTED = "plot => plot.data.map(({ name, x, y }) => ({ name, x: Array.from(x), y: Array.from(y) }))"


class Learn:
    """One chapter of the Learn page in one tab."""

    def __init__(
        self,
        dashboard: Dashboard,
        chapter: int,
        *,
        width: int = 1440,
        theme: Literal["light", "dark"] = "light",
        **query: object,
    ) -> None:
        self.dashboard = dashboard
        self.page = dashboard.open("/learn", theme=theme, width=width, height=1000, chapter=chapter, **query)

    def turn_to(self, number: int) -> None:
        self.page.get_by_role("navigation", name="Chapters").get_by_role("button").nth(number - 1).click()
        self.dashboard.wait_until_idle()

    def dial(self, label: str) -> Locator:
        """A slider that the picture draws itself."""
        return self.page.get_by_role("slider", name=label, exact=True)

    def set_dials(self, stops: dict[str, int]) -> None:
        """Move dials of the picture to stops, counted from 0."""
        for label, stop in stops.items():
            self.dial(label).fill(str(stop))

    def said(self) -> str:
        """The sentence under or over a moving picture."""
        return self.page.locator(".said").inner_text()

    def numbers(self) -> list[float]:
        """All numbers of that sentence."""
        found = re.findall(r"[−-]?\d+(?:\.\d+)?", self.said())
        return [float(number.replace("−", "-")) for number in found]

    def press(self, name: str) -> None:
        """A button of the player; nothing is waited for."""
        self.page.get_by_role("group", name="Player").get_by_role("button", name=name, exact=True).click()

    def rest(self) -> None:
        """Wait until the picture has told the server where it stands, and that has answered."""
        expect(self.page.locator("[data-pending]")).to_have_count(0)
        self.dashboard.wait_until_idle()

    def board(self, title: str) -> list[list[float]]:
        """The numbers of one table of the game."""
        caption = self.page.locator("caption b").get_by_text(title, exact=True)
        return self.page.locator("table", has=caption).evaluate(CELLS)

    def plotted(self) -> dict[str, dict[str, list]]:
        """What the chapter's chart shows, by name: its x and y."""
        return {
            trace["name"]: trace for trace in self.page.locator(".js-plotly-plot").first.evaluate(PLOTTED)
        }

    def plotted_bars(self) -> list[float]:
        """The lengths of the bars that the chapter's chart shows, from the lowest up."""
        return self.page.locator(".js-plotly-plot").first.evaluate("plot => Array.from(plot.data[0].x)")

    @property
    def query(self) -> dict[str, str]:
        return dict(part.split("=") for part in self.page.url.partition("?")[2].split("&") if part)

    def expect_query(self, expected: dict[str, str]) -> None:
        """The address comes to say this, and nothing else."""
        deadline = time.monotonic() + 30
        while self.query != expected and time.monotonic() < deadline:
            self.page.wait_for_timeout(50)
        assert self.query == expected


FONT_SIZE, USUAL_SIZE = "parseFloat(getComputedStyle(document.documentElement).fontSize)", 16
OVERFLOW = "main => main.scrollHeight - main.clientHeight"
V_DIAL, P_DIAL, LAM_DIAL = "v, the entry of the data", "p, its prediction", "λ, the adversary's price"
G_DIAL = "g, the adversary's leash"


def test_a_face_is_built_up_part_by_part(dashboard):
    learn = Learn(dashboard, 1)
    data = load_dataset("lfw")

    def expect_sum(K, face, count):
        fit = factorize(data.V, K=K)
        built = build_up(data.V[:, face - 1], fit.W, fit.H[:, face - 1])
        expect(learn.page.locator(".sum")).to_contain_text(f"error {built.errors[count]:.3f}")
        expect(learn.page.locator(".added")).to_contain_text(f"weight {built.weights[count - 1]:.2f}")
        expect(learn.page.locator(".parts li")).to_have_count(K)
        expect(learn.page.locator(".parts li.in")).to_have_count(count)

    expect_sum(K=16, face=8, count=5)
    dashboard.set_slider("Number of parts K", "9")
    expect_sum(K=9, face=8, count=5)
    dashboard.set_slider("Face", "20")
    expect_sum(K=9, face=20, count=5)
    learn.press("Step")
    expect_sum(K=9, face=20, count=6)
    learn.rest()
    learn.expect_query({"K": "9", "face": "20", "at": "6"})
    learn.press("Reset")
    expect(learn.page.locator(".added")).to_have_text("Nothing added yet")


def test_hiding_follows_the_places_the_share_and_the_face(dashboard):
    learn = Learn(dashboard, 2)
    data = load_dataset("lfw")

    def expect_series(hidden):
        seen = [place not in hidden for place in range(1, 6)]
        for missing, name in (("ignore", "marked fit"), ("zero", "unmarked fit")):
            weighed = weigh(PART, SERIES, seen, missing)
            np.testing.assert_allclose(learn.plotted()[name]["y"], weighed.weight * np.array(PART))
            expect(learn.page.get_by_text(f"{weighed.overlap:g} / {weighed.size:g} =")).to_be_visible()
        assert set(learn.plotted()["hidden"]["x"]) == hidden

    def expect_face(alpha, face):
        observed = hide_entries(data.shape, alpha)
        for missing in ("ignore", "zero"):
            fit = factorize(data.V, observed, K=25, missing=missing)
            column = face - 1
            error = rmse(data.V[:, column], fit.V_hat[:, column], ~observed[:, column])
            expect(learn.page.locator(".note").get_by_text(f"{error:.3f}")).to_be_visible()

    expect_series({3})
    expect_face(0.5, 8)
    learn.page.get_by_test_id("stButtonGroup").get_by_text("1", exact=True).click()
    dashboard.wait_until_idle()
    expect_series({1, 3})
    dashboard.set_slider("Hidden share α", "0.70")
    expect_face(0.7, 8)
    dashboard.set_slider("Face", "3")
    expect_face(0.7, 3)
    learn.expect_query({"chapter": "2", "hidden": "1-3", "alpha": "0.7", "face": "3"})


def test_the_attack_on_one_number_is_the_cores_at_every_stop_and_it_can_be_dragged(dashboard):
    learn = Learn(dashboard, 3)
    for v, p, lam in [(12, 4, 8), (12, 4, 2), (6, 18, 8), (0, 10, 5), (20, 20, 12), (20, 0, 20), (3, 30, 0)]:
        learn.set_dials({V_DIAL: v, P_DIAL: p, LAM_DIAL: lam})
        number, guess, price = 0.05 * v, 0.05 * p, LAMBDAS[lam]
        r = float(optimal_attack(np.array([number]), np.array([guess]), price)[0])
        left = float(entry_loss(number, guess, price))
        assert f"= {r:.3f}".replace("-", "−").replace("−0.000", "0.000") in learn.said()
        assert f"{left:.3f} is left" in learn.said()

    learn.rest()
    learn.expect_query({"chapter": "3", "v": "0.15", "p": "1.5", "lam": "1.01"})
    learn.set_dials({V_DIAL: 6, P_DIAL: 18, LAM_DIAL: 8})
    assert "v is wiped out" in learn.said()
    learn.rest()

    line = learn.page.locator("svg.line")
    line.scroll_into_view_if_needed()
    box = line.bounding_box()
    dot = line.locator("circle.orange").bounding_box()
    learn.page.mouse.move(dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2)
    learn.page.mouse.down()
    learn.page.mouse.move(box["x"] + box["width"] / 2, dot["y"] + 5, steps=5)
    learn.page.mouse.up()

    expect(learn.dial(P_DIAL)).to_have_attribute("aria-valuetext", re.compile(r"^(0\.95|1\.0[05])$"))


def test_the_loss_of_one_number_is_the_cores_at_every_stop_and_its_leash_can_be_dragged(dashboard):
    learn = Learn(dashboard, 5)
    line = learn.page.locator("svg.curves line.teal")
    expect(line).to_have_count(0)

    for v, p, lam in [(8, 24, 8), (8, 10, 8), (2, 40, 2), (20, 0, 20), (0, 20, 5)]:
        learn.set_dials({V_DIAL: v, P_DIAL: p, LAM_DIAL: lam})
        number, guess, price = 0.05 * v, 0.05 * p, LAMBDAS[lam]
        assert f"AT-NMF pays {float(entry_loss(number, guess, price)):.3f}." in learn.said()
        assert f"NMF pays {(number - guess) ** 2:.3f}," in learn.said()
        assert ("beyond λ v" in learn.said()) == (guess > price * number)

    learn.set_dials({V_DIAL: 20, P_DIAL: 8, LAM_DIAL: LAMBDAS.index(1.5)})
    for stop, leash in enumerate(LEASHES[:-1]):
        learn.set_dials({G_DIAL: stop})
        assert f"AT-NMF pays {float(entry_loss(1.0, 0.4, 1.5, leash)):.3f}." in learn.said()
        assert ("end of its leash" in learn.said()) == (lower_bend(1.5, leash) > 0.4)
    learn.set_dials({G_DIAL: LEASHES.index(0.5)})
    learn.rest()
    box, curves = line.bounding_box(), learn.page.locator("svg.curves").bounding_box()
    learn.page.mouse.move(box["x"], box["y"] + box["height"] / 2)
    learn.page.mouse.down()
    learn.page.mouse.move(curves["x"] + 0.3 * curves["width"], box["y"] + box["height"] / 2, steps=5)
    learn.page.mouse.up()

    expect(learn.dial(G_DIAL)).to_have_attribute("aria-valuetext", "1")
    learn.rest()
    learn.expect_query({"chapter": "5", "v": "1", "p": "0.4", "lam": "1.5", "g": "1"})
    learn.page.set_viewport_size({"width": 800, "height": 1000})
    dashboard.wait_until_idle()
    cut_off = learn.page.locator(".katex-display").evaluate_all(
        "formulas => formulas.map(formula => formula.scrollWidth - formula.clientWidth)"
    )
    assert len(cut_off) == 2
    assert max(cut_off) <= 0


def test_the_last_chapter_follows_its_controls_which_stay_in_view_to_the_end_of_its_text(dashboard):
    learn = Learn(dashboard, 8)

    def expect_errors(kind, lam, leash=None):
        given = recorded(kind, 0.2)
        for error in (mend(given, np.inf).error, mend(given, lam, leash).error):
            expect(learn.page.locator(".note").get_by_text(f"{error:.4f}").first).to_be_visible()
        assert learn.plotted_bars() == pytest.approx([1 / curvature(lam), 1.0])

    expect_errors("dead", np.inf)
    dashboard.set_slider("Price λ", "1.05")
    expect_errors("dead", 1.05)
    dashboard.press("bright")
    expect_errors("bright", 1.05)
    dashboard.set_slider("Leash g", "0.25")
    expect_errors("bright", 1.05, 0.25)
    learn.expect_query({"chapter": "8", "damage": "bright", "lam": "1.05", "g": "0.25"})

    learn.page.set_viewport_size({"width": 1440, "height": 900})
    # A chapter that has just opened stays at its top until somebody scrolls.
    learn.page.mouse.move(700, 500)
    learn.page.mouse.wheel(0, 1)
    learn.page.get_by_text("Your own data.").evaluate("last => last.scrollIntoView({ block: 'end' })")

    expect(learn.page.get_by_role("heading", level=1)).not_to_be_in_viewport()
    for control in ("Wrong entries are", "Price λ", "Leash g"):
        expect(learn.page.get_by_text(control, exact=True)).to_be_in_viewport(ratio=1)


def test_a_chapter_opens_at_its_top_however_it_is_turned_to(dashboard):
    learn = Learn(dashboard, 7)
    main = learn.page.get_by_test_id("stMain")

    for turn in (
        lambda: learn.page.get_by_role("button", name="8 · Uses").click(),
        lambda: learn.page.get_by_role("button", name="← 7").click(),
        lambda: learn.turn_to(2),
    ):
        main.evaluate("main => main.scrollTo(0, 900)")
        turn()
        dashboard.wait_until_idle()
        learn.page.wait_for_timeout(700)
        assert main.evaluate("main => main.scrollTop") == 0


def test_a_students_sheet_leads_to_exercises_that_are_checked(dashboard):
    page = dashboard.open("/learn", sheet=1, student=1, tasks="1-4")
    links = page.get_by_role("link", name="Solve it on the page")
    expect(links).to_have_count(2)
    expect(page.get_by_text("Answer.", exact=True)).to_have_count(0)
    link = links.nth(1).get_attribute("href")

    page.goto(f"{dashboard.address}/learn{link}")
    dashboard.wait_until_idle()
    expect(page.get_by_text("For teachers")).to_have_count(0)
    field = page.get_by_role("spinbutton", name="What AT-NMF pays")
    for given, told in (("0.36", "which NMF pays"), ("5", "find the bend"), ("0.76", "Right.")):
        field.fill(given)
        field.press("Enter")
        expect(page.get_by_test_id("stAlert")).to_contain_text(told)


@pytest.mark.slow
def test_exercises_open_from_the_teachers_links(dashboard):
    learn = Learn(dashboard, 3)
    learn.page.get_by_text("For teachers").click()
    links = {
        kind: [
            link.get_attribute("href") for link in learn.page.get_by_role("link", name=kind, exact=True).all()
        ]
        for kind in ("open it", "open its solution")
    }
    assert [len(found) for found in links.values()] == [len(EXERCISES)] * 2

    by_chapter = sorted(EXERCISES, key=lambda one: one.chapter)
    for place, exercise in enumerate(by_chapter):
        for kind, found in links.items():
            learn.page.goto(f"{dashboard.address}/learn{found[place]}")
            expect(learn.page.get_by_text(f"Exercise: {exercise.title}.")).to_be_visible()
            dashboard.wait_until_idle()
            expect(learn.page.get_by_text("Answer.")).to_have_count(int(kind != "open it"))


def test_the_notes_for_teachers_can_be_printed_whole(dashboard):
    learn = Learn(dashboard, 1, notes=1)
    expect(learn.page.get_by_role("button", name="Print")).to_be_visible()
    expect(learn.page.locator("[aria-current=step]")).to_have_count(0)
    for theme in ("light", "dark"):
        learn.page.emulate_media(color_scheme=theme)
        dashboard.wait_until_idle()
        assert not violations(learn.page)

    learn.page.emulate_media(media="print")

    assert learn.page.get_by_test_id("stMain").evaluate(OVERFLOW) <= 0
    expect(learn.page.get_by_test_id("stSidebar")).to_be_hidden()


def test_the_game_is_stepped_played_and_reset_and_follows_price_start_and_algorithm(dashboard):
    learn = Learn(dashboard, 4)

    def expect_board(at, **how):
        step = play(EXAMPLE, K=2, **{"lam": 2.0, "solver": "paper", "seed": 0} | how).half_steps[at]
        expect(learn.dial("Half-step shown")).to_have_value(str(at))
        np.testing.assert_allclose(learn.board("R"), step.R)
        np.testing.assert_allclose(learn.board("V + R"), EXAMPLE + step.R)
        np.testing.assert_allclose(learn.board("W H"), step.V_hat)
        assert learn.numbers()[-1] == pytest.approx(step.value, abs=0.0051)

    expect_board(0)
    for button, at in (("Adversary moves", 1), ("Learner moves", 2), ("Back", 1)):
        learn.press(button)
        expect_board(at)
    learn.page.get_by_label("Speed").select_option("3")
    learn.press("Play")
    expect(learn.dial("Half-step shown")).to_have_value(re.compile("^([4-9]|1.|2.)$"), timeout=8000)
    learn.press("Pause")
    at = int(learn.dial("Half-step shown").input_value())
    learn.rest()
    learn.expect_query({"chapter": "4", "at": str(at)})
    expect_board(at)

    dashboard.set_slider("Price λ", "3")
    expect_board(at, lam=3.0)
    learn.page.get_by_label("Start", exact=True).fill("5")
    learn.page.get_by_label("Start", exact=True).press("Enter")
    dashboard.wait_until_idle()
    expect_board(at, lam=3.0, seed=5)
    dashboard.press("exact descent")
    expect_board(at, lam=3.0, seed=5, solver="fast")
    expect(learn.page.get_by_text("the loss rose in 0 of 12").first).to_be_visible()
    learn.expect_query({"chapter": "4", "at": str(at), "lam": "3", "seed": "5", "track": "fast"})
    learn.press("Reset")
    expect_board(0, lam=3.0, seed=5, solver="fast")


def test_a_guess_stands_alone_until_the_truth_is_asked_for(dashboard):
    learn = Learn(dashboard, 6)
    assert set(learn.plotted()) == {"your guess"}
    dashboard.set_slider("Your guess of the best λ", "20")
    assert learn.plotted()["your guess"]["x"] == [20]

    dashboard.press("Show the truth")

    points = [point for point in bundled_curve("lfw") if (point.alpha, point.missing) == (0.5, "zero")]
    curve = {point.lam: point.mean for point in points if point.lam is not None}
    shown = learn.plotted()["AT-NMF"]
    assert shown["x"] == sorted(curve)
    assert shown["y"] == [curve[lam] for lam in sorted(curve)]
    assert learn.plotted()["ring"]["y"] == [min(curve.values())]
    dashboard.press("marked")
    assert set(learn.plotted()) == {"your guess"}


def test_the_findings_follow_the_hidden_share(dashboard):
    learn = Learn(dashboard, 7)

    def expect_shown(alpha):
        shares = [
            finding.ignore_nmf.mean / finding.published_nmf.mean
            for finding in findings(alpha)
            if finding.ignore_nmf
        ]
        np.testing.assert_allclose(learn.plotted()["NMF, marked"]["x"], shares)

    expect_shown(0.5)
    dashboard.set_slider("Hidden share α", "0.9")
    expect_shown(0.9)
    dashboard.press("the paper")
    assert set(learn.plotted()) == {"NMF, published", "AT-NMF, published"}


@pytest.mark.slow
def test_a_teachers_link_hides_what_it_says_and_keeps_the_rest(dashboard, browser):
    learn = Learn(dashboard, 3, v=0.3, p=0.9)
    learn.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    learn.page.get_by_text("For teachers").click()
    expect(learn.page.get_by_role("button", name="Present now")).to_be_visible()
    # The list of a box that is only scrolled to by the click may open outside the window.
    learn.page.get_by_role("button", name="Present now").scroll_into_view_if_needed()
    dashboard.wait_until_idle()
    chosen = learn.page.get_by_test_id("stMultiSelect").filter(has_text="λ, the adversary's price")
    # A choice made just before the page is drawn again is lost.
    for _ in range(4):
        dashboard.choose("Leave out", "λ, the adversary's price")
        if appears(chosen):
            break
    # The list stays open for more; Escape would clear the choice if it did not.
    learn.page.keyboard.press("Tab")
    expect(learn.page.locator('[data-testid="stMultiSelect"]')).to_contain_text("λ, the adversary's price")
    dashboard.wait_until_idle()
    learn.page.get_by_role("button", name="Copy link").click()
    expect(learn.page.get_by_role("button", name="Copied")).to_be_visible()
    link = learn.page.evaluate("navigator.clipboard.readText()")
    assert link == f"{dashboard.address}/learn?chapter=3&v=0.3&p=0.9&hide=lam&student=1"

    with browser.new_context() as context:
        there = Learn(Dashboard(context.new_page(), dashboard.address), 3, v=0.3, p=0.9, hide="lam")
        expect(there.dial(V_DIAL)).to_have_attribute("aria-valuetext", "0.30")
        expect(there.dial(LAM_DIAL)).to_have_count(0)
        there.set_dials({V_DIAL: 20})
        there.rest()
        assert there.query == {"chapter": "3", "v": "1", "p": "0.9", "hide": "lam"}


def test_presenting_is_large_without_a_sidebar_turns_with_the_keys_and_fits_a_wall(dashboard):
    learn = Learn(dashboard, 1, present=1)
    heading = learn.page.get_by_role("heading", level=1)

    assert learn.page.evaluate(FONT_SIZE) > 1.2 * USUAL_SIZE
    expect(learn.page.get_by_test_id("stSidebar")).to_be_hidden()
    learn.page.set_viewport_size({"width": 1280, "height": 720})
    for chapter in CHAPTERS:
        expect(heading).to_have_text(chapter.text.title)
        dashboard.wait_until_idle()
        assert learn.page.get_by_test_id("stMain").evaluate(OVERFLOW) <= 0
        expect(learn.page.get_by_role("button", name="Stop presenting")).to_be_in_viewport(ratio=1)
        expect(heading).to_be_in_viewport(ratio=1)
        learn.page.keyboard.press("ArrowRight")
    for chapter in CHAPTERS[-2:1:-1]:
        learn.page.keyboard.press("PageUp")
        expect(heading).to_have_text(chapter.text.title)
        dashboard.wait_until_idle()
    learn.dial(V_DIAL).press("ArrowRight")
    learn.rest()
    learn.expect_query({"chapter": "3", "v": "0.65", "present": "1"})
    dashboard.press("Stop presenting")
    expect(learn.page.get_by_test_id("stSidebar")).to_be_visible()
    assert learn.page.evaluate(FONT_SIZE) == USUAL_SIZE


@pytest.mark.parametrize(
    ("theme", "width", "looked_at"), [("dark", 1440, {2, 3, 4, 5, 6, 7, 8}), ("light", 390, {2, 4, 7, 8})]
)
def test_every_chapter_fits_its_screen_and_axe_finds_nothing(dashboard, theme, width, looked_at):
    learn = Learn(dashboard, 1, theme=theme, width=width)
    for number in range(1, len(CHAPTERS) + 1):
        learn.turn_to(number)
        expect(learn.page.get_by_role("heading", level=1)).to_have_text(CHAPTERS[number - 1].text.title)
        main = learn.page.get_by_test_id("stMain")
        assert main.evaluate("main => main.scrollWidth - main.clientWidth") <= 0, number
        # The first chapter is looked at with the other pages, in both themes.
        if number in looked_at:
            assert not violations(learn.page), number


def violations(page: Page) -> list[tuple[str, str]]:
    found = Axe().run(page, context="[data-testid=stMain]").response["violations"]
    return [(one["id"], one["nodes"][0]["html"][:200]) for one in found]
