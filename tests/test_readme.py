"""The README tells the truth: its examples run, its pictures and files exist, and it stays short."""

import math
import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from atnmf_core.commands.app import PYODIDE
from atnmf_core.datasets.catalogue import catalogue
from atnmf_core.lesson.findings import findings
from atnmf_core.reference import NAMES, TITLES, measured
from atnmf_core.reference.compare import compare_table
from atnmf_core.reference.league import OURS, compared, league
from pages.common.hosting import Quotas
from tests.benchmarks.league import readme_text, ten_rows

REPOSITORY = Path(__file__).parents[1]
README = (REPOSITORY / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)
PYTHON = [
    (example, output)
    for (language, example), (next_language, output) in pairwise(BLOCKS)
    if (language, next_language) == ("python", "text")
]
COMMANDS = [
    line
    for language, body in BLOCKS
    if language == "sh"
    for line in body.replace("\\\n", " ").splitlines()
    if line.startswith("python -m atnmf_core")
]
MAX_PICTURE_BYTES = 300_000


@pytest.mark.parametrize(("example", "output"), PYTHON, ids=[f"example-{i}" for i in range(len(PYTHON))])
def test_a_python_example_prints_what_is_shown(example, output, tmp_path):
    assert run_in(tmp_path, [sys.executable, "-W", "error", "-c", example]) == output


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.split()[3])
def test_a_command_line_example_runs(command, tmp_path):
    run_in(tmp_path, [sys.executable, *shlex.split(command, comments=True)[1:]])


def test_there_are_examples_of_both_kinds_and_none_is_left_out():
    assert len(PYTHON) == [language for language, _ in BLOCKS].count("python") > 0
    assert COMMANDS


def test_every_file_it_points_at_exists():
    text = re.sub(r"`[^`\n]*`", "", README)
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", text) + re.findall(r'src(?:set)?="([^"]+)"', text)

    missing = [target for target in targets if not (REPOSITORY / target).exists()]

    assert targets
    assert not missing


def test_its_pictures_are_small():
    for picture in (REPOSITORY / "assets" / "screenshots").iterdir():
        assert picture.stat().st_size < MAX_PICTURE_BYTES, picture.name


def test_its_exceptions_are_those_of_the_bundled_tables():
    told = {
        (title, method, float(alpha))
        for title, method, alphas in re.findall(
            r"^\| ([A-Z][\w ]+) \| (ANMF|AT-NMF, λ = \d) \| ((?:0\.\d(?:, )?)+) \|", README, re.MULTILINE
        )
        for alpha in alphas.split(", ")
    }
    outside = {
        (
            TITLES[name],
            "ANMF" if cell.published.method == "anmf" else f"AT-NMF, λ = {cell.published.lam:g}",
            cell.published.alpha,
        )
        for name in NAMES
        for cell in compare_table(name, measured(name))
        if cell.agreement == "outside"
    }

    assert told == outside


def test_its_league_is_the_bundled_one():
    """`python -m tests.benchmarks.league` writes it."""
    assert readme_text() in README
    assert len(ten_rows()) == 10


def test_what_it_says_of_the_league_holds():
    better = {
        (row.data, row.damage): row.best
        for row in compared()
        if row.measure == "RMSE" and row.means[OURS] > 1.1 * row.means[row.best]
    }
    assert better == {
        ("corn", "half of the bands in half of the image"): "Span of complete pixels",
        ("gamsberg", "50 % at random"): "Soft-impute",
        # All its pixels are near: that span is hardly more than their mean.
        ("gamsberg", "one block, lost in all bands"): "Span of complete pixels",
    }
    for row in league():
        if row.part == "beyond" and row.rivals:
            # Nobody is much better than anybody.
            assert min(row.rivals.values()) > 0.9 * row.means[OURS]
    rows = {(row.part, row.data, row.damage): row.means[OURS] for row in league()}
    for kind in ("salt and pepper, 5 %", "stripes in a third of the bands"):
        with_block = rows["blocks", "moffet", f"{kind}, and a dark block"]
        assert with_block < 2 * rows["unmarked", "moffet", kind]


def test_its_limits_and_sizes_are_those_of_the_program():
    limits = re.findall(r"`ATNMF_MAX_(\w+)`\s+\((\d+)\)", README)
    assert {name.lower(): int(number) for name, number in limits} == vars(Quotas())
    entries = {entry.name: entry for entry in catalogue()}
    for name in ("cbcl", "moffet", "madonna"):
        row = next(line for line in README.splitlines() if line.startswith(f"| `{name}`"))
        sides = [int(side) for side in re.search(r"(\d+) x (\d+) pixels", row).groups()]
        count = re.search(r"(\d+) (?:faces|bands)", row)[1]
        assert {math.prod(sides), int(count)} == set(entries[name].shape)
    assert f"Pyodide {PYODIDE}" in README


def test_what_it_says_of_marked_losses_holds():
    """Near equal: a few per cent, at the hidden shares for which enough is left to see."""
    for alpha in (0.3, 0.4, 0.5):
        for finding in findings(alpha):
            gain = finding.ignored_gain
            assert finding.name == "synthetic" or gain is None or abs(gain) < 0.03


def test_it_is_a_short_read():
    assert len(README.splitlines()) <= 200


def run_in(folder: Path, command: list[str]) -> str:
    """What a command prints when a reader runs it, in an empty folder with the package at hand."""
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout
