"""Proposition 1: the error of any ensemble on data of any covariance."""
