"""Data, subsets and ensembles as immutable descriptions that are checked when built; errors and checks of arguments."""
