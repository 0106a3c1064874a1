"""The chapters in their order."""

from .adversary import ADVERSARY, GAME, LOSS
from .findings import FINDINGS, GUESS
from .parts_and_hiding import HIDING, PARTS
from .uses import USES

__all__ = ["CHAPTERS"]

CHAPTERS = (PARTS, HIDING, ADVERSARY, GAME, LOSS, GUESS, FINDINGS, USES)
