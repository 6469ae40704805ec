"""Every table of the estimators, given what people hand over by mistake; test_public_functions has their parameters."""

import traceback
import warnings

import numpy as np
import pytest

import subridge as sr
from reference.odd import ODD
from subridge.model.errors import SubridgeError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 6))
Y = X[:, 0] + 0.1 * RNG.standard_normal(30)
CLASSES = np.arange(30) % 2
MODELS = {"regressor": (sr.RidgeEnsembleRegressor, Y), "classifier": (sr.RidgeEnsembleClassifier, CLASSES)}
NONSENSE = {
    "text", "a number as text", "bytes", "NaN", "minus infinity", "complex", "a list with NaN", "a list of text",
    "a mapping", "an object", "a date", "a duration", "complex array", "masked array", "array of dates",
    "array of text", "array of objects", "a table of text",
}  # fmt: skip


def attempt(what, call):
    """Whether the call was accepted; anything but an error of ours or of scikit-learn fails."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
    except SubridgeError:
        return False
    except Exception as error:
        frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        if not any("sklearn" in frame for frame in frames):
            pytest.fail(f"{what}: {error!r}")
        return False
    return True


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("argument", ["X", "y", "sample_weight"])
def test_mistaken_tables_are_named(kind, argument):
    model, labels = MODELS[kind]
    for what, value in ODD.items():
        given = {"X": X, "y": labels, "sample_weight": None, argument: value}
        accepted = attempt(f"{argument}={what}", lambda given=given: model(2, random_state=0).fit(**given))
        assert not (accepted and what in NONSENSE), f"{argument}={what} was accepted"


@pytest.mark.parametrize("kind", MODELS)
def test_mistaken_tables_are_not_predicted(kind):
    model, labels = MODELS[kind]
    fitted = model(2, random_state=0).fit(X, labels)
    for what, value in ODD.items():
        assert not attempt(f"predict {what}", lambda value=value: fitted.predict(value)), f"{what} was predicted"
