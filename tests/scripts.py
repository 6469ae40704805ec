"""Other processes of tests: made from a text, waited for, and never left behind, however a test ends."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path


def script(folder, head, body):
    """The command that runs a body, under the usual guard, after a head that its children load too.

    A script that hangs says where, before the test that waits for it gives up.
    """
    path = folder / "script.py"
    watch = "import faulthandler\nfaulthandler.dump_traceback_later(200)\n"
    path.write_text(watch + head + "\nif __name__ == '__main__':\n" + textwrap.indent(textwrap.dedent(body), "    "))
    return [sys.executable, str(path)]


@contextmanager
def started(command, **options):
    """A process in a session of its own; at the end whatever lives in it is killed, and the pipes are closed."""
    options = {"env": os.environ | {"OMP_NUM_THREADS": "1"}, "start_new_session": True} | options
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            if os.name == "posix":
                with suppress(ProcessLookupError, PermissionError):  # all have ended
                    os.killpg(process.pid, signal.SIGKILL)
            process.kill()


def wait_for(condition, seconds=240):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("what a test waited for did not happen")
        time.sleep(0.005)


@contextmanager
def when(condition, action):
    """Meanwhile, in a thread, do something once a condition holds; what has not happened by the end is given up.

    Yields an event, which is set when the action is done.
    """
    given_up, done = threading.Event(), threading.Event()

    def act():
        wait_for(lambda: given_up.is_set() or condition())
        if not given_up.is_set():
            action()
            done.set()

    thread = threading.Thread(target=act)
    thread.start()
    try:
        yield done
    finally:
        given_up.set()
        thread.join()


def tasks_done(store):
    """Files of finished tasks in a store."""
    return len(list(Path(store).glob("*-*.npz")))
