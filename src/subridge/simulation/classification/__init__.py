"""Ensembles of linear classifiers on given features: votes under readout noise, along whole learning curves."""
