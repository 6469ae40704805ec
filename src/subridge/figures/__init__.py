"""Drawings: settings and ink, no numerics.

``reproduce`` remakes one figure of the paper; `figure_ids` lists those there are.
"""

from subridge.figures.registry import figure_ids
from subridge.figures.reproduction import Reproduction, reproduce

__all__ = ["Reproduction", "figure_ids", "reproduce"]
