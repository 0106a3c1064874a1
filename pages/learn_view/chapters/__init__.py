"""The chapters in their order."""

from .findings import FINDINGS
from .game import GAME
from .guess import GUESS
from .hiding import HIDING
from .one_number import ADVERSARY, LOSS
from .parts import PARTS
from .uses import USES

__all__ = ["CHAPTERS"]

CHAPTERS = (PARTS, HIDING, ADVERSARY, GAME, LOSS, GUESS, FINDINGS, USES)
