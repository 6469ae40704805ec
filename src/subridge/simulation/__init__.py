"""Experiments: sampled data, trained ensembles, exact risks, on one core or many machines."""
