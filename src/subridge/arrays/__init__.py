"""Array types and random streams, the ground every other room stands on."""
