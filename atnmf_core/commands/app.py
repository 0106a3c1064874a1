"""`app`: the dashboard, started from anywhere; `web`: Explore and Learn as static files, without a server."""

import argparse
import json
import re
import runpy
import shutil
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from ..datasets.bundled import lfw
from ..model.problem import InputError
from .arguments import Subparsers

BESIDE_CORE = Path(__file__).resolve().parents[2]
"""The folder that holds `atnmf_core`: of installed packages, or the source tree."""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "app",
        help="start the dashboard",
        description="Start the dashboard and open it in a browser.",
        epilog="example: atnmf app --port 8600",
    )
    parser.set_defaults(run=run)
    parser.add_argument("--port", type=int, metavar="N", help="where it answers (default: 8501)")
    parser.add_argument(
        "options",
        nargs="*",
        metavar="-- OPTION",
        help="options of `streamlit run`, after two dashes: -- --server.headless true",
    )
    parser = subparsers.add_parser(
        "web",
        help="write Explore and Learn as a page that needs no server",
        description="Write a folder for any web server: Explore and Learn, computed by the browser.",
        epilog="example: atnmf web --out lab && python -m http.server --directory lab",
    )
    parser.set_defaults(run=run_web)
    folder: dict[str, Any] = {"type": Path, "metavar": "FOLDER"}
    parser.add_argument("--out", required=True, help="a new one, or an earlier page", **folder)
    parser.add_argument("--pyodide", help="Pyodide's, to need no internet (default: public)", **folder)


def run(args: argparse.Namespace) -> int:
    if find_spec("streamlit") is None:
        raise InputError("the dashboard needs Streamlit: install this with its extra, .[dashboard].")
    port = [] if args.port is None else [f"--server.port={args.port}"]
    sys.argv = ["streamlit", "run", str(script()), *port, *args.options]
    # In this process, so that Ctrl-C and signals reach it, and by name: the core imports no Streamlit.
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
    return 0


def script(beside: Path = BESIDE_CORE) -> Path:
    """The dashboard's own script: where a wheel puts it, else that of the source tree."""
    for file in (beside / "atnmf_dashboard" / "app.py", beside / "app.py"):
        if file.is_file():
            return file
    raise InputError(f"there is no dashboard beside {beside / 'atnmf_core'}.")


PYODIDE, PYTHON = "314.0.3", "lab.zip"
PUBLIC = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/"
PAGES = "app.py assets/*.[sc]* pages/common/**/* pages/web/*.py pages/explore* pages/explore_view/**/* "
PAGES += "pages/learn* pages/learn_view/**/*"
OF_OTHERS = (  # what the browser reads of installed packages
    ("plotly", "package_data/plotly.min.js"),
    ("streamlit", "static/static/js/katex.*.js"),
    ("streamlit", "static/static/media/SourceSansVF-Upright*.woff2"),
)
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")


def run_web(args: argparse.Namespace) -> int:
    out: Path = args.out
    if out.exists() and any(out.iterdir()) and not (out / PYTHON).exists():
        raise InputError(f"--out {out}: there is something else in this folder.")
    runtime = [] if args.pyodide is None else _runtime(args.pyodide)
    shutil.rmtree(out, ignore_errors=True)
    (out / "learn").mkdir(parents=True)
    dashboard = script().parent
    shown = [*dashboard.glob("pages/web/*.[jc]s*"), *dashboard.glob("assets/*.svg")]
    shown += [_installed(package, pattern) for package, pattern in OF_OTHERS]
    for file in shown + runtime:
        folder = out / "pyodide" if file in runtime else out
        folder.mkdir(exist_ok=True)
        # Streamlit's files have the hash of what is in them between name and ending.
        shutil.copy(file, folder / re.sub(r"^(katex|SourceSans).*(\.\w+)$", r"\1\2", file.name))
    page = (dashboard / "pages" / "web" / "index.html").read_text("utf-8")
    page = page.replace("{pyodide}", "pyodide/" if runtime else PUBLIC)
    (out / "index.html").write_text(page.replace("{root}", "./"), "utf-8")
    (out / "learn" / "index.html").write_text(page.replace("{root}", "../"), "utf-8")
    (out / "theme.css").write_text(_theme(dashboard), "utf-8")
    with ZipFile(out / PYTHON, "w", ZIP_DEFLATED) as archive:
        for file, name in _read_by_python(dashboard):
            archive.write(file, name)
        with archive.open("faces.npy", "w") as faces:
            np.save(faces, lfw().images(lfw().V))
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    print(f"{out}: {size / 1e6:.1f} MB. To look at it: python -m http.server --directory {out}")
    return 0


def _read_by_python(dashboard: Path) -> Iterator[tuple[Path, str]]:
    cachetools = _installed("cachetools", "__init__.py").parents[1]
    places = (dashboard, PAGES), (BESIDE_CORE, "atnmf_core/**/*"), (cachetools, "cachetools/*")
    for folder, patterns in places:
        for file in sorted(file for pattern in patterns.split() for file in folder.glob(pattern)):
            if file.is_file() and file.suffix not in (".pyc", ".npz"):
                yield file, file.relative_to(folder).as_posix()


def _theme(dashboard: Path) -> str:
    """The dashboard's colours and its font, by the names that the components know."""
    theme = tomllib.loads((dashboard / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]
    light, dark = theme["light"], theme["dark"]
    rules = ":root { color-scheme: light dark; --st-font: SourceSans, sans-serif; }\n"
    for place, ours, other in ((":root", light, dark), ("aside", light["sidebar"], dark["sidebar"])):
        names = {name: re.sub("([A-Z])", r"-\1", name).lower() for name in ours if name != "sidebar"}
        said = (f"--st-{css}: light-dark({ours[name]}, {other[name]});" for name, css in names.items())
        rules += f"{place} {{ {' '.join(said)} }}\n"
    return rules


def _runtime(source: Path) -> list[Path]:
    lock = source / "pyodide-lock.json"
    packages = json.loads(lock.read_text("utf-8"))["packages"] if lock.is_file() else {}
    wheels = [packages[name]["file_name"] for name in ("numpy", "scipy", "pillow") if name in packages]
    files = [source / name for name in (*RUNTIME, *wheels)]
    lacking = [file.name for file in files if not file.is_file()]
    if lacking:
        raise InputError(f"--pyodide {source}: Pyodide {PYODIDE} is not whole without {', '.join(lacking)}.")
    return files


def _installed(package: str, pattern: str) -> Path:
    found = find_spec(package)
    files = [] if found is None else sorted(Path(found.origin or "").parent.glob(pattern))
    if not files:
        raise InputError(f"the page needs {package}: install this with its extra, .[dashboard].")
    return files[0]
