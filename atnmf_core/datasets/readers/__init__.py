"""Readers for the formats that people have. Whatever the bytes, only `UnreadableData` leaves them."""

from .errors import UnreadableData
from .limits import Limits
from .read import SUFFIXES, read_dataset

__all__ = ["SUFFIXES", "Limits", "UnreadableData", "read_dataset"]
