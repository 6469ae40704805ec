"""The ensembles that advice compares, their ranking and the reasons."""
