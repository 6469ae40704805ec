"""Write the formulas of the explorer: ``python -m subridge.derivations.javascript FILE``."""

import sys
from pathlib import Path

from subridge.derivations.javascript.module import javascript_module

Path(sys.argv[1]).write_text(javascript_module(), encoding="utf-8")
