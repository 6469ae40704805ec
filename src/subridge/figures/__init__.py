"""Drawings: settings and ink, no numerics."""
