"""Finite samples: trained members and their exact risk."""
