"""Random mistakes, as benchmarks/fuzz.py makes them, and that it knows every public function and command."""

import importlib.util
import inspect
import signal
from pathlib import Path

import pytest

from reference.calls import CALLS
from reference.public_names import public_modules
from subridge.cli import main

_spec = importlib.util.spec_from_file_location("fuzz", Path(__file__).parents[2] / "benchmarks" / "fuzz.py")
fuzz = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fuzz)

# Made by functions of the package and not by users, or without arguments, or for those who add an aggregation or a
# covariance, who are given arrays by the package.
NOT_CALLED = {
    "Advice", "Risk", "RiskGradient", "OrderParameters", "Split", "MomentBatches", "Strategy", "Settled", "FeatureSet",
    "Table", "Reproduction", "Aggregation", "FittedAggregation", "LinearAggregation", "Mean", "Median", "Majority",
    "Summed", "Covariance", "Dense", "LowRankPlusDiagonal", "Autoregressive", "figure_ids", "load_fashion_features",
}  # fmt: skip


def test_every_public_function_is_tried():
    known = {part for name in CALLS for part in name.split(".")}
    for module in public_modules():
        if module.__name__.startswith(("subridge.derivations", "subridge.model.errors")):
            continue  # algebra on SymPy's expressions; and errors
        for name in module.__all__ if hasattr(module, "__all__") else ():
            value = getattr(module, name)
            if inspect.isroutine(value) or inspect.isclass(value):
                assert name in known | NOT_CALLED, f"{module.__name__}.{name}"


def test_every_command_is_tried():
    assert set(fuzz.SMALL) == set(main.list_commands(None))


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs a clock that interrupts")
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("count", [200, pytest.param(5000, marks=pytest.mark.slow)])
def test_random_mistakes_are_named(count, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = signal.signal(signal.SIGALRM, fuzz.ring)
    try:
        fuzz.write_files()
        found = [fuzz.tried(20261118, number) for number in range(count)]
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not [each for each in found if each["verdict"] in fuzz.BAD]
    assert sum(each["verdict"] == "named" for each in found) > count / 2
