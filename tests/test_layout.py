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

FACTORIZE_ALONE = """
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


def run(repository: Path, program: str, *words: str) -> str:
    """What a program prints in a process of its own."""
    command = [sys.executable, "-c", program, *words]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("package", "needed_by"), [("streamlit", "nothing"), ("sklearn", "atnmf_core.estimator")]
)
def test_the_core_imports_without(repository, package, needed_by):
    imported = run(repository, IMPORT_ALL_WITHOUT, package, needed_by)

    assert set(imported.split()) >= top_modules(repository / "atnmf_core") - {needed_by}


def test_factorize_needs_numpy_and_scipy_alone(repository):
    run(repository, FACTORIZE_ALONE)


def test_imports_point_downwards_in_no_circle_and_what_is_common_serves_two_pages(repository):
    drawn = arrows(repository)

    assert spelled({arrow for arrow in drawn if not is_drawn(*arrow)}) == set()
    assert spelled({(tail, head) for tail, head in drawn if tail in reached(drawn, head)}) == set()
    assert {name for name, pages in users_of_common(drawn).items() if len(pages) < 2} == set()
    # Such imports are seen at all: a relative one, one of a page, and one inside a function.
    assert {
        ("atnmf_core.sweep.store", "atnmf_core.sweep.grid"),
        ("pages.explore", "pages.explore_view.panels"),
        ("atnmf_core.figures.publish", "atnmf_core.figures.report"),
    } <= drawn


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("atnmf_core.model.problem", "atnmf_core.figures.panels"),
        ("atnmf_core.sweep.store", "atnmf_core.analysis.parts"),
        ("atnmf_core.figures.panels", "atnmf_core.solvers.fast"),
        ("atnmf_core.model.problem", "pages.explore"),
        ("pages.common.frame", "pages.explore_view.view"),
        ("pages.learn", "pages.explore_view.view"),
        ("pages.explore_view.view", "pages.learn"),
    ],
)
def test_an_arrow_that_is_turned_round_is_not_drawn(importer, imported):
    assert not is_drawn(importer, imported)


def test_requirements_and_project_metadata_agree_and_are_bounded(repository):
    pyproject = tomllib.loads((repository / "pyproject.toml").read_text())
    project = pyproject["project"]
    declared = set(project["dependencies"] + project["optional-dependencies"]["dashboard"])

    assert requirements(repository / "requirements.txt") == declared
    for_tests = requirements(repository / "tests/requirements.txt")
    assert set(pyproject["build-system"]["requires"]) <= for_tests
    for extra in ("dask", "sklearn"):
        assert set(project["optional-dependencies"][extra]) <= for_tests
    for requirement in declared | for_tests | requirements(repository / "tests/benchmarks/requirements.txt"):
        assert ">=" in requirement, requirement
        assert ",<" in requirement, requirement


def test_every_package_that_is_imported_is_declared(repository):
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    core = {*project["dependencies"], *extras["dask"], *extras["sklearn"]}

    assert not undeclared(repository, ("atnmf_core/**/*.py",), core)
    assert not undeclared(repository, ("app.py", "pages/**/*.py"), core | set(extras["dashboard"]))


def is_drawn(importer: str, imported: str) -> bool:
    tail, head = place(importer), place(imported)
    if tail == head == "pages":
        return page(imported) in {"common", page(importer)}
    if tail == head:
        return True
    tier = {name: row for row, names in enumerate(TIERS) for name in names}
    return tier[tail] < tier[head] and (tail, head) not in NOT_DRAWN


def users_of_common(drawn: set[Arrow]) -> dict[str, set[str]]:
    """For each module of pages/common, the pages whose code reaches it."""
    names = {name for arrow in drawn for name in arrow}
    users: dict[str, set[str]] = {name: set() for name in names if name.startswith("pages.common.")}
    for name in names:
        if place(name) == "pages" and page(name) != "common":
            for common in reached(drawn, name) & set(users):
                users[common].add(page(name))
    return users


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
