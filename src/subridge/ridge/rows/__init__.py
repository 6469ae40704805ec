"""Members trained on rows: designs, decompositions, leave-one-out."""
