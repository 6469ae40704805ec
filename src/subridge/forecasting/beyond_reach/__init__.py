"""Sizes that no ridge on the pilot sample stands for."""
