"""What every executor offers: it runs numbered tasks somewhere, and knows what that place shares with this one."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Self, TypeAlias, TypeVar

if TYPE_CHECKING:
    from distributed import Client

Result = TypeVar("Result")

# What ``Run(executor=)`` may be.
ExecutorChoice: TypeAlias = "int | Client | Executor | None"


class Executor(ABC):
    """Who runs the tasks.

    Attributes
    ----------
    is_here : bool
        Whether tasks run on this machine, whose devices and memory can then be judged before the first one starts.
    n_processes : int
        Processes that share the memory of a machine.
    threads : int or None
        Threads of BLAS for a task; None leaves them as they are.
    """

    is_here: ClassVar[bool] = True
    n_processes: int = 1
    threads: int | None = None

    @classmethod
    @abstractmethod
    def asked_for(cls, executor: ExecutorChoice, scheduler: str | None) -> Self | None:
        """The executor, where ``Run(executor=, scheduler=)`` asks for this kind; otherwise None."""

    @abstractmethod
    def perform(self, task: Callable[[int], Result], numbers: Sequence[int]) -> Iterator[tuple[int, Result]]:
        """Yield ``(number, task(number))`` in any order."""
