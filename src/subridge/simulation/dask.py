"""Tasks on the workers of a Dask scheduler, with clear messages if a worker or the scheduler is lost."""

import asyncio
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from subridge.model.errors import ClusterError, WaitingWarning
from subridge.simulation.executors import AHEAD, Send

if TYPE_CHECKING:
    from distributed import Client

# How long a scheduler may take to answer: to the first request, and to later ones (seconds).
_PATIENCE, _ANSWER = "10s", 2.0
# Number of looks, a second apart, that find no worker before a warning.
_SILENT = 3
# Least number of tasks that are handed out at once.
_LEAST = 8


@contextmanager
def on_cluster(where: "Client | str | None") -> Iterator[tuple[Send, Callable[[int], int]]]:
    """A function that sends a call to the workers of a client, or of a scheduler's address, and a look at the cluster.

    A worker runs one task per thread. If a worker dies, its tasks run on other workers.
    """
    try:
        from distributed import Client
        from distributed.comm.core import CommClosedError
        from distributed.scheduler import KilledWorker
    except ImportError as error:
        raise ClusterError("a cluster needs Dask, which is not installed; pip install 'subridge[cluster]'") from error
    with ExitStack() as stack:
        client: Any = where
        if isinstance(where, str):
            try:
                client = stack.enter_context(Client(where, timeout=_PATIENCE))
            except (OSError, TimeoutError, ValueError, TypeError) as error:
                raise ClusterError(
                    f"no Dask scheduler answers at {where!r}; check address and port, or leave scheduler= out. On "
                    "this machine `dask scheduler --host 127.0.0.1` starts one that only this machine reaches; one for "
                    "other machines runs any program it is sent, so give it certificates (`--tls-ca-file`, "
                    "`--tls-cert`, `--tls-key`) and an address tls://host:8786, and name the same certificates in "
                    "Dask's configuration here (distributed.comm.tls)"
                ) from error
        address = getattr(client.scheduler, "address", "an unknown address")
        said = set[str]()
        looks = n_threads = 0

        def look(n_tasks: int) -> int:
            nonlocal looks, n_threads
            try:
                workers = client.sync(client.scheduler.identity, callback_timeout=_ANSWER)["workers"]
            except (OSError, TimeoutError):
                trouble = f"the Dask scheduler at {address} does not answer; check it, or interrupt the run"
            else:
                looks = 0 if workers else looks + 1
                n_threads = sum(int(worker["nthreads"]) for worker in workers.values())
                trouble = "" if looks < _SILENT else (
                    f"the Dask scheduler at {address} has no workers, and {n_tasks} tasks wait for one; start it with "
                    f"`dask worker {address}`, or interrupt the run"
                )  # fmt: skip
            if trouble and trouble not in said:
                said.add(trouble)
                warnings.warn(trouble, WaitingWarning, stacklevel=2)
            return max(_LEAST, AHEAD * n_threads)

        def send(*call: Any) -> Future[Any]:
            remote = client.submit(*call, pure=False)

            # Dask's own executor asks for the state of a call once its result has arrived, and raises a ValueError if
            # the worker that held it has died since.
            async def result() -> Any:
                try:
                    return await remote
                finally:
                    remote.release()  # if nobody waits for it any more, the scheduler drops the call

            return asyncio.run_coroutine_threadsafe(result(), client.loop.asyncio_loop)

        try:
            yield send, look
        except KilledWorker as error:
            raise ClusterError(
                f"a task killed several workers in a row ({error}), perhaps because memory ran out; give workers more "
                "memory, start fewer of them on a machine, or use fewer or smaller n_samples"
            ) from error
        except (Exception, asyncio.CancelledError) as error:
            if client.status != "running" or isinstance(error, CommClosedError):
                raise ClusterError(f"the Dask scheduler at {address} is gone; start it again and run again") from error
            if isinstance(error, CancelledError | asyncio.CancelledError):
                raise ClusterError(
                    f"the Dask scheduler at {address} was restarted, or dropped the tasks of this run; run again"
                ) from error
            raise
