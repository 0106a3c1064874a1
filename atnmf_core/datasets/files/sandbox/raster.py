"""GeoTIFF and other TIFF, by rasterio (GDAL), which knows their compressions and their metadata."""

import ctypes
import os
import sys

# No other file is read: no sidecars, no plug-ins, no network. The cache (in MB) holds a whole image, or files
# with all bands in one block would be decoded once per band.
os.environ |= {
    "GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR",
    "GDAL_PAM_ENABLED": "NO",
    "GDAL_DRIVER_PATH": "disable",
    "GDAL_CONFIG_FILE": os.devnull,
    "GDAL_NUM_THREADS": "1",
    "GDAL_CACHEMAX": "1024",
    "PROJ_NETWORK": "OFF",
    "CPL_VSIL_CURL_ALLOWED_EXTENSIONS": "none",
}

from typing import Any

import numpy as np
import numpy.typing as npt
import rasterio
from rasterio.enums import ColorInterp, MaskFlags
from rasterio.io import MemoryFile

DRIVER = "GTiff"
# A cloud-optimized file becomes an ordinary one when it is written to.
EDITING = {"mode": "r+", "driver": DRIVER, "IGNORE_COG_LAYOUT_BREAK": "YES"}
MAX_PAGES = 20_000
MAX_TEXT = 100_000
LUMA = np.array([0.299, 0.587, 0.114])


M_PERTURB = -6


def open_file(data: bytes) -> "TiffFile":
    if sys.platform == "linux":
        # glibc then returns zeroed memory: libtiff leaves a strip that it cannot unpack as it is.
        ctypes.CDLL(None).mallopt(M_PERTURB, 255)
    return TiffFile(data)


class TiffFile:
    """All bands of a TIFF as bands x rows x cols; the pages of a multi-page file count as bands."""

    def __init__(self, data: bytes) -> None:
        # A copy can grow, unlike a file that wraps our bytes: other numbers compress to other lengths.
        self._memory = MemoryFile()
        self._memory.write(data)
        with _opened(self._memory.name) as first:
            self._pages = first.subdatasets[: MAX_PAGES + 1] or [self._memory.name]
            self.description = described(first, len(self._pages))

    def read(self, name: str) -> npt.NDArray[Any]:
        if name == "mask":
            with _opened(self._memory.name) as first:
                mask: npt.NDArray[Any] = first.dataset_mask()
                return mask
        pages = []
        for page in self._pages:
            with _opened(page) as opened:
                values = opened.read()
                pages.append(_grey(values, opened.colormap(1)) if _has_palette(opened) else values)
        return pages[0] if len(pages) == 1 else np.concatenate(pages)

    def replace(self, name: str, values: npt.NDArray[Any]) -> bytes:
        for page, bands in zip(self._pages, np.split(values, len(self._pages)), strict=True):
            with rasterio.open(page, **EDITING) as target:
                overviews = target.overviews(1)
                target.write(bands)
                if overviews:
                    target.build_overviews(overviews)
        self._memory.seek(0)
        changed: bytes = self._memory.read()
        return changed


def _opened(name: str) -> Any:
    return rasterio.open(name, driver=DRIVER)


def described(file: Any, pages: int) -> dict[str, Any]:
    return {
        "shape": (pages * file.count, file.height, file.width),
        "palette": _has_palette(file),
        "compression": str(file.profile.get("compress", "")),
        "has_mask": MaskFlags.per_dataset in file.mask_flag_enums[0]
        and MaskFlags.alpha not in file.mask_flag_enums[0],
        "nodata": [None if value is None else float(value) for value in file.nodatavals],
        "scales": file.scales,
        "offsets": file.offsets,
        "units": file.units,
        "names": file.descriptions,
        "tags": _tags(file),
        "band_tags": [_tags(file, band) for band in file.indexes],
        "crs": file.crs.to_wkt() if file.crs else "",
        "transform": None if file.transform.is_identity else file.transform.to_gdal(),
    }


def _tags(file: Any, band: int = 0) -> dict[str, str]:
    domains = [None, *file.tag_namespaces(band)]
    pairs = [pair for domain in domains for pair in file.tags(band, ns=domain).items()]
    return {key.lower(): value[:MAX_TEXT] for key, value in pairs}


def _has_palette(file: Any) -> bool:
    return bool(file.count == 1 and file.colorinterp[0] is ColorInterp.palette)


def _grey(values: npt.NDArray[Any], palette: dict[int, tuple[int, ...]]) -> npt.NDArray[Any]:
    """The brightness of each colour number; also for pictures that count from white, which GDAL gives one."""
    table = np.zeros(max(palette) + 1)
    for number, colour in palette.items():
        table[number] = LUMA @ colour[:3]
    brightness: npt.NDArray[Any] = np.rint(table[values]).astype(np.uint8)
    return brightness
