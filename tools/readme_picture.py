"""Draw the picture of the README again: ``python tools/readme_picture.py`` writes docs/why.png."""

import runpy
from pathlib import Path

import matplotlib

ROOT = Path(__file__).parents[1]

if __name__ == "__main__":
    matplotlib.use("agg")
    figure = runpy.run_path(str(ROOT / "examples" / "plot_why.py"))["figure"]
    figure.savefig(ROOT / "docs" / "why.png", dpi=90)
