"""A setting from the query of an address, and back."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pages.common.control import controls_of, read_query, spell_query

T = TypeVar("T")


def from_query(kind: type[T], query: Mapping[str, str]) -> T:
    return kind(**read_query(controls_of(kind), query))


def to_query(setting: Any) -> dict[str, str]:
    return spell_query(controls_of(type(setting)), vars(setting))
