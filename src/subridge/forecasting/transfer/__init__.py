"""From errors at the pilot's size to errors at another size."""
