"""The figures of the paper: settings and computation of each (recipes), and batches of them.

Figures are computed here and drawn by ``subridge.figures.drawing``.
"""
