"""per_target=True: each of many targets is forecast as if it were alone."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

import subridge as sr
from subridge.forecasting import rule
from subridge.model.errors import BudgetError, DataError, ParameterError

# Of single targets, some of which are noise.
pytestmark = pytest.mark.filterwarnings("ignore::subridge.model.errors.RidgePathWarning")

SIZES = [40, 60, 150, 4000]


def drawn(n=60, M=20, C=7, seed=0):
    """Rows, and targets from clean to pure noise, in different units."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, M)) * rng.uniform(0.5, 2, M) + 1
    Y = X @ rng.standard_normal((M, C)) * np.linspace(1, 0, C) / M**0.5 + 0.5 * rng.standard_normal((n, C))
    return X, Y * np.logspace(0, 3, C) + 5


def of(aggregation="mean", ridge=0.3, noise=0.0):
    plans = {"one": sr.subsets.Equal(1), "three": sr.subsets.Equal(3)}
    return {name: sr.Ensemble(plan, ridge, noise, aggregation=aggregation) for name, plan in plans.items()}


def check_each_alone(X, Y, ensembles, rtol=1e-10, **options):
    many = sr.forecast(X, Y, SIZES, ensembles, per_target=True, **options)
    for c in range(Y.shape[1]):
        alone, own = sr.forecast(X, Y[:, c], SIZES, ensembles, **options), many.isel(target=c)
        assert set(alone.data_vars) == set(own.data_vars)
        for name, values in alone.data_vars.items():
            np.testing.assert_allclose(
                own[name].values.astype(float), values.values.astype(float), rtol=rtol, err_msg=f"{name} of {c}"
            )
        for name in ("label_noise", "label_noise_lower", "label_noise_upper") if "groups" not in options else ():
            np.testing.assert_allclose(float(own[name]), alone.attrs[name], rtol=rtol)
    return many


@pytest.mark.slow
@pytest.mark.parametrize("M", [20, 90])
@pytest.mark.parametrize("aggregation", ["mean", "simplex"])
def test_each_of_many_targets_is_forecast_as_if_it_were_alone(M, aggregation):
    many = check_each_alone(*drawn(M=M), of(aggregation), ridges="auto")
    assert many.prediction_error.dims == ("ensemble", "target", "n_samples")
    assert many.reach.dims == ("ensemble", "target", "member")
    assert len(np.unique(many.ridge.values)) > 3
    bounds = [many[f"prediction_error{end}"].values[many.in_reach.values] for end in ("_lower", "", "_upper")]
    assert (bounds[0] < bounds[1]).all()
    assert (bounds[1] < bounds[2]).all()


@pytest.mark.parametrize("aggregation", ["mean", "scaled", "free"])
@pytest.mark.parametrize("ridges", [None, [0.03, 0.3, 3.0]])
def test_given_ridges_and_readout_noise_are_kept(aggregation, ridges):
    check_each_alone(*drawn(C=3), of(aggregation, noise=0.2), ridges=ridges, label_noise=True)


@pytest.mark.parametrize("aggregation", ["mean", "simplex"])
def test_each_target_by_groups(aggregation):
    X, Y = drawn(n=72, C=3)
    groups = np.arange(72) // 6
    many = check_each_alone(X, Y, of(aggregation), ridges=[0.03, 0.3, 3.0], groups=groups)
    assert many.effective_samples.dims == ("ensemble", "target", "n_samples")
    assert "label_noise" not in many.coords


@pytest.mark.parametrize("ridges", [None, "auto"])
def test_one_target_is_the_plain_forecast(ridges):
    """Up to the last digits, which depend on where arrays lie in memory."""
    X, Y = drawn(C=1)
    many = check_each_alone(X, Y, of(), rtol=1e-13, ridges=ridges)
    xr_alone = sr.forecast(X, Y[:, 0], SIZES, of(), ridges=ridges)
    np.testing.assert_array_equal(many.ridge.values[:, 0], xr_alone.ridge.values)
    np.testing.assert_array_equal(many.in_reach.values[:, 0], xr_alone.in_reach.values)


def test_targets_in_blocks_are_targets_at_once(monkeypatch):
    X, Y = drawn()
    at_once = sr.forecast(X, Y, SIZES, of(), ridges="auto", per_target=True)
    monkeypatch.setattr("subridge.forecasting.pilot._TABLE", 3 * 60 * 51 * 2)
    in_blocks = sr.forecast(X, Y, SIZES, of(), ridges="auto", per_target=True)
    np.testing.assert_allclose(in_blocks.prediction_error, at_once.prediction_error, rtol=1e-12)
    np.testing.assert_array_equal(in_blocks.ridge, at_once.ridge)


def test_pairs_of_members_are_traced_once_for_all_targets(monkeypatch):
    asked = []
    traces = rule.residual_pair_traces
    monkeypatch.setattr(rule, "residual_pair_traces", lambda fits, p: asked.append(len(p)) or traces(fits, p))
    X, Y = drawn(C=50)
    sr.forecast(X, Y, [40, 60, 600], of(), ridges=[0.03, 0.3, 3.0], per_target=True)
    assert len(asked) == 2  # once for each ensemble
    assert max(asked) <= 3 * 4  # ridges and sizes, of which one is infinite


@pytest.mark.parametrize(
    ("columns", "names"),
    [([("run", 1), ("run", 2)], ["('run', 1)", "('run', 2)"]), (["a", 1], ["a", "1"]), ([2, 1], [2, 1])],
)
def test_names_of_targets_are_text_or_numbers(columns, names):
    X, Y = drawn(C=2)
    frame = pd.DataFrame(Y)
    frame.columns = pd.Index(columns)
    assert sr.forecast(X, frame, [120], of(), per_target=True).target.values.tolist() == names


def test_targets_have_the_names_of_a_frames_columns_and_constant_ones_have_no_forecast():
    X, Y = drawn(C=3)
    frame = pd.DataFrame({"a": Y[:, 0], "still": 0.1, "b": Y[:, 2]})
    named = sr.forecast(X, frame, [60, 120], of(), per_target=True)
    assert named.target.values.tolist() == ["a", "still", "b"]
    alone = sr.forecast(X, Y[:, 2], [60, 120], of())
    np.testing.assert_allclose(named.prediction_error.sel(target="b"), alone.prediction_error, rtol=1e-10)
    still = named.sel(target="still")
    assert np.isnan(still.prediction_error).all()
    assert named.in_reach.dtype == named.is_bound.dtype == bool
    assert not still.in_reach.any()
    assert not still.is_bound.any()
    assert sr.forecast(X, Y, [60], of(), per_target=True).target.values.tolist() == [0, 1, 2]
    needed = sr.samples_needed(X, frame, 1.0, of(), per_target=True)
    assert needed.answer.sel(target="still", ensemble="one").item() == "not within the reach of this pilot"
    with pytest.raises(DataError, match="in every row; there is nothing to learn"):
        sr.forecast(X, np.ones((60, 2)), [60], of(), per_target=True)


def test_what_has_no_forecast_per_target_is_refused_by_name():
    X, Y = drawn(C=3)
    with pytest.raises(ParameterError, match="per_target must be True or False"):
        sr.forecast(X, Y, [60], of(), per_target="yes")
    labels = np.where(Y[:, 0] > np.median(Y[:, 0]), "up", "down")
    codes = (labels == "up").astype(int)
    for X_given, y, options in (
        (X, labels, {}),
        (X, codes, {"task": "classification"}),
        (sr.gather_moments(X, Y), None, {}),
    ):
        with pytest.raises(ParameterError, match="per_target=True needs rows and numeric targets"):
            sr.forecast(X_given, y, [60], of(), per_target=True, **options)
    Y[3, 1] = np.nan
    with pytest.raises(DataError, match="y lacks 1 labels; drop those rows"):
        sr.forecast(X, Y, [60], of(), per_target=True)


def test_rows_needed_are_told_for_each_target():
    X, Y = drawn(C=4)
    wanted = 0.4 * Y.var(axis=0)
    needed = sr.samples_needed(X, Y, wanted, of(), ridges=[0.03, 0.3, 3.0], per_target=True)
    assert needed.n_samples.dims == needed.answer.dims == ("ensemble", "target")
    for c, error in enumerate(wanted):
        alone = sr.samples_needed(X, Y[:, c], error, of(), ridges=[0.03, 0.3, 3.0])
        for name in ("n_samples", "n_samples_lower", "n_samples_upper", "in_reach", "answer"):
            np.testing.assert_array_equal(needed[name].isel(target=c), alone[name])
    kinds = {str(each).split(" ")[0] for each in needed.answer.values.flat}
    assert "not" in kinds
    assert len(kinds) > 1
    same = sr.samples_needed(X, Y, 2.0, of(), per_target=True)
    assert same.n_samples.shape == (2, 4)
    column = pd.DataFrame({"error": wanted})
    assert (
        sr.samples_needed(X, Y, column, of(), per_target=True).answer
        == sr.samples_needed(X, Y, wanted, of(), per_target=True).answer
    ).all()
    with pytest.raises(ParameterError, match="error must be one number, or one for each target, got 3 numbers"):
        sr.samples_needed(X, Y, wanted[:3], of(), per_target=True)
    with pytest.raises(ParameterError, match="error must be positive, got 0"):
        sr.samples_needed(X, Y, wanted * 0, of(), per_target=True)


@pytest.mark.slow
def test_memory_is_that_which_was_planned(monkeypatch):
    """Tables of left-out errors are 0.3 times the targets here; all of them would be 36 times the targets."""
    planned = []
    monkeypatch.setattr("subridge.forecasting.pilot._TABLE", 200_000)
    monkeypatch.setattr(
        "subridge.forecasting.pilot.refuse_beyond_memory", lambda what, needed, remedy: planned.append(needed)
    )
    X, Y = drawn(n=200, M=40, C=3000)
    sr.forecast(X, Y[:, :5], [200, 800], of(), ridges=[0.03, 0.3, 3.0], per_target=True)  # imports
    tracemalloc.start()
    sr.forecast(X, Y, [200, 800], of(), ridges=[0.03, 0.3, 3.0], per_target=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < planned[-1] < 20 * Y.nbytes


def test_more_than_memory_holds_is_refused_before_the_start(monkeypatch):
    X, Y = drawn(C=3)
    monkeypatch.setattr("subridge.model.checks.available_memory", lambda: 2**27)
    with pytest.raises(BudgetError, match="a pilot of 60 rows in 2 ensembles needs about"):
        sr.forecast(X, Y, np.arange(2, 80_000), of(), per_target=True)
