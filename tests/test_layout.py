"""The promises that the source tree makes: who depends on whom, and one set of version ranges."""

import ast
import pkgutil
import subprocess
import sys
import tomllib
from pathlib import Path

IMPORT_ALL_WITHOUT_STREAMLIT = """
import importlib, pkgutil, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "streamlit":
            raise ImportError("streamlit is not installed here")

sys.meta_path.insert(0, Refuse())
import atnmf_core

for module in pkgutil.walk_packages(atnmf_core.__path__, "atnmf_core."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        print(module.name)
"""


def test_the_core_imports_without_streamlit(repository: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL_WITHOUT_STREAMLIT], cwd=repository, capture_output=True, text=True
    )

    assert run.returncode == 0, run.stderr
    assert set(run.stdout.split()) >= top_modules(repository / "atnmf_core")


def test_the_core_knows_nothing_of_the_pages(repository: Path) -> None:
    for source in (repository / "atnmf_core").rglob("*.py"):
        assert not imported_packages(source) & {"streamlit", "pages", "tests", "app"}, source


def test_requirements_and_project_metadata_agree(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    declared = set(project["dependencies"] + project["optional-dependencies"]["dashboard"])

    assert requirements(repository / "requirements.txt") == declared
    assert set(project["optional-dependencies"]["dask"]) <= requirements(
        repository / "tests/requirements.txt"
    )


def test_every_requirement_has_a_lower_and_an_upper_bound(repository: Path) -> None:
    for file in ("requirements.txt", "tests/requirements.txt", "tests/benchmarks/requirements.txt"):
        for requirement in requirements(repository / file):
            assert ">=" in requirement, requirement
            assert ",<" in requirement, requirement


def requirements(file: Path) -> set[str]:
    lines = (line.partition("#")[0].strip() for line in file.read_text().splitlines())
    return {line for line in lines if line}


def top_modules(package: Path) -> set[str]:
    names = {module.name for module in pkgutil.iter_modules([str(package)])} - {"__main__"}
    return {f"{package.name}.{name}" for name in names}


def imported_packages(source: Path) -> set[str]:
    packages = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            packages |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            packages.add(node.module.partition(".")[0])
    return packages
