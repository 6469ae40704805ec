"""What is not collected where an extra is absent: these files define torch modules when they are imported."""

from importlib.util import find_spec

_NETWORKS = "src/subridge/datasets/images/networks"
collect_ignore = [] if find_spec("torch") else [f"{_NETWORKS}/resnet.py", f"{_NETWORKS}/efficientnet.py"]
