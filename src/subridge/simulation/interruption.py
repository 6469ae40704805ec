"""Ctrl-C during a library call that lasts: Python would hear of it only when the call returns.

The system tells a small process of the signal at once, through a pipe. If the run has not ended a second later, that
process says what is kept and ends it. This is done at a terminal or in a script, never in a session that holds more.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# Tasks that need less memory than this make no call that lasts.
LARGE = 2**27
# Reads the number of a signal, or nothing when the run has ended.
_WATCHER = """
import os, select, signal, sys
while True:
    told = os.read(0, 1)
    if not told:
        break
    if told[0] == signal.SIGINT:
        while select.select([0], [], [], 1.0)[0]:
            if not os.read(0, 64):
                sys.exit()
        sys.stderr.write("\\n" + sys.argv[2] + "\\n")
        sys.stderr.flush()
        os.kill(int(sys.argv[1]), signal.SIGKILL)
        break
"""


@contextmanager
def ended_by_interruption(message: str) -> Iterator[None]:
    """Let Ctrl-C end this process within two seconds whatever it is doing."""
    if not _applies():
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    watcher = subprocess.Popen(
        [sys.executable, "-S", "-E", "-c", _WATCHER, str(os.getpid()), message], stdin=reading, start_new_session=True
    )
    os.close(reading)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writing)
        watcher.wait()


def _applies() -> bool:
    """Whether this process may be ended, and can be told to."""
    holds_more = hasattr(sys, "ps1") or "ipykernel" in sys.modules or "IPython" in sys.modules
    on_main = threading.current_thread() is threading.main_thread()
    return os.name == "posix" and on_main and not holds_more and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
