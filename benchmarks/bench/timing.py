"""Methods timed in turns, so that a busy moment of the machine meets all of them."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """One task that several methods do."""

    name: str
    ours: str
    methods: Mapping[str, Callable[[], object]]
    note: Callable[[Mapping[str, object]], str]
    rounds: int = 3
    #: A method that does a part of the task only, with the factor that makes it the whole.
    share: Mapping[str, float] = field(default_factory=dict)


def in_turns(methods: Mapping[str, Callable[[], object]], rounds: int) -> tuple[dict[str, float], dict[str, object]]:
    """Least seconds of each method over some rounds, and what it gave. A method of many seconds runs once."""
    seconds, values = {}, {}
    for turn in range(rounds):
        for name, method in methods.items():
            if turn and seconds[name] > 5:
                continue
            start = time.perf_counter()
            values[name] = method()
            taken = time.perf_counter() - start
            seconds[name] = min(seconds.get(name, taken), taken)
    return seconds, values
