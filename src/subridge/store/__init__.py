"""Finished tasks on disk, so that a killed run goes on where it stopped, and progress bars."""
