"""The chapters in their order."""

from .adversary import ADVERSARY, GAME, LOSS
from .findings import FINDINGS, GUESS
from .first import HIDING, PARTS
from .uses import USES

__all__ = ["CHAPTERS"]

CHAPTERS = (PARTS, HIDING, ADVERSARY, GAME, LOSS, GUESS, FINDINGS, USES)
