"""Proposition 2: the error in closed form where all features are equally correlated."""
