"""Every member decomposed on the pilot sample, and its leave-one-out errors."""
