"""Tasks on a Dask cluster. No other file imports Dask when it runs."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

from subridge.model.errors import ClusterError, WaitingWarning
from subridge.simulation.executors.base import Executor, Result

if TYPE_CHECKING:
    from distributed import Client, Future

# How long a scheduler may take to answer.
_PATIENCE = "10s"
# Seconds between looks at a cluster that has finished nothing, and looks without workers before that is said.
_LOOK, _SILENT = 1.0, 5
# Tasks handed out for every thread of the cluster, and the least: a run that shares a store leaves some to others.
_AHEAD, _LEAST = 3, 8


class Cluster(Executor):
    """The workers of a Dask scheduler, by client or address; each runs one task per thread of its own."""

    is_here: ClassVar[bool] = False
    threads = 1

    def __init__(self, where: "Client | str") -> None:
        self._where = where

    def perform(self, task: Callable[[int], Result], numbers: Iterable[int]) -> Iterator[tuple[int, Result]]:
        """Yield results as tasks finish; tasks of a worker that dies are run elsewhere."""
        try:
            import distributed  # noqa: F401
        except ImportError as error:
            raise ClusterError(
                "a cluster needs Dask, which is not installed; pip install 'subridge[cluster]'"
            ) from error
        left = iter(numbers)
        pending: dict[Future[Result], int] = {}
        with self._client() as client, _named(client):
            # A task, not scattered data: the scheduler can make it again when the worker that holds it dies.
            carried = client.submit(_identity, task, pure=False)
            try:
                while True:
                    for number in islice(left, max(0, _window(client) - len(pending))):
                        pending[client.submit(_perform, number, task=carried, pure=False)] = number
                    if not pending:
                        return
                    for future in _finished(client, list(pending)):
                        yield pending.pop(future), _result(future)
            finally:
                with suppress(Exception):  # a cluster that is gone has nothing to cancel
                    client.cancel(list(pending))

    @contextmanager
    def _client(self) -> Iterator["Client"]:
        from distributed import Client

        if not isinstance(self._where, str):
            yield self._where
            return
        try:
            client = Client(self._where, timeout=_PATIENCE)
        except (OSError, TimeoutError, ValueError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {self._where!r}; check address and port, or run without scheduler=. On "
                "this machine `dask scheduler --host 127.0.0.1` starts one that only this machine reaches; one for "
                "other machines runs any program it is sent, so give it certificates (`--tls-ca-file`, `--tls-cert`, "
                "`--tls-key`) and an address tls://host:8786"
            ) from error
        with client:
            yield client


def _window(client: "Client") -> int:
    """Tasks to have handed out."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return max(_LEAST, _AHEAD * sum(int(worker["nthreads"]) for worker in workers))


def _finished(client: "Client", futures: list["Future[Result]"]) -> list["Future[Result]"]:
    """Tasks that are done, after a wait for the first; what is awaited is said when no worker is there."""
    from distributed import wait

    looks = 0
    while True:
        try:
            return list(wait(futures, timeout=_LOOK, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            looks = 0 if client.scheduler_info(n_workers=-1)["workers"] else looks + 1
        if looks == _SILENT:
            where = client.scheduler.address if client.scheduler is not None else "its address"
            warnings.warn(
                f"the Dask scheduler at {where} has no workers, and {len(futures)} tasks wait for one; start it with "
                f"`dask worker {where}`, or interrupt the run",
                WaitingWarning,
                stacklevel=2,
            )


def _result(future: "Future[Result]") -> Result:
    """What a task gave; its own errors are raised as they are."""
    from distributed.scheduler import KilledWorker

    if future.status == "error":
        error = future.exception()
        if isinstance(error, KilledWorker):
            raise ClusterError(
                f"a task killed several workers in a row ({error}), perhaps for want of memory; give workers more of "
                "it, start fewer of them on a machine, or use fewer or smaller n_samples"
            ) from error
        raise _TaskError(error)
    result: Result = future.result()
    future.release()
    return result


class _TaskError(Exception):
    """Carries an error of a task past those of the cluster."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


@contextmanager
def _named(client: "Client") -> Iterator[None]:
    """Turn what a lost cluster raises into an error that says what was lost."""
    where = client.scheduler.address if client.scheduler is not None else "an unknown address"
    try:
        yield
    except _TaskError as carried:
        raise carried.error from None
    except ClusterError:
        raise
    except CancelledError as error:
        if client.status == "running":
            raise ClusterError(
                f"the Dask scheduler at {where} was restarted, or dropped the tasks of this run; run again"
            ) from error
        raise ClusterError(_lost(where)) from error
    except Exception as error:
        if client.status == "running" and not isinstance(error, OSError):
            raise
        raise ClusterError(_lost(where)) from error


def _lost(where: str | None) -> str:
    return f"the Dask scheduler at {where} is gone; start it again and run again"


def _identity(task: Callable[[int], Result]) -> Callable[[int], Result]:
    return task


def _perform(number: int, task: Callable[[int], Result]) -> Result:
    return task(number)
