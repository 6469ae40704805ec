"""Forecasts of what the pilot itself shows, from parts of it."""
