"""Immutable descriptions of data and ensembles, validated once when built."""
