"""Results on disk: one chunk per task, so that a killed run goes on where it stopped."""
