"""Methods timed in turns, so that a busy moment of the machine meets all of them."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

_SLOW = 5.0  # seconds of a method that runs once
_PAUSE = 0.1  # seconds in which threads that wait for more work, on a core that the next method needs, go to sleep


@dataclass(frozen=True)
class Case:
    """One task that several methods do."""

    name: str
    ours: str
    methods: Mapping[str, Callable[[], object]]
    note: Callable[[Mapping[str, object]], str]
    rounds: int = 5
    #: A method that does a part of the task only, with the factor that makes it the whole.
    share: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Timing:
    """Seconds of one method in every round that counts."""

    rounds: list[float]

    @property
    def seconds(self) -> float:
        """The median."""
        return float(np.median(self.rounds))

    def times(self, other: "Timing", factor: float = 1.0) -> list[float]:
        """How often this takes as long as another: least, median and largest over rounds, each beside its own."""
        one, beside = factor * np.array(self.rounds), np.array(other.rounds)
        ratios = one / beside if len(one) == len(beside) else one / np.median(beside)
        return [float(value) for value in np.quantile(ratios, (0.0, 0.5, 1.0))]


def in_turns(methods: Mapping[str, Callable[[], object]], rounds: int) -> tuple[dict[str, Timing], dict[str, object]]:
    """Every method in turn, some rounds after one that does not count, and what each gave.

    The first call loads code and finds memory for every method alike. One of many seconds, for which that is nothing,
    runs once.
    """
    taken: dict[str, list[float]] = {name: [] for name in methods}
    values = {}
    for turn in range(rounds + 1):
        for name, method in methods.items():
            if turn and taken[name][0] > _SLOW:
                continue
            time.sleep(_PAUSE)
            start = time.perf_counter()
            values[name] = method()
            taken[name].append(time.perf_counter() - start)
    return {name: Timing(found[1:] or found) for name, found in taken.items()}, values
