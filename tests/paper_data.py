"""Where the paper's data is: in the folder that ATNMF_DATA_DIR names, or in one beside the repository."""

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


def look_beside_the_repository() -> None:
    """Set ATNMF_DATA_DIR to ../shared/data where it is not set and that folder exists."""
    beside = REPOSITORY.parent / "shared" / "data"
    if "ATNMF_DATA_DIR" not in os.environ and beside.is_dir():
        os.environ["ATNMF_DATA_DIR"] = str(beside)
