"""How an experiment is run: device, executor, store and memory, none of which changes what is computed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from subridge.arrays.devices import device_problem
from subridge.spec.errors import DeviceError, ParameterError


@dataclass(frozen=True, eq=False)
class Run:
    """Where and how to run an experiment.

    Parameters
    ----------
    device : str
        "cpu" (NumPy and LAPACK), "cuda" or "cuda:<number>" (PyTorch, batched over trials), or "torch" (PyTorch on the
        CPU). CPU and GPU draw different samples of one law.
    executor : None, int or dask.distributed.Client
        None works in this process; a number starts that many processes (a script must then start its work under
        ``if __name__ == "__main__":``); a client sends the tasks to its cluster.
    store : path, optional
        A zarr directory (needs the ``cluster`` extra). Finished tasks are kept there, and a run that finds some goes
        on with the others.
    memory : int, optional
        Bytes the arrays of this run may take on the device; default half of what is free. Batches adapt to it.
    scheduler : str, optional
        Address of a Dask scheduler, such as "tcp://host:8786", in place of `executor`.
    dtype : {"float64", "float32"}
        float32 halves memory and is faster on a GPU. Its risks are off by about 1e-7/λ + 5e-7 relative for features of
        unit variance (measured at M=200: 7e-4 at λ=1e-4, 5e-6 at 1e-2, 4e-7 at 1); at λ = 0 use float64.
    pairs : bool
        Also return ``pairs``, the terms E_rr′ of every risk.
    block : int, optional
        Trials per task, the unit of scheduling and of resuming. A store keeps the number it was created with.
    threads : int, optional
        Threads of BLAS per process; default all cores divided among the processes.

    Examples
    --------
    >>> import subridge as sr
    >>> sr.Run(executor=2, memory=2**30).device
    'cpu'
    """

    device: str = "cpu"
    executor: Any = None
    store: str | Path | None = None
    memory: int | None = None
    scheduler: str | None = None
    dtype: str = "float64"
    pairs: bool = False
    block: int | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        if (problem := device_problem(self.device)) is not None:
            raise DeviceError(problem)
        if self.dtype not in ("float64", "float32"):
            raise ParameterError(f'dtype must be "float64" or "float32", got {self.dtype!r}')
        for name in ("memory", "block", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ParameterError(f"{name} must be at least 1, got {value!r}")
        if self.executor is not None and self.scheduler is not None:
            raise ParameterError("give either executor= or scheduler=, not both: each says where the tasks go")
        known = self.executor is None or isinstance(self.executor, int) or hasattr(self.executor, "scheduler_info")
        if not known or (isinstance(self.executor, int) and self.executor < 1):
            raise ParameterError(
                f"executor must be None, a number of processes or a dask.distributed.Client, got {self.executor!r}"
            )
