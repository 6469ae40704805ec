"""What a user hands over, read and checked: the sample, the sizes, the ensembles, the ridges."""
