"""`fit` prints what the Python call gives, and writes factors and pictures; a bar says how far it is."""

import numpy as np
import pytest
from PIL import Image

from atnmf_core import factorize, hide_entries, load_dataset, rmse
from atnmf_core.__main__ import main
from atnmf_core.commands.arguments import progress_bar
from atnmf_core.figures.publish import save_panels

FIT = ["fit", "--data", "lfw", "--alpha", "0.3", "--mask-seed", "4", "--K", "6", "--seed", "2"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "atnmf", "lam": 2.0, "missing": "zero"},
        {"method": "atnmf", "lam": 1.2, "leash": 0.2},
        {"method": "anmf", "mu": 3.0, "gamma": 0.7, "max_inner": 7, "tol_outer": 0.0},
    ],
    ids=str,
)
def test_what_is_printed_and_written_is_what_the_python_call_gives(options, tmp_path, capsys):
    data = load_dataset("lfw")
    observed = hide_entries(data.shape, 0.3, seed=4)
    fit = factorize(data.V, observed, K=6, seed=2, **options)
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]

    assert main([*FIT, *words, "--out", str(tmp_path / "fit.npz")]) == 0

    said = capsys.readouterr().out
    assert f"RMSE, hidden     {rmse(data.V, fit.V_hat, ~observed):.6g}\n" in said
    assert f"loss             {fit.history['adversarial_loss'][-1]:.6g}\n" in said
    assert ("iterations       7 (iteration limit)" in said) == ("max_inner" in options)
    with np.load(tmp_path / "fit.npz") as kept:
        np.testing.assert_array_equal(kept["observed"], observed)
        np.testing.assert_allclose(kept[f"W_{fit.method}"], fit.W, rtol=1e-5)
        np.testing.assert_allclose(kept[f"H_{fit.method}"], fit.H, rtol=1e-5)


@pytest.mark.parametrize(
    ("method", "name", "panels"),
    [(["nmf"], "NMF", 3), (["atnmf", "--lam", "2"], "AT-NMF", 5), (["anmf"], "ANMF", 3)],
)
def test_the_picture_shows_original_masked_and_what_the_method_learned(
    method, name, panels, tmp_path, monkeypatch
):
    titles: list[str] = []

    def titled(drawn, look):
        titles.extend(panel.title for panel in drawn)
        return save_panels(drawn, look)

    monkeypatch.setattr("atnmf_core.commands.fit.save_panels", titled)
    pytest.importorskip("matplotlib")

    assert main([*FIT, "--method", *method, "--png", str(tmp_path / "fit.png"), "--picture", "3"]) == 0

    with Image.open(tmp_path / "fit.png") as picture:
        assert picture.format == "PNG"
    assert len(titles) == panels
    assert titles[-1] == f"{name} restores"


def test_a_file_is_read_as_the_options_say(tmp_path, capsys):
    values = np.arange(-1.0, 29.0).reshape(6, 5)
    np.savez(tmp_path / "two.npz", A=values, B=2 * values)
    fit = ["fit", "--data", str(tmp_path / "two.npz"), "--K", "2"]

    assert main(fit) == 1
    assert "choose one of A (6 x 5), B (6 x 5)" in capsys.readouterr().err
    assert main([*fit, "--variable", "B"]) == 1
    assert "down to -2" in capsys.readouterr().err
    assert main([*fit, "--variable", "B", "--negative", "zero", "--out", str(tmp_path / "fit.npz")]) == 0
    with np.load(tmp_path / "fit.npz") as kept:
        np.testing.assert_allclose(kept["W_nmf"] @ kept["H_nmf"], np.maximum(2 * values, 0), atol=4)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--png", "x.png", "--picture", "101"], "--picture 101: lfw has pictures 1 to 100."),
        (["--png", "x.png", "--picture", "0"], "--picture 0: lfw has pictures 1 to 100."),
        (["--picture", "2"], "--picture 2: no picture is drawn without --png; leave --picture out."),
        (["--masks", "paper"], "--masks paper: nothing is hidden without --alpha; leave --masks out."),
        (["--pattern", "block"], "--pattern block: nothing is hidden without --alpha"),
        (["--mask-seed", "0"], "--mask-seed 0: nothing is hidden without --alpha"),
        (
            ["--alpha", "0.3", "--masks", "paper", "--pattern", "block"],
            "--pattern block: --masks paper takes",
        ),
        (["--start", "pure-pixels", "--n-init", "3"], "--n-init 3: --start pure-pixels is one start"),
        (["--mu", "2"], "mu was given, but only method 'anmf' has it"),
        (["--max-outer", "0"], "max_outer=0"),
    ],
)
def test_what_cannot_be_done_is_refused_before_the_fit(
    words, complaint, tmp_path, monkeypatch,
    capsys):  # fmt: skip
    monkeypatch.chdir(tmp_path)

    assert main(["fit", "--data", "lfw", "--K", "3", *words]) == 2

    said = capsys.readouterr()
    assert complaint in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_what_nothing_is_observed_of_is_said(tmp_path, capsys):
    V = np.random.default_rng(0).uniform(0.1, 1, (6, 8))
    V[2], V[:, 5] = np.nan, np.nan
    np.save(tmp_path / "gaps.npy", V)

    assert main(["fit", "--data", str(tmp_path / "gaps.npy"), "--alpha", "0", "--K", "2"]) == 0

    out = capsys.readouterr().out
    assert "Nothing is observed of 1 column and 1 row" in out
    assert "RMSE, hidden" not in out


@pytest.mark.parametrize(("shown", "is_shown"), [(True, True), (False, False), (None, False)])
def test_the_bar_shows_how_much_is_done_where_it_was_asked_for(shown, is_shown, capsys):
    with progress_bar("faces", shown) as show:
        show(90, 100)
        show(100, 100)

    said = capsys.readouterr().err
    assert ("faces: 100%" in said and "100/100" in said) == is_shown
    assert bool(said) == is_shown
