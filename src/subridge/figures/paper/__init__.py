"""The figures of the paper: settings and computation of each, recipes, batches of them and their report.

What a figure shows is computed here from the rooms below and drawn by ``subridge.figures.drawing``.
"""
