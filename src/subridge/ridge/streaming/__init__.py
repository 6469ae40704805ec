"""Members trained on a stream of rows, of which only the moments are kept."""
