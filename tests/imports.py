"""Which modules of the source tree import which, read from the sources without running them."""

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

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


def classes(root: Path) -> dict[str, list[str]]:
    """The modules that define a class, by its name."""
    found: dict[str, list[str]] = {}
    for module, file in modules(root).items():
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(module)
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
