"""The chapters in their order, one file each."""

from .adversary import ADVERSARY
from .findings import FINDINGS
from .game import GAME
from .guess import GUESS
from .hiding import HIDING
from .loss import LOSS
from .parts import PARTS

__all__ = ["CHAPTERS"]

CHAPTERS = (PARTS, HIDING, ADVERSARY, GAME, LOSS, GUESS, FINDINGS)
