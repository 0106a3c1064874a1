"""The promises that the source tree makes: who depends on whom, one set of version ranges, a light core."""

from __future__ import annotations

import ast
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

TIERS = (
    ("pages", "__main__"),
    ("commands",),
    ("estimator", "export"),
    ("recipe", "atnmf_core"),
    ("figures",),
    ("lesson",),
    ("reference",),
    ("sweep", "restoration", "analysis"),
    ("datasets",),
    ("jobs",),
    ("solvers",),
    ("model",),
)
"""The folders of the core under the pages, and its few modules beside them, from the top down. An import
points downwards only; what stands in one tier does not import its neighbours.
"""

NOT_DRAWN = {
    ("pages", "commands"),  # the dashboard starts the command line, it does not import it
    ("figures", "solvers"),  # a figure never computes
    ("reference", "jobs"),
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
def test_the_core_imports_without(repository, package, needed_by):
    run = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL_WITHOUT, package, needed_by],
        cwd=repository,
        capture_output=True,
        text=True,
    )

    assert run.returncode == 0, run.stderr
    assert set(run.stdout.split()) >= top_modules(repository / "atnmf_core") - {needed_by}


def test_every_package_has_a_tier(repository):
    assert {place(name) for name in modules(repository)} <= {name for tier in TIERS for name in tier}


def test_imports_point_downwards(repository):
    assert not wrong_arrows(repository)


def test_no_modules_import_each_other(repository):
    assert not spelled(in_a_cycle(arrows(repository)))


def test_what_is_common_serves_two_pages(repository):
    assert not of_one_page(repository)


@pytest.mark.parametrize(
    ("importer", "statement", "imported"),
    [
        ("atnmf_core/model/problem.py", "from ..figures.panels import f", "atnmf_core.figures.panels"),
        ("atnmf_core/sweep/store.py", "from ..analysis import parts", "atnmf_core.analysis.parts"),
        (
            "atnmf_core/figures/panels.py",
            "def f():\n    from ..solvers import fast",
            "atnmf_core.solvers.fast",
        ),
        ("atnmf_core/model/problem.py", "import pages.explore", "pages.explore"),
        ("pages/common/frame.py", "from pages.explore_view import view", "pages.explore_view.view"),
        ("pages/learn.py", "from pages.explore_view.view import show", "pages.explore_view.view"),
        ("pages/explore_view/view.py", "import pages.learn", "pages.learn"),
    ],
)
def test_an_arrow_that_is_turned_round_is_found(small_tree, importer, statement, imported):
    assert wrong_arrows(small_tree) == set()

    (small_tree / importer).write_text(statement)

    name = importer.removesuffix(".py").replace("/", ".")
    assert wrong_arrows(small_tree) == {f"{name} -> {imported}"}


def test_a_cycle_is_found(small_tree):
    assert in_a_cycle(arrows(small_tree)) == set()

    (small_tree / "atnmf_core/sweep/grid.py").write_text("from .store import Store")

    assert spelled(in_a_cycle(arrows(small_tree))) == {
        "atnmf_core.sweep.grid -> atnmf_core.sweep.store",
        "atnmf_core.sweep.store -> atnmf_core.sweep.grid",
    }


def test_a_common_module_of_one_page_is_found(small_tree):
    assert of_one_page(small_tree) == set()

    (small_tree / "pages/learn.py").write_text("")

    assert of_one_page(small_tree) == {"pages.common.frame", "pages.common.words"}


@pytest.fixture
def small_tree(tmp_path):
    """A tree in order: two pages, the core's drawing in small."""
    sources = {
        "atnmf_core/model/problem.py": "",
        "atnmf_core/model/metrics.py": "from .problem import InputError",
        "atnmf_core/analysis/parts.py": "from ..model.metrics import rmse",
        "atnmf_core/solvers/fast.py": "",
        "atnmf_core/sweep/grid.py": "from ..model.problem import InputError",
        "atnmf_core/sweep/store.py": "from . import grid\nimport atnmf_core.model.problem",
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


def test_requirements_and_project_metadata_agree(repository):
    pyproject = tomllib.loads((repository / "pyproject.toml").read_text())
    project = pyproject["project"]
    declared = set(project["dependencies"] + project["optional-dependencies"]["dashboard"])

    assert requirements(repository / "requirements.txt") == declared
    for_tests = requirements(repository / "tests/requirements.txt")
    assert set(pyproject["build-system"]["requires"]) <= for_tests
    for extra in ("dask", "sklearn"):
        assert set(project["optional-dependencies"][extra]) <= for_tests


def test_every_package_that_is_imported_is_declared(repository):
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    core = {*project["dependencies"], *extras["dask"], *extras["sklearn"]}

    assert not undeclared(repository, ("atnmf_core/**/*.py",), core)
    assert not undeclared(repository, ("app.py", "pages/**/*.py"), core | set(extras["dashboard"]))


def test_every_requirement_has_a_lower_and_an_upper_bound(repository):
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
        if names.isdisjoint(name.lower() for name in installed_by.get(package, [package]))
    }


def top_modules(package: Path) -> set[str]:
    names = {module.name for module in pkgutil.iter_modules([str(package)])} - {"__main__"}
    return {f"{package.name}.{name}" for name in names}


CHILD = """
import sys

ALLOWED = {"atnmf_core", "numpy", "scipy", *sys.stdlib_module_names}


class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in ALLOWED and not name.startswith("_sysconfigdata"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Refuse())

import numpy as np

from atnmf_core import factorize, hide_entries, rmse, transform

V = np.random.default_rng(0).random((12, 9))
observed = hide_entries(V.shape, alpha=0.3, seed=0)
for method, options in {"nmf": {}, "atnmf": {"lam": 2.0}, "anmf": {}}.items():
    fit = factorize(V, observed, K=2, method=method, max_outer=3, **options)
    assert np.isfinite(rmse(V, fit.V_hat, ~observed))
factorize(V, observed, K=2, solver="paper", max_outer=1, max_inner=3)
factorize(V, K=2, init="pure-pixels", max_outer=1)
transform(V, fit.W, observed)
"""


def test_factorize_needs_numpy_and_scipy_alone(repository):
    child = subprocess.run(
        [sys.executable, "-c", CHILD], cwd=repository, capture_output=True, text=True, check=False
    )

    assert child.returncode == 0, child.stderr


Arrow = tuple[str, str]


def modules(root: Path) -> dict[str, Path]:
    """The dotted name and the file of every module of the core and of the pages."""
    files = [file for folder in ("atnmf_core", "pages") for file in sorted((root / folder).rglob("*.py"))]
    return {_dotted(file.relative_to(root)): file for file in files}


def arrows(root: Path) -> set[Arrow]:
    """(importer, imported) for every import between two modules of the tree, inside functions too."""
    known = modules(root)
    return {
        (name, target)
        for name, file in known.items()
        for target in _imported(name, file, known)
        if target != name
    }


def in_a_cycle(drawn: set[Arrow]) -> set[Arrow]:
    """Those arrows from whose head a way leads back to their tail."""
    return {(tail, head) for tail, head in drawn if tail in reached(drawn, head)}


def reached(drawn: set[Arrow], start: str) -> set[str]:
    """Every module that `start` imports, directly or through others, and `start` itself."""
    found, waiting = {start}, [start]
    while waiting:
        tail = waiting.pop()
        new = {head for one, head in drawn if one == tail} - found
        found |= new
        waiting += new
    return found


def foreign_packages(root: Path, patterns: Iterable[str]) -> set[str]:
    """The packages that these files import, inside functions too, without Python's own and ours."""
    files = [file for pattern in patterns for file in root.glob(pattern)]
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))]
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {
        node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level
    }
    return {name.partition(".")[0] for name in imported} - sys.stdlib_module_names - {"atnmf_core", "pages"}


def _imported(name: str, file: Path, known: dict[str, Path]) -> Iterator[str]:
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            for alias in node.names:
                yield from [one for one in (f"{base}.{alias.name}", base) if one in known][:1]


def _dotted(file: Path) -> str:
    return ".".join(file.with_suffix("").parts).removesuffix(".__init__")
