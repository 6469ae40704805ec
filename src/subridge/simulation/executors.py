"""Where tasks run: in this process, a pool of child processes, any ``concurrent.futures.Executor``, or Dask.

A task is a range of trials. All tasks of a run share the work, which is sent once to each worker and not with every
task. Child processes get it when they start. A worker of another executor may answer that it does not have the work;
the task is then sent again together with it.

If a worker dies, the run ends with a `ClusterError` that says so; with a store, finished tasks are kept and the same
call goes on where it stopped. If the parent dies, its children notice and end.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager, nullcontext, suppress
from itertools import islice
from multiprocessing import get_context, get_start_method, parent_process, set_start_method
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar, cast

from subridge.arrays.types import FloatArray
from subridge.model.errors import ClusterError

if TYPE_CHECKING:
    from distributed import Client

_P = ParamSpec("_P")
_T = TypeVar("_T")

# What ``Run(executor=)`` may be.
ExecutorChoice: TypeAlias = "int | Client | Executor | None"
# Results of some trials by name, the trials on the first axis.
TrialArrays: TypeAlias = dict[str, FloatArray]
Work: TypeAlias = Callable[[range], TrialArrays]
# Sends a function with its arguments to a worker.
Send: TypeAlias = Callable[..., "Future[Any]"]

# Tasks handed out per worker: enough that no worker waits, and few enough that runs which share a store can share the
# tasks.
AHEAD = 3
# Assumed number of workers if an executor does not say how many it has.
_UNKNOWN_WORKERS = 100
# Longest wait in seconds, after which an interruption (on every system) and a lost cluster are noticed.
_LOOK = 1.0
# Number of runs whose work a worker remembers; several runs may share an executor.
_REMEMBERED = 4
_works: dict[str, Work | None] = {}


def perform(
    work: Work, tasks: Iterable[range], executor: ExecutorChoice, scheduler: str | None
) -> Iterator[tuple[range, TrialArrays]]:
    """Yield tasks with their results, in any order. Tasks are taken when they are needed, not all at once."""
    key = uuid.uuid4().hex
    if not isinstance(executor, int | Executor):
        from subridge.simulation.dask import on_cluster

        with on_cluster(executor or scheduler) as (send, look):
            yield from _performed(send, key, work, tasks, look)
        return
    try:
        # Only the owner of an executor ends it.
        own = ChildPool(executor, key, work) if isinstance(executor, int) else nullcontext(executor)
        with own as pool:
            window = AHEAD * (getattr(pool, "_max_workers", None) or _UNKNOWN_WORKERS)
            yield from _performed(pool.submit, key, work, tasks, lambda n_pending: window)
    except (BrokenExecutor, CancelledError) as error:
        raise ClusterError(
            f"a worker process died, or the executor lost tasks ({type(error).__name__}: {error}). A script must start "
            "its work under `if __name__ == '__main__':`, because new processes import it. If memory ran out, use "
            'fewer processes, fewer or smaller n_samples, or dtype="float32". Executors of your own must be created '
            "again"
        ) from error


def _performed(
    send: Send, key: str, work: Work, tasks: Iterable[range], look: Callable[[int], int]
) -> Iterator[tuple[range, TrialArrays]]:
    """Hand out tasks by `send`, which takes a function and its arguments.

    Every second `look` gets the number of tasks that are handed out, and returns how many may be.
    """
    looked = time.monotonic()
    window = look(0)
    left = iter(tasks)
    pending = dict[Future[Any], tuple[range, bool]]()
    lacking = set[str]()  # workers without the work

    def submit(task: range, carries_work: bool = False) -> None:
        try:
            future = send(run_task, key, task, work if carries_work else None)
        except BrokenExecutor:
            raise
        except RuntimeError as error:
            raise ClusterError(f"the executor takes no tasks ({error}); hand over one that is open") from error
        pending[future] = task, carries_work

    _remember(key, work)  # for threads of this process
    try:
        while True:
            for task in islice(left, max(0, window - len(pending))):
                submit(task)
            if not pending:
                return
            done, _ = wait(pending, _LOOK, return_when=FIRST_COMPLETED)
            if time.monotonic() > looked + _LOOK:
                window = look(len(pending))
                looked = time.monotonic()
            for future in done:
                task, _ = pending.pop(future)
                worker, values = future.result()
                if values is None:
                    lacking.add(worker)
                    n_sent = sum(carries_work for _, carries_work in pending.values())
                    submit(task, carries_work=n_sent < len(lacking))
                else:
                    lacking.discard(worker)
                    yield task, values
    finally:
        _works.pop(key, None)
        for future in pending:
            future.cancel()


def run_task(key: str, task: range, work: Work | None = None) -> tuple[str, TrialArrays | None]:
    """In a worker: its name, and the result of a task, or None if it does not have the work."""
    if work is not None:
        _remember(key, work)
    known = _works.get(key)
    return f"{socket.gethostname()}:{os.getpid()}", None if known is None else known(task)


def _remember(key: str, work: Work | None) -> None:
    _works[key] = work
    for old in list(_works)[:-_REMEMBERED]:
        _works.pop(old, None)


# A process that reads lines of process numbers. When its input ends, it kills the processes of the last line.
_GUARD = """
import os, signal, sys
numbers = []
for line in sys.stdin:
    numbers = line.split()
for number in numbers:
    try:
        os.kill(int(number), signal.SIGKILL)
    except OSError:
        pass
"""


class ChildPool(ProcessPoolExecutor):
    """Child processes that end with their parent, however it ends, and leave Ctrl-C to it.

    Each child gets the work of the run, if there is one, when it starts. A thread of each child watches the parent. It
    cannot do so while the child loads its modules, or while a library call holds the interpreter. On POSIX systems a
    small guard process therefore also knows the children, and kills them when the parent is gone.

    Children are spawned, never forked: a fork would inherit the threads of BLAS in an unusable state. The end of a
    ``with`` waits for all work. After an error or Ctrl-C it does not wait, because the work may take minutes.
    """

    def __init__(self, n_processes: int, key: str = "", work: Work | None = None) -> None:
        super().__init__(n_processes, get_context("spawn"), _begin, (key, work))
        self.n_processes = n_processes
        self._guard: subprocess.Popen[str] | None = None
        if os.name == "posix":
            # In a session of its own, where Ctrl-C at a terminal does not reach it.
            self._guard = subprocess.Popen(
                [sys.executable, "-S", "-E", "-c", _GUARD],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )

    def submit(self, work: Callable[_P, _T], /, *arguments: _P.args, **named: _P.kwargs) -> Future[_T]:
        """Hand out work. This starts a process, unless one is free or all have been started.

        SIGINT is blocked in a child until `_begin` has run: a terminal sends it to all processes, and a child would
        print a traceback. Starting a child fixes the default start method of multiprocessing; here it is set free
        again.
        """
        method = cast(str | None, get_start_method(allow_none=True))  # typeshed has no None here
        if sys.platform != "win32":
            from multiprocessing.resource_tracker import ensure_running

            ensure_running()  # if multiprocessing had to start it later, it would unblock all signals
            signals = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            future = super().submit(work, *arguments, **named)
        finally:
            if method is None:
                set_start_method(None, force=True)
            if sys.platform != "win32":
                signal.pthread_sigmask(signal.SIG_SETMASK, signals)
        if self._guard is not None:
            with suppress(BrokenPipeError):  # the guard was killed; the threads still watch
                print(*self._children(), file=self._guard.stdin, flush=True)
        return future

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                self.shutdown()
        finally:
            for process in self._children().values():
                process.kill()  # it may be deep in a library call
            if self._guard is not None:
                self._guard.kill()  # it must not kill other processes that get the same numbers later
                self._guard.communicate()
            self.shutdown(cancel_futures=True)

    def _children(self) -> dict[int, BaseProcess]:
        """Processes by number; none after the pool was shut down."""
        return dict(getattr(self, "_processes", None) or {})


def _begin(key: str, work: Work | None) -> None:
    """In a child: leave Ctrl-C to the parent, end with it, and keep the work of the run."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent = parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    _remember(key, work)


# A process that reads the number of a signal, or nothing if the run has ended.
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
    """Let Ctrl-C end this process within two seconds whatever it is doing.

    Python handles Ctrl-C only after a library call returns. A small process learns of the signal at once, through a
    pipe. If the run has not ended a second later, that process prints the message and kills it. This happens only at a
    terminal or in a script, never in an interactive session, which would be lost.
    """
    holds_more = hasattr(sys, "ps1") or "ipykernel" in sys.modules or "IPython" in sys.modules
    on_main = threading.current_thread() is threading.main_thread()
    if os.name != "posix" or not on_main or holds_more or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
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
