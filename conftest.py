"""What is not collected where an extra is absent, which examples are slow, and that tests hear Ctrl-C."""

import signal
from importlib.util import find_spec

import pytest

collect_ignore = [] if find_spec("torch") else ["src/subridge/datasets/images/modules.py"]

# A shell without job control starts what it leaves in the background deaf to Ctrl-C, and so would be all children.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Examples of derivations are algebra by SymPy, which takes seconds."""
    for item in items:
        if isinstance(item, pytest.DoctestItem) and "derivations" in item.path.parts:
            item.add_marker(pytest.mark.slow)
