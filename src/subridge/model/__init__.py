"""Immutable descriptions of data and subsets, validated once when built; the checks and errors of all rooms."""
