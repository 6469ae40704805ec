"""What is no table of numbers, no truth value or no number of its own is refused by name, before any work."""

import numpy as np
import pytest
import scipy.sparse

import subridge as sr
from subridge.model.errors import DataError, ParameterError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 6))
Y = X[:, 0] + RNG.standard_normal(40)
ONE = sr.Ensemble(sr.subsets.Equal(1), ridge=0.1)


def with_value(value, form=np.array):
    table = X.copy()
    table[3, 2] = value
    return form(table)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (with_value(np.nan), "X contains NaN in 1 place"),
        (with_value(-np.inf), "X contains infinity in 1 place"),
        (with_value(np.nan, scipy.sparse.csr_matrix), "X contains NaN"),
        (X + 0j, "X must be a table of numbers, shape .*Complex"),
        (X[:, 0], "X must be a table of numbers, shape .*1D"),
        (X[None], "X must be a table of numbers"),
        (X[:, :0], "X must be a table of numbers"),
        (None, "X must be a table of numbers"),
        ({"a": 1}, "X must be a table of numbers"),
    ],
)
@pytest.mark.parametrize(
    "ask",
    [
        lambda table: sr.forecast(table, Y, [80]),
        lambda table: sr.advise(table, Y),
        lambda table: sr.samples_needed(table, Y, 1.0),
        lambda table: sr.risk_matrix(table, Y, ONE),
    ],
)
def test_features(ask, table, message):
    with pytest.raises(DataError, match=message):
        ask(table)


@pytest.mark.parametrize("odd", ["no", None, 2])
@pytest.mark.parametrize(
    ("ask", "names"),
    [
        (lambda **odd: sr.forecast(X, Y, [80], {"one": ONE}, **odd), ("fit_intercept", "label_noise")),
        (lambda **odd: sr.advise(X, Y, n_members=[2], **odd), ("fit_intercept", "standardise", "weighted")),
        (lambda **odd: sr.samples_needed(X, Y, 1.0, {"one": ONE}, **odd), ("fit_intercept",)),
        (lambda **odd: sr.risk_matrix(X, Y, ONE, **odd), ("fit_intercept",)),
    ],
)
def test_truth_values(ask, names, odd):
    for name in names:
        with pytest.raises(ParameterError, match=f"{name} must be True or False"):
            ask(**{name: odd})


def test_the_wanted_error_is_one_number():
    with pytest.raises(ParameterError, match="error must be one number"):
        sr.samples_needed(X, Y, [1.0, 2.0], {"one": ONE})
    one, same = (sr.samples_needed(X, Y, error, {"one": ONE}) for error in (1.5, [1.5]))
    assert one.identical(same)


@pytest.mark.parametrize("names", [("2 equal, scaled",), ("mine", "mine, free")])
def test_no_candidate_takes_the_name_that_another_has_with_its_weights(names):
    several = sr.Ensemble(sr.subsets.Equal(3))
    with pytest.raises(ParameterError, match=f"ensembles may not use the name '{names[-1]}'"):
        sr.advise(X, Y, n_members=[2], ensembles=dict.fromkeys(names, several))


def test_spreads_and_shares_of_one_name_are_one_candidate():
    options = {"fraction_spreads": [0.0, -0.0, 0.75, 0.7500001], "overlapping_fractions": [0.5, 0.5000001]}
    table = sr.advise(X, Y, n_members=[2], weighted=False, **options).table
    assert sorted(table.candidate.values) == [
        "2 equal",
        "2 heterogeneous (0.75)",
        "2 overlapping (0.5 each)",
        "one ridge",
    ]


@pytest.mark.parametrize("size", [1, 10**15, 2.5, np.inf, "many"])
def test_a_planned_size_is_told_its_range(size):
    with pytest.raises(ParameterError, match="n_samples must be one integer of at least 2 and below 1e15, got"):
        sr.advise(X, Y, size)


def test_sizes_are_told_their_range():
    with pytest.raises(ParameterError, match="n_samples must be integers of at least 2 and below 1e15"):
        sr.forecast(X, Y, [80, 10**15], {"one": ONE})


def test_of_many_sizes_only_wrong_ones_are_told():
    with pytest.raises(ParameterError, match=r"\(or inf\), got 1, 2\.5$"):
        sr.forecast(X, Y, [*range(1, 1000), 2.5], {"one": ONE})
    with pytest.raises(ParameterError, match=r"got none$"):
        sr.forecast(X, Y, [], {"one": ONE})


def test_an_error_that_the_least_size_reaches_may_be_reached_before():
    (answer,) = sr.samples_needed(X, Y, 1e6, {"one": ONE}).answer.values
    assert answer == "10 rows or fewer"
    (answer,) = sr.samples_needed(X, Y, 1.5, {"one": ONE}).answer.values
    assert answer.endswith(")")


def test_extrapolation_is_gone():
    with pytest.raises(TypeError, match="extrapolate"):
        sr.forecast(X, Y, [80], {"one": ONE}, extrapolate=True)
    curves = sr.forecast(X, Y, [80], {"one": ONE})
    assert not [name for name in curves.variables if str(name).startswith("self_test")]
    assert {"is_bound", "reach", "irreducible_error", "standard_error"} <= set(curves.data_vars)
