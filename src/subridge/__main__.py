"""``python -m subridge``."""

from subridge.cli import main

main()
