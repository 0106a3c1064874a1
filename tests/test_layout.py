"""The promises that the source tree makes: who depends on whom, and one set of version ranges."""

import pkgutil
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.imports import Arrow, arrows, classes, foreign_packages, in_a_cycle, modules, reached

TIERS = (
    ("pages", "__main__"),
    ("commands",),
    ("figures",),
    ("lesson",),
    ("reference",),
    ("export", "estimator", "recipe"),
    ("atnmf_core",),
    ("restoration",),
    ("sweep", "analysis"),
    ("running",),
    ("datasets", "factorization", "projection"),
    ("solvers", "pure_pixels"),
    ("result", "initialisation", "hiding", "metrics"),
    ("adversary",),
    ("problem", "names"),
)
"""The packages and modules of the core under the pages, from the top down. An import points downwards only;
what stands in one tier does not import its neighbours.
"""

NOT_DRAWN = {
    ("pages", "commands"),  # the dashboard starts the command line, it does not import it
    ("figures", "metrics"),  # a figure never measures
    ("figures", "factorization"),
    ("figures", "solvers"),
    ("reference", "solvers"),
}
"""Arrows that point downwards and are not wanted all the same."""

IMPORT_ALL_WITHOUT = """
import importlib, pkgutil, sys

refused, left_out = sys.argv[1:]

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == refused:
            raise ImportError(f"{refused} is not installed here")

sys.meta_path.insert(0, Refuse())
import atnmf_core

for module in pkgutil.walk_packages(atnmf_core.__path__, "atnmf_core."):
    if not module.name.endswith("__main__") and module.name != left_out:
        importlib.import_module(module.name)
        print(module.name)
"""


@pytest.mark.parametrize(
    ("package", "needed_by"), [("streamlit", "nothing"), ("sklearn", "atnmf_core.estimator")]
)
def test_the_core_imports_without(repository: Path, package: str, needed_by: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL_WITHOUT, package, needed_by],
        cwd=repository,
        capture_output=True,
        text=True,
    )

    assert run.returncode == 0, run.stderr
    assert set(run.stdout.split()) >= top_modules(repository / "atnmf_core") - {needed_by}


def test_every_package_has_a_tier(repository: Path) -> None:
    assert {place(name) for name in modules(repository)} <= {name for tier in TIERS for name in tier}


def test_imports_point_downwards(repository: Path) -> None:
    assert not wrong_arrows(repository)


def test_no_modules_import_each_other(repository: Path) -> None:
    assert not spelled(in_a_cycle(arrows(repository)))


def test_what_is_common_serves_two_pages(repository: Path) -> None:
    assert not of_one_page(repository)


def test_no_two_classes_have_the_same_name(repository: Path) -> None:
    assert {name: places for name, places in classes(repository).items() if len(places) > 1} == {}


@pytest.mark.parametrize(
    ("importer", "statement", "wrong"),
    [
        (
            "atnmf_core/problem.py",
            "from .figures.panels import f",
            "atnmf_core.problem -> atnmf_core.figures.panels",
        ),
        (
            "atnmf_core/sweep/store.py",
            "from ..analysis import parts",
            "atnmf_core.sweep.store -> atnmf_core.analysis.parts",
        ),
        (
            "atnmf_core/figures/panels.py",
            "def f():\n    from .. import metrics",
            "atnmf_core.figures.panels -> atnmf_core.metrics",
        ),
        ("atnmf_core/problem.py", "import pages.explore", "atnmf_core.problem -> pages.explore"),
        (
            "pages/common/frame.py",
            "from pages.explore_view import view",
            "pages.common.frame -> pages.explore_view.view",
        ),
        (
            "pages/learn.py",
            "from pages.explore_view.view import show",
            "pages.learn -> pages.explore_view.view",
        ),
        ("pages/explore_view/view.py", "import pages.learn", "pages.explore_view.view -> pages.learn"),
    ],
)
def test_an_arrow_that_is_turned_round_is_found(
    small_tree: Path, importer: str, statement: str, wrong: str
) -> None:
    assert wrong_arrows(small_tree) == set()

    (small_tree / importer).write_text(statement)

    assert wrong_arrows(small_tree) == {wrong}


def test_a_cycle_is_found(small_tree: Path) -> None:
    assert in_a_cycle(arrows(small_tree)) == set()

    (small_tree / "atnmf_core/sweep/grid.py").write_text("from .store import Store")

    assert spelled(in_a_cycle(arrows(small_tree))) == {
        "atnmf_core.sweep.grid -> atnmf_core.sweep.store",
        "atnmf_core.sweep.store -> atnmf_core.sweep.grid",
    }


def test_a_common_module_of_one_page_is_found(small_tree: Path) -> None:
    assert of_one_page(small_tree) == set()

    (small_tree / "pages/learn.py").write_text("")

    assert of_one_page(small_tree) == {"pages.common.frame", "pages.common.words"}


@pytest.fixture
def small_tree(tmp_path: Path) -> Path:
    """A tree in order: two pages, the core's drawing in small."""
    sources = {
        "atnmf_core/problem.py": "",
        "atnmf_core/metrics.py": "from .problem import InputError",
        "atnmf_core/analysis/parts.py": "from ..metrics import rmse",
        "atnmf_core/sweep/grid.py": "from ..problem import InputError",
        "atnmf_core/sweep/store.py": "from . import grid\nimport atnmf_core.problem",
        "atnmf_core/figures/panels.py": "from ..analysis.parts import part",
        "pages/common/words.py": "",
        "pages/common/frame.py": "from .words import words",
        "pages/explore_view/view.py": "import pages.common.frame\nfrom atnmf_core.figures import panels",
        "pages/explore.py": "from pages.explore_view.view import show",
        "pages/learn.py": "from pages.common.frame import frame",
    }
    for name, source in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source)
    return tmp_path


def test_requirements_and_project_metadata_agree(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    declared = set(project["dependencies"] + project["optional-dependencies"]["dashboard"])

    assert requirements(repository / "requirements.txt") == declared
    for_tests = requirements(repository / "tests/requirements.txt")
    for extra in ("dask", "sklearn"):
        assert set(project["optional-dependencies"][extra]) <= for_tests


def test_every_package_that_is_imported_is_declared(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    core = {*project["dependencies"], *extras["dask"], *extras["sklearn"]}

    assert not undeclared(repository, ("atnmf_core/**/*.py",), core)
    assert not undeclared(repository, ("app.py", "pages/**/*.py"), core | set(extras["dashboard"]))


def test_every_requirement_has_a_lower_and_an_upper_bound(repository: Path) -> None:
    for file in ("requirements.txt", "tests/requirements.txt", "tests/benchmarks/requirements.txt"):
        for requirement in requirements(repository / file):
            assert ">=" in requirement, requirement
            assert ",<" in requirement, requirement


def wrong_arrows(root: Path) -> set[str]:
    return spelled({arrow for arrow in arrows(root) if not is_drawn(*arrow)})


def is_drawn(importer: str, imported: str) -> bool:
    tail, head = place(importer), place(imported)
    if tail == head == "pages":
        return page(imported) in {"common", page(importer)}
    if tail == head:
        return True
    tier = {name: row for row, names in enumerate(TIERS) for name in names}
    return tier[tail] < tier[head] and (tail, head) not in NOT_DRAWN


def of_one_page(root: Path) -> set[str]:
    """The modules of pages/common that the code of fewer than two pages reaches."""
    drawn, names = arrows(root), modules(root)
    users: dict[str, set[str]] = {name: set() for name in names if name.startswith("pages.common.")}
    for name in names:
        if place(name) == "pages" and page(name) != "common":
            for common in reached(drawn, name) & set(users):
                users[common].add(page(name))
    return {common for common, of in users.items() if len(of) < 2}


def place(module: str) -> str:
    """The entry of TIERS that a module belongs to."""
    parts = module.split(".")
    return "pages" if parts[0] == "pages" else parts[1] if len(parts) > 1 else parts[0]


def page(module: str) -> str:
    """The page whose code a module of pages/ is, or "common"."""
    return module.split(".")[1].removesuffix("_view")


def spelled(found: set[Arrow]) -> set[str]:
    return {f"{importer} -> {imported}" for importer, imported in found}


def requirements(file: Path) -> set[str]:
    lines = (line.partition("#")[0].strip() for line in file.read_text().splitlines())
    return {line for line in lines if line}


def undeclared(root: Path, patterns: tuple[str, ...], declared: set[str]) -> set[str]:
    """Packages of others that these files import and none of the requirements installs."""
    installed_by = packages_distributions()
    names = {re.split(r"[^\w.-]", requirement)[0].lower() for requirement in declared}
    return {
        package
        for package in foreign_packages(root, patterns)
        if names.isdisjoint(name.lower() for name in installed_by.get(package, []))
    }


def top_modules(package: Path) -> set[str]:
    names = {module.name for module in pkgutil.iter_modules([str(package)])} - {"__main__"}
    return {f"{package.name}.{name}" for name in names}
