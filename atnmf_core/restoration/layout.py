"""How the entries of V lie in images; see `Dataset.layout`."""

from ..datasets.dataset import Layout

__all__ = ["Layout"]
