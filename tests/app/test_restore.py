"""The Restore page runs from top to bottom, says what came of it, and opens large scenes by their path."""

import io
import re
from concurrent.futures import Future
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from atnmf_core import Dataset, load_dataset, rmse
from atnmf_core.datasets import ReadingOptions, write_envi
from atnmf_core.datasets.files.arrays import npy_bytes
from atnmf_core.reference.league import OURS, LeagueRow, compared, league
from atnmf_core.restoration import BadLine, Candidate, ChoiceProgress, Treatment
from atnmf_core.restoration.choice import EQUAL, WORTH
from atnmf_core.restoration.damage import STRETCH, STRIPED, WITH_DEAD_COLUMNS, Damage, damaged
from atnmf_core.restoration.findings import lines_mask, questions
from atnmf_core.restoration.task import EXAMPLES, bundled, damaged_dataset, run_task
from pages.common.controls import controls_of
from pages.common.uploads import uploads
from pages.restore_view.jobs import CHOSEN, FRESH, damage, how_far, key_of, restorations
from pages.restore_view.league import NOTE, link, table, verdict
from pages.restore_view.pictures import view_of
from pages.restore_view.setting import DAMAGES, RestoreSetting
from pages.restore_view.sidebar import MOSTLY, PRESETS
from tests.app.opening import SECONDS, from_query, open_page, press, texts
from tests.scenes import damaged_scene

TITLE = "Bring damaged data, take it home whole"


opened = partial(open_page, "restore", state={"restore_reached": True, "restore_limits_unmarked": True})


def told(page: AppTest) -> str:
    return texts(page, "markdown", "info", "caption")


def labels(page: AppTest) -> list[str]:
    return [button.label for button in (*page.get("download_button"), *page.button)]


def low_rank(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.random((12, 2)) @ rng.random((2, 30)) + 0.1


def restored(
    data: Dataset,
    upload: str = "",
    defects: np.ndarray | None = None,
    stripes: tuple[BadLine, ...] = (),
    **how: str,
) -> dict[str, str]:
    """The query of data of one's own that somebody had restored before, perhaps with other findings."""
    own = {"data": "upload", "upload": upload or uploads().keep(data), "dead": "0", "by": "hand", "K": "2"}
    setting = from_query(RestoreSetting, own | how)
    outcome, done = run_task(lambda progress: None, data, setting.task), Future()
    if defects is not None:
        outcome = replace(outcome, packed=replace(outcome.packed, defects=np.packbits(defects)))
    if stripes:
        offsets = sum(line.offset * lines_mask(data, (line,)) for line in stripes)
        outcome = replace(outcome, packed=replace(outcome.packed, lines=stripes, offsets=offsets))
    done.set_result(outcome)
    restorations().store(key_of(setting, data), done)
    return own | how


@pytest.mark.parametrize(
    "query",
    [
        {"view": "rgb", "threshold": "2", "side": "dark", "pixel": "9.9"},
        {"data": "lfw", "dead": "0.3", "image": "8", "colour": "blue"},
        {"data": "lfw", "losses": "marked", "block": "0.2", "dead": "0"},
        {"data": "synthetic", "dead": "0.2", "by": "hand", "K": "99"},
        {"data": "upload", "upload": "unknown"},
    ],
    ids=str,
)
def test_the_page_runs(query):
    page = opened(**query)

    assert page.title[0].value == TITLE


def test_the_first_view_tells_all_three_errors_and_its_threshold_changes_the_count():
    errors = bundled(*EXAMPLES["dead"]).errors

    page = opened()

    assert f"everywhere by **{errors.restored:#.3g}**; :blue[NMF] by **{errors.nmf:#.3g}**" in told(page)
    assert f"NMF told the bad entries by **{errors.told:#.3g}**" in told(page)
    assert "Restore" not in labels(page)
    assert "looks like another scene" in told(page)
    count = int((bundled(*EXAMPLES["dead"]).packed.suspicion >= 2).sum())
    size = load_dataset("simulated-scene").V.size
    assert f"**{count:,}** of {size:,} entries count as defects" in told(opened(threshold="2"))
    # What was not restored yet is offered to be.
    page = opened(dead="0.2")
    assert "Restore" in labels(page)
    assert "restores with it: about **" in told(page)
    assert "Restore" in labels(opened(dead="0.2", by="hand"))


@pytest.mark.parametrize("known", [True, False], ids=["the scene", "a file of one's own"])
def test_every_number_in_words_is_the_measured_one(known):
    """The same numbers from the restoration itself; none stands on the page that is not among them."""
    truth, task = load_dataset("simulated-scene"), EXAMPLES["everything"].task
    spoiled, wrong = damaged_dataset(truth, task)
    outcome = bundled(*EXAMPLES["everything"])
    r = outcome.packed.unpack(spoiled)
    query = {name: f"{share:g}" for name, share in task.damage.shares.items()}
    if not known:
        upload = uploads().keep(spoiled)
        setting = RestoreSetting(data="upload", upload=upload, dead=0.0)
        done: Future = Future()
        done.set_result(replace(outcome, errors=None))
        restorations().store(key_of(setting, spoiled), done)
        query = {"data": "upload", "upload": upload, "dead": "0"}

    page = opened(**query)

    count, size, striped = int(r.defects.sum()), r.V.size, r.offsets != 0
    found = striped | r.defects
    measured = {
        "typical error": f"{r.expected_error:#.3g}",
        "of the mean": f"{r.expected_error / spoiled.V.mean():.1%}",
        "noise": f"{np.median(r.noise):#.3g}",
        "defects": f"{count:,}",
        "of entries": f"{size:,}",
        "share": f"{count / size:.2%}",
    }
    if known:
        measured |= {
            "kept": f"{rmse(truth.V, r.V):#.3g}",
            "everywhere": f"{rmse(truth.V, r.denoised):#.3g}",
            "NMF": f"{outcome.errors.nmf:#.3g}",
            "told": f"{outcome.errors.told:#.3g}",
            "damaged": f"{int(wrong.sum()):,}",
            "recall": f"{(found & wrong).sum() / wrong.sum():.0%}",
            "precision": f"{(found & wrong).sum() / found.sum():.0%}",
        }
    else:
        measured["in stripes"] = f"{int(striped.sum()):,}"
        asked = [one for one in questions(spoiled) if r.defects[one.value == spoiled.V].mean() <= MOSTLY]
        for one in asked:
            measured |= {
                one.words: f"{one.value:.6g}",
                one: f"{np.count_nonzero(np.equal(spoiled.V, one.value)):,}",
            }
    said = texts(page.main, "markdown", "caption", "warning").replace(truth.title, "")
    # The limits of the choice, and the size of figures.
    limits = {f"{EQUAL:g}", f"{WORTH:g}", "160", "9"}
    numbers = set(re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?%?", said))
    assert numbers - limits == set(measured.values())


def test_damage_is_done_as_it_is_described():
    helps = {name: control.help for name, control in controls_of(RestoreSetting).items() if name in DAMAGES}
    dark = damaged(np.ones((40, 50)), Damage(dead=0.5)).V
    assert "at 0 to 60% of their value" in helps["dead"]
    assert dark.min() < 0.05
    assert 0.55 < dark[dark < 1].max() < 0.6
    shares = {3: "a third of the bands", 4: "a quarter of the bands"}
    for name, one_in in (("block", STRETCH), ("stripes", STRIPED), ("dead_columns", WITH_DEAD_COLUMNS)):
        assert shares[one_in] in helps[name]


def test_the_bar_leaves_room_for_the_restoration_after_the_search():
    best = Candidate(3, Treatment(1.1))

    half_searched, _ = how_far(ChoiceProgress("choice", 5, 10, best, 9.0))
    searched, words = how_far(ChoiceProgress("fit", 0, 1, best, 20.0))

    assert (half_searched, searched) == pytest.approx((CHOSEN / 2, CHOSEN))
    assert words == "Restoring with K = 3, an adversary with λ = 1.1"


def test_a_kind_of_damage_that_is_chosen_has_a_slider():
    page = opened(dead="0.3")
    kinds = page.sidebar.multiselect(key="restore_damaged_by")
    assert kinds.value == ["dead"]

    kinds.select("stripes").run()
    shares = {one.key: one.value for one in page.sidebar.select_slider}
    assert shares == {"restore_dead": 0.3, "restore_stripes": 0.1}

    page.sidebar.multiselect(key="restore_damaged_by").unselect("dead").run()
    assert [one.key for one in page.sidebar.select_slider] == ["restore_stripes"]
    assert not page.exception


def test_losses_in_a_file_are_counted_by_their_kind():
    V = np.random.default_rng(0).uniform(1, 2, (12, 30))
    V[0, :3], V[4, 6], V[5, :2] = np.nan, -1, 9
    upload = uploads().keep_files([("mine.npy", npy_bytes(V))])

    page = opened(data="upload", upload=upload, losses="marked", dead="0", nodata="-1", saturated="9")

    said = texts(page.sidebar, "caption")
    for words in (
        "3 entries are NaN",
        "1 entry with the no-data value",
        "2 entries saturated",
        "6 of 360 entries",
    ):
        assert words in said


def test_values_that_repeat_are_asked_about_and_marked_on_a_click():
    V = np.random.default_rng(0).uniform(1, 2, (12, 300))
    V[3, :50] = 2.5
    upload = uploads().keep_files([("mine.npy", npy_bytes(V))])
    page = opened(data="upload", upload=upload, dead="0")
    assert "50 entries are at 2.5 and none is above: saturated?" in told(page).replace("\\", "")

    press(page, "Mark them as missing").run()

    assert page.session_state["saturated"] == "2.5"
    assert "Mark them as missing" not in labels(page)
    assert "50 of 3,600 entries" in texts(page.sidebar, "caption")


@pytest.mark.parametrize(("result", "offered"), [("restored", False), ("denoised", True)])
def test_sound_data_can_be_taken_home_denoised(result, offered):
    data = Dataset(low_rank(5), "cube", "scene", image_shape=(5, 6))

    page = opened(**restored(data), result=result)

    assert "**No entry looks wrong:**" in told(page)
    assert ("Download" in labels(page)) is offered
    # With nothing missing there is nothing to restore where losses are marked.
    page = opened(data="upload", upload=uploads().keep(data), losses="marked", dead="0")
    assert "nothing to restore" in told(page)
    assert "Look for wrong entries" in labels(page)


@pytest.mark.parametrize(("count", "result"), [(0, "denoised"), (320, "restored")])
def test_data_with_little_but_noise_is_shown_denoised_to_be_taken_home(count, result):
    rng = np.random.default_rng(0)
    V = (rng.random((40, 2)) + 0.2) @ rng.dirichlet((1, 1), 900).T + rng.normal(0, 0.03, (40, 900))
    bright = np.zeros(V.shape, dtype=bool)
    bright.flat[rng.permutation(V.size)[:count]] = True
    V[bright] = 3

    query = restored(Dataset(V, "cube", "scene", image_shape=(30, 30)), defects=bright)
    page = open_page("restore", state={FRESH: True}, **query)

    assert "measured values are off by about ±0.0" in told(page)
    assert page.session_state["restore_result"] == result
    assert ("Every value changes" in told(page)) is (result == "denoised")
    assert "Download" in labels(page)


def test_what_cannot_be_restored_is_not_called_predicted():
    V = low_rank()
    V[4] = np.nan

    page = opened(**restored(Dataset(V, "cube", "scene", image_shape=(5, 6))))

    assert "30 were missing. None of them can be predicted" in told(page)
    assert "1 band has no sound entry at all" in page.main.warning[0].value


@pytest.mark.parametrize("found", [True, False])
def test_values_that_were_found_to_be_wrong_are_not_asked_about(found):
    V = low_rank(2 + found)
    V[3:5] = 0
    query = restored(Dataset(V, "cube", "scene", image_shape=(5, 6)), defects=(V == 0) & found)

    assert ("Mark them as missing" not in labels(opened(**query))) is found


def test_a_block_is_listed_and_shown():
    data = Dataset(np.tile(low_rank(), (1, 4))[:, :100], "cube", "scene", image_shape=(10, 10))
    block = data.layout.unfold(np.zeros(data.shape, dtype=bool)).copy()
    block[2:9, 3:9, 1:8] = True

    page = opened(**restored(data, defects=data.layout.fold(block)), wrong="blocks")
    (listed,) = [one for one in page.get("button_group") if one.key == "restore_in_blocks"]
    listed.select(0).run()

    assert listed.options == ["rows 4 to 9, columns 2 to 8 in bands 3 to 9"]
    assert 3 <= page.session_state["image"] <= 9
    assert "294 entries in blocks" in told(page)


@pytest.mark.parametrize(
    ("measure", "ours", "theirs", "words"),
    [
        ("RMSE", 0.0329, 0.0328, "0.3% behind"),
        ("RMSE", 0.032801, 0.0328, "below 0.1% behind"),
        ("RMSE", 0.0074, 0.002, "3.7 times the best"),
        ("MPSNR", 39.8, 40.5, "0.7 dB behind"),
    ],
)
def test_the_league_says_how_far_behind(measure, ours, theirs, words):
    row = LeagueRow("unmarked", "moffet", "10 % dark", measure, {OURS: ours, "PCP": theirs}, {}, 1, None)

    told = table([row])

    assert f"<small>{words}</small>" in told
    assert told.count("<small>best</small>") == 1


@pytest.mark.parametrize("title", PRESETS)
def test_a_preset_shows_its_damage(title):
    setting = PRESETS[title]
    truth = load_dataset(setting.data)
    spoiled, _ = damage(setting, truth)

    shown = view_of(setting, truth, spoiled)

    assert (shown.picture(spoiled.V) != shown.picture(truth.V)).any(axis=2).mean() > 0.02


@pytest.mark.parametrize(("fresh", "band"), [(True, 9), (False, 3)])
def test_a_new_result_is_shown_where_most_was_wrong(fresh, band):
    V = low_rank()
    V[8, 4:7] = np.nan
    bright = np.zeros(V.shape, dtype=bool)
    bright[2, 9] = True
    query = restored(Dataset(V, "cube", "scene", image_shape=(5, 6)), defects=bright)

    page = open_page("restore", state={FRESH: fresh}, **query, image="3")

    assert page.session_state["image"] == band
    assert "wrong (0.28%), and 3 were missing. They are predicted; “Restored” keeps all others" in told(page)


def test_stripes_are_counted_and_every_line_is_listed():
    data = Dataset(low_rank(1)[:, :25] + 1, "cube", "scene", image_shape=(5, 5))
    stripes = tuple(
        BadLine("image column", column, column, 1.0, (band, band), 0.1 / column)
        for column in (2, 5)
        for band in range(1, 11)
    )

    page = opened(**restored(data, stripes=stripes), wrong="stripes")

    assert "**No entry looks wrong** by itself; stripes were taken off **100** entries." in told(page)
    (listed,) = [one for one in page.get("button_group") if one.key == "restore_in_stripes"]
    assert [words[:14] for words in listed.options[:2]] == ["image column 2", "image column 5"]
    assert "12 of 20 are listed" in told(page)


def test_a_file_of_ones_own_is_a_click_away():
    page = open_page("restore")
    next(button for button in page.button if button.label == "Bring your own file").click().run()

    assert page.session_state["data"] == "upload"
    assert page.session_state["restore_dead"] == 0
    assert "Bring your own file" not in labels(page)


@pytest.mark.parametrize(("mode", "offered"), [("L", True), ("RGB", False)])
def test_only_grey_pictures_can_be_taken_home_as_they_came(mode, offered):
    """Colours were turned to grey when they were read, and are lost."""
    faces, files = low_rank().reshape(12, 5, 6), []
    for number, face in enumerate(faces / faces.max()):
        file = io.BytesIO()
        Image.fromarray((255 * face).astype(np.uint8)).convert(mode).save(file, "PNG")
        files.append((f"{number}.png", file.getvalue()))
    upload = uploads().keep_files(files)

    page = opened(**restored(uploads().read(upload, ReadingOptions()).data, upload))

    assert ("As the files came" in labels(page)) is offered
    assert "NPY" in labels(page)
    assert any("python -m atnmf_core restore images.zip" in code.value for code in page.code)


def test_a_cube_of_ones_own_can_be_taken_home_as_it_came():
    V = low_rank()
    V[4, 6] = np.nan
    pair = write_envi(Dataset(V, "cube", "scene", image_shape=(5, 6)))
    upload = uploads().keep_files([("scene.hdr", pair.header), ("scene.img", pair.binary)])

    page = opened(**restored(uploads().read(upload, ReadingOptions()).data, upload, losses="marked"))

    assert "**1** missing entries are predicted" in told(page)
    assert any("python -m atnmf_core restore scene.hdr" in code.value for code in page.code)


def scene_page(path: str | None = None, **query: str) -> AppTest:
    page = open_page("restore", data="upload", **query)
    if path is not None:
        page.text_input(key="restore_scene_path").set_value(path).run()
    assert not page.exception
    return page


@pytest.fixture
def scene(tmp_path):
    np.save(tmp_path / "scene.npy", damaged_scene(40, 40, 12).cube)
    return tmp_path / "scene.npy"


def test_a_scene_is_looked_at_without_being_read(scene):
    page = scene_page(str(scene))

    assert "40 × 40 pixels, 12 bands" in "\n".join(one.value for one in page.main.markdown)
    assert "Restore block by block" in [button.label for button in page.button]
    assert any(f"restore {scene} --out" in code.value and "--blocks" in code.value for code in page.code)


@pytest.mark.parametrize("name", ["nowhere.npy", "."])
def test_a_path_that_leads_nowhere_is_told(tmp_path, name):
    page = scene_page(str(tmp_path / name))

    assert len(page.error) == 1
    assert "Errno" not in page.error[0].value


def test_others_are_told_the_command_and_open_no_path(monkeypatch):
    monkeypatch.setenv("ATNMF_HOSTED", "1")

    page = scene_page()

    assert not [one for one in page.text_input if one.key == "restore_scene_path"]
    assert any("atnmf_core restore FILE" in code.value for code in page.code)


@pytest.mark.slow
def test_it_is_restored_beside_the_dashboard_and_shown(scene):
    page = scene_page(str(scene), by="hand", K="4", lam="1.1")
    out = scene.with_name("scene-restored.npy")

    press(page, "Restore block by block")
    assert page.session_state["restore_scene_started"][1].wait(SECONDS) == 0
    page.run()

    assert not page.exception
    assert "Restore it again" in [button.label for button in page.button]
    assert len(page.get("image")) == 2
    assert {file.name for file in scene.parent.iterdir()} == {scene.name, out.name}


def test_a_run_of_a_process_that_is_gone_can_be_resumed(scene):
    folder = scene.with_name("scene-restored.npy.blocks")
    folder.mkdir()
    (folder / "process.json").write_text('{"pid": 4194304, "created": 0.0, "blocks": 7}')
    (folder / "block-000000.npz").touch()

    page = scene_page(str(scene))

    assert "Resume" in [button.label for button in page.button]
    assert "1 of 7 blocks are done." in [one.value for one in page.main.markdown]


def test_the_league_names_every_cell_that_is_far_behind():
    said = verdict(compared())
    lost = [row for row in compared() if row.best != OURS]
    far = [row for row in lost if row.means[OURS] > 1.1 * row.means[row.best]]

    assert f"within 10% of the best in {len(lost) - len(far)} more" in said
    assert f"loses in {len(far)}: " in said
    assert said.count(";") == len(far) - 1


def test_the_league_links_to_all_damage_that_the_page_has_and_names_the_rest():
    rows = {row.damage: row for row in league()}
    unlinked = [damage for damage, row in rows.items() if not link(row, OURS)]
    reasons = ("saturated", "shifted", "half of the entries", "wedges")

    assert "dead=0.1&block=0.01" in link(rows["10 % dark, and a dark block"], OURS)
    assert all(any(reason in damage for reason in reasons) for damage in unlinked)
    assert all(reason in NOTE for reason in reasons)
