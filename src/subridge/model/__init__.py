"""Data, subsets and ensembles as immutable descriptions, validated when they are built; errors and checks of arguments."""
