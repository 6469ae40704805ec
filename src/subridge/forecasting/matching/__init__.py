"""Which ridge on the pilot sample stands for a wanted sample size and ridge."""
