"""Tasks on a Dask cluster. The only file that imports dask."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from subridge.spec.errors import ClusterError

# How long a scheduler may take to answer.
_PATIENCE = "10s"


def run_on_cluster(
    where: Any, work: Callable[[Any, int], Any], shared: Any, numbers: Sequence[int]
) -> Iterator[tuple[int, Any]]:
    """Yield ``(number, work(shared, number))`` as tasks finish; tasks of a worker that dies are run elsewhere.

    Parameters
    ----------
    where : dask.distributed.Client or str
        A client, or the address of a scheduler.
    """
    try:
        from distributed import as_completed
        from distributed.scheduler import KilledWorker
    except ImportError as error:
        raise ClusterError("a cluster needs Dask, which is not installed; pip install 'subridge[cluster]'") from error
    with _client(where) as client:
        # A task, not scattered data: the scheduler can make it again when the worker that holds it dies.
        carried = client.submit(_identity, shared, pure=False)
        futures = client.map(_perform, list(numbers), work=work, shared=carried, pure=False)
        places = dict(zip((future.key for future in futures), numbers, strict=True))
        finished = as_completed(futures, with_results=True)
        del futures
        try:
            for future, result in finished:
                number = places[future.key]
                future.release()
                yield number, result
        except KilledWorker as error:
            raise ClusterError(
                f"a task killed several workers in a row ({error}), perhaps for want of memory; lower Run(memory=)"
            ) from error


@contextmanager
def _client(where: Any) -> Iterator[Any]:
    from distributed import Client

    if not isinstance(where, str):
        yield where
        return
    try:
        client = Client(where, timeout=_PATIENCE)
    except (OSError, TimeoutError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {where!r}; start one with `dask scheduler`, check address and port, or run "
            "without scheduler="
        ) from error
    with client:
        yield client


def _identity(value: Any) -> Any:
    return value


def _perform(number: int, work: Callable[[Any, int], Any], shared: Any) -> Any:
    return work(shared, number)
