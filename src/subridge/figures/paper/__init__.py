"""The figures of the paper: settings and computation of each (recipes), and batches of them.

Each figure is computed here from the rooms below and drawn by ``subridge.figures.drawing``.
"""
