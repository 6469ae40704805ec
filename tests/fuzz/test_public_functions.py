"""Every argument of every public function, given what people hand over by mistake: refused by name, or used."""

import signal
import traceback
import warnings

import pytest

from reference.calls import CALLS, MEANT
from reference.odd import NONSENSE, ODD
from subridge.model.errors import SubridgeError

CASES = [(name, argument) for name, (_, arguments) in CALLS.items() for argument in arguments]


def test_there_are_enough_cases():
    assert len(CASES) * len(ODD) >= 1000


@pytest.fixture
def limited():
    """Nothing may think about nonsense for long."""

    def ring(number, frame):
        raise TimeoutError("more than ten seconds for a mistake")

    before = signal.signal(signal.SIGALRM, ring)
    yield lambda: signal.alarm(10)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


needs_a_clock = pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs a clock that interrupts")


# One test for a function: many small tests take longer than what they check.
@needs_a_clock
@pytest.mark.parametrize("name", CALLS)
def test_some_mistakes_are_named(name, limited):
    """Every tenth odd value, every third of a parameter of an estimator; other ones for every argument."""
    step = 3 if name in ("RidgeEnsembleRegressor", "RidgeEnsembleClassifier") else 10
    for argument in CALLS[name][1]:
        first = CASES.index((name, argument)) % step
        make_mistakes(name, argument, [*ODD.items()][first::step], limited)


@pytest.mark.slow
@needs_a_clock
@pytest.mark.parametrize("name", CALLS)
def test_mistakes_are_named(name, limited):
    for argument in CALLS[name][1]:
        make_mistakes(name, argument, ODD.items(), limited)


def make_mistakes(name, argument, mistakes, limited):
    function, arguments = CALLS[name]
    for what, value in mistakes:
        limited()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function(**(arguments | {argument: value}))
        except SubridgeError:
            continue
        except Exception as error:
            frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
            if not any("sklearn" in frame for frame in frames):
                pytest.fail(f"{name}({argument}={what}): {error!r}")
        else:
            meant = what in MEANT.get((name, argument), ())
            assert meant or what not in NONSENSE, f"{name}({argument}={what}) was accepted"
