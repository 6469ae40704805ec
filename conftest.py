"""What is not collected if an extra is absent, which doctests are slow, and Ctrl-C wherever tests are started."""

import signal
from importlib.util import find_spec

import pytest

_NETWORKS = "src/subridge/datasets/images/networks"  # these files define torch modules when they are imported
collect_ignore = [] if find_spec("torch") else [f"{_NETWORKS}/resnet.py", f"{_NETWORKS}/efficientnet.py"]

# A shell without job control starts what it leaves in the background deaf to Ctrl-C, and so would be all children.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The examples of the derivations are proofs by SymPy: minutes, with the slow tests."""
    for item in items:
        if isinstance(item, pytest.DoctestItem) and "derivations" in item.path.parts:
            item.add_marker(pytest.mark.slow)
