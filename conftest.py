"""What is not collected where an extra is absent, and that tests hear Ctrl-C wherever they are started."""

import signal
from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["src/subridge/datasets/images/modules.py"]

# A shell without job control starts what it leaves in the background deaf to Ctrl-C, and so would be all children.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
