"""Weights of a member along a whole learning curve."""
