"""What every executor offers: it runs numbered tasks somewhere, and knows what that place shares with this one."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar, TypeAlias, TypeVar

if TYPE_CHECKING:
    from distributed import Client

Result = TypeVar("Result")

# What ``Run(executor=)`` may be.
ExecutorChoice: TypeAlias = "int | Client | Executor | None"


class Executor(ABC):
    """Who runs the tasks."""

    # Whether tasks run on this machine, whose device and memory can then be judged before the first one starts.
    is_here: ClassVar[bool] = True
    # Processes that share the memory of a machine.
    n_processes: int = 1
    # Threads of BLAS for a task; None leaves them as they are.
    threads: int | None = None

    @abstractmethod
    def perform(self, task: Callable[[int], Result], numbers: Iterable[int]) -> Iterator[tuple[int, Result]]:
        """Yield ``(number, task(number))`` in any order; take numbers when they are needed, not all at once."""
