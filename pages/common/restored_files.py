"""Restored data as a file: what it keeps of the original, and the original's format."""

from __future__ import annotations

from typing import Any, Literal

from atnmf_core import Dataset
from atnmf_core.analysis.recovery import restored_cube
from atnmf_core.datasets import bytes_like
from atnmf_core.datasets.writers import zipped

from . import fit_pair
from .address import Address
from .data_choice import UPLOAD
from .file_setting import file_setting
from .setting import Setting
from .take_away import download, stem_of
from .upload_form import uploaded
from .uploads import uploads

Kept = Literal["measured", "observed", "nothing"]
WHAT_IS_KEPT: dict[Kept, str] = {
    "measured": "every measured value as it was",
    "observed": "observed entries as they were",
    "nothing": "W H alone",
}
COLOURS = (".png", ".jpg", ".jpeg", ".bmp", ".zip")
"""Files that may hold colours, which cannot be written back."""


def entries_to_keep(setting: Setting, data: Dataset) -> Kept:
    """What a file with restored data keeps. If the data has no gaps, only hidden entries can be restored."""
    if setting.restored == "model":
        return "nothing"
    return "observed" if data.observed.all() or setting.written == "observed" else "measured"


def draw_written(address: Address, setting: Setting, data: Dataset) -> None:
    """The choice of what to keep, if there is one."""
    if setting.restored == "observed" and setting.alpha and not data.observed.all():
        address.draw("written", label_visibility="collapsed")


def download_like_source(setting: Setting, data: Dataset, method: str, W: Any, H: Any) -> None:
    """A button for the restored data in the uploaded file's own format, with everything else that it
    holds.
    """
    files = uploads().files(setting.upload) if setting.data == UPLOAD else ()
    options = file_setting().options
    whole = uploaded() if files else None
    is_cut = whole is None or whole.content_hash != data.content_hash
    has_colours = any(name.lower().endswith(COLOURS) for name, _ in files)
    if is_cut or options.normalisation != "none" or has_colours:
        return
    name = files[0][0] if len(files) == 1 else f"{data.name}.zip"

    def make() -> bytes:
        observed = fit_pair.mask(setting, data)
        restored = restored_cube(data, observed, W, H, method=method, keep=entries_to_keep(setting, data))
        written = bytes_like(list(files), restored.V, **options.arguments())
        return written[0][1] if len(written) == 1 else zipped(written)

    download(
        "In your file's format",
        make,
        f"{stem_of(setting, data)}-{method.lower()}-{name}",
        "application/octet-stream",
        "In the format of the file that you chose, with its coordinates, wavelengths, units and other arrays",
    )


def _bears_colours(name: str) -> bool:
    return name.lower().endswith(COLOURS)
