"""Proposition 2 for equal, disjoint members that share a fixed number of weights: how many of them are best?"""
