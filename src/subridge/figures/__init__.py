"""Pictures of results (``drawing``), and the figures of the paper remade (``paper``).

``reproduce`` remakes one figure of the paper; ``figure_ids`` lists those there are.
"""

from subridge.figures.paper.registry import figure_ids
from subridge.figures.paper.reproduction import Reproduction, reproduce

__all__ = ["Reproduction", "figure_ids", "reproduce"]
