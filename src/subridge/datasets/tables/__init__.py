"""A user's own table, from a file or from memory, as features and targets."""
