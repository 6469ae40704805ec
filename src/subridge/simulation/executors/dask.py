"""Tasks on a Dask cluster. No other file imports Dask when it runs."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from subridge.simulation.executors.base import Executor, Result
from subridge.spec.errors import ClusterError

if TYPE_CHECKING:
    from distributed import Client

# How long a scheduler may take to answer.
_PATIENCE = "10s"


class Cluster(Executor):
    """The workers of a Dask scheduler, by client or address; each runs one task per thread of its own."""

    is_here: ClassVar[bool] = False
    threads = 1

    def __init__(self, where: "Client | str") -> None:
        self._where = where

    def perform(self, task: Callable[[int], Result], numbers: Sequence[int]) -> Iterator[tuple[int, Result]]:
        """Yield results as tasks finish; tasks of a worker that dies are run elsewhere."""
        try:
            from distributed import as_completed
            from distributed.scheduler import KilledWorker
        except ImportError as error:
            raise ClusterError(
                "a cluster needs Dask, which is not installed; pip install 'subridge[cluster]'"
            ) from error
        with self._client() as client:
            # A task, not scattered data: the scheduler can make it again when the worker that holds it dies.
            carried = client.submit(_identity, task, pure=False)
            futures = client.map(_perform, list(numbers), task=carried, pure=False)
            places = dict(zip((future.key for future in futures), numbers, strict=True))
            finished = as_completed(futures, with_results=True)
            del futures
            try:
                for future, result in finished:
                    if future.cancelled():
                        raise ClusterError("the cluster dropped a task; read the log of its scheduler and run again")
                    number = places[future.key]
                    future.release()
                    yield number, result
            except KilledWorker as error:
                raise ClusterError(
                    f"a task killed several workers in a row ({error}), perhaps for want of memory; lower Run(memory=)"
                ) from error

    @contextmanager
    def _client(self) -> Iterator["Client"]:
        from distributed import Client

        if not isinstance(self._where, str):
            yield self._where
            return
        try:
            client = Client(self._where, timeout=_PATIENCE)
        except (OSError, TimeoutError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {self._where!r}; start one with `dask scheduler`, check address and "
                "port, or run without scheduler="
            ) from error
        with client:
            yield client


def _identity(task: Callable[[int], Result]) -> Callable[[int], Result]:
    return task


def _perform(number: int, task: Callable[[int], Result]) -> Result:
    return task(number)
