"""Ridge ensembles on Gaussian data that are drawn for the purpose: exact risks along whole learning curves."""
