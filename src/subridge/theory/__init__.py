"""Typical errors of ridge ensembles: arrays in, arrays out, every parameter broadcasts."""
