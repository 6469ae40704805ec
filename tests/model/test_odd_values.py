"""What looks like numbers and is none is refused by name, wherever it is handed over."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import subridge as sr
from subridge.model.errors import DataError, ParameterError, StoreError, SubsetError

PROBLEM, ENSEMBLE = sr.EquicorrelatedProblem(), sr.Ensemble([0.5, 0.5], ridge=0.1)
RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 6))
Y = X[:, 0] + 0.1 * RNG.standard_normal(40)
CLASSES = np.arange(40) % 3
VOTES = sr.Ensemble(sr.subsets.Equal(2), aggregation="majority")


@pytest.mark.parametrize(
    "odd",
    [
        np.array([0.5 + 1j]),
        np.ma.masked_array([0.5, 0.7], [0, 1]),
        ["0.5", "1"],
        np.array(["0.5"], dtype=object),
        np.array(["2020-01-01"], "M8[D]"),
        np.array([3], "m8[s]"),
        pd.Series(["0.5", "1"]),
        pd.Series(pd.date_range("2020", periods=2)),
        pd.Series(["1", "2"], dtype="category"),
        pd.DataFrame({"when": pd.date_range("2020", periods=2)}),
        xr.DataArray(np.array([0.5 + 1j])),
        None,
    ],
)
def test_parameters_that_are_no_real_numbers(odd):
    with pytest.raises((DataError, ParameterError), match="sample_ratio"):
        sr.risk(PROBLEM, ENSEMBLE, odd)


@pytest.mark.parametrize("odd", ["abc", 1j, ["1", "2"], {"a": 1.0}, pd.Series(pd.date_range("2020", periods=2))])
def test_ridges_of_spaces_that_are_no_real_numbers(odd):
    with pytest.raises((DataError, ParameterError), match="ridges"):
        sr.subsets.equal(2, 6, 0).banded(odd)


def test_a_table_of_dates_has_no_moments():
    with pytest.raises(DataError, match="X holds dates"):
        sr.Problem.from_data(pd.DataFrame({"when": pd.date_range("2020", periods=40)}), Y)


@pytest.mark.parametrize("yes", [True, np.True_])
def test_truth_is_no_number_of_things(yes):
    with pytest.raises(ParameterError, match="n_members must be a positive integer"):
        sr.subsets.equal(yes, 6, 0)


ODD_TABLES = {
    "masked": np.ma.masked_array(X, X > 1),
    "text": X.astype(str),
    "text among objects": X.astype(str).astype(object),
    "dates": (X * 1000).astype("M8[s]"),
    "a column of dates": pd.DataFrame({"when": pd.date_range("2020", periods=40), "x": X[:, 0]}),
    "a column of categories": pd.DataFrame({"kind": pd.Categorical(CLASSES.astype(str)), "x": X[:, 0]}),
    "repeated names": pd.DataFrame(X[:, :2], columns=["a", "a"]),
    "large": X * 1e200,
    "small": X * 1e-200,
}


@pytest.mark.parametrize("kind", ODD_TABLES)
def test_tables_that_are_no_real_numbers(kind):
    odd = ODD_TABLES[kind]
    with pytest.raises(DataError):
        sr.RidgeEnsembleRegressor(2).fit(odd, Y)
    with pytest.raises(DataError):
        sr.RidgeEnsembleClassifier(2).fit(odd, CLASSES)
    with pytest.raises(DataError):
        sr.forecast(odd, Y, [40], {"two": sr.Ensemble(sr.subsets.Equal(2), ridge=0.1)})


def test_columns_of_dates_have_a_remedy_of_this_package():
    with pytest.raises(DataError, match=r'when \(Datetime\).*read_table\(..., categories="one-hot", dates="days"\)'):
        sr.RidgeEnsembleRegressor(2).fit(ODD_TABLES["a column of dates"], Y)


@pytest.mark.parametrize("labels", [np.ma.masked_array(Y, Y > 1), Y.astype("M8[s]"), Y * 1e200])
def test_labels_that_are_no_real_numbers(labels):
    with pytest.raises(DataError, match="y "):
        sr.RidgeEnsembleRegressor(2).fit(X, labels)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_of_rows_are_finite(bad):
    with pytest.raises(DataError, match=r"sample_weight contains (NaN|infinity)"):
        sr.RidgeEnsembleRegressor(2).fit(X, Y, sample_weight=np.append(np.ones(39), bad))


@pytest.mark.parametrize("weight", [1e-320, 1e200])
def test_weights_of_rows_are_in_range(weight):
    for weights in (np.full(40, weight), np.append(np.ones(39), weight)):
        with pytest.raises(DataError, match=r"sample_weight runs from .* to .*, where sums leave the range of floats"):
            sr.RidgeEnsembleRegressor(2).fit(X, Y, sample_weight=weights)
    first, second = (sr.RidgeEnsembleRegressor(2, random_state=0).fit(X, Y, np.full(40, w)) for w in (1.0, 1e-99))
    assert np.allclose(first.predict(X), second.predict(X), rtol=1e-3)


@pytest.mark.parametrize("factors", [(1e200, 1.0), (1e-200, 1.0), (1.0, 1e200)])
def test_a_stream_refuses_numbers_out_of_range(factors):
    with pytest.raises(DataError, match="by a constant"):
        sr.RidgeEnsembleRegressor(2).partial_fit(X * factors[0], Y * factors[1])


def test_features_to_classify_are_in_range():
    with pytest.raises(DataError, match=r"X holds numbers of more than 1e\+154, whose squares leave the range"):
        sr.simulate_classification(X * 1e200, CLASSES, X, CLASSES, VOTES, n_samples=[10], n_trials=2, progress=False)


@pytest.mark.parametrize(("kind", "labels"), [(sr.RidgeEnsembleRegressor, Y), (sr.RidgeEnsembleClassifier, CLASSES)])
@pytest.mark.parametrize("factor", [1.0, np.nan])
def test_after_a_fit_that_failed_nothing_is_predicted(kind, labels, factor):
    model = kind(2).fit(X, labels)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X * factor, labels, sample_weight=np.full(40, np.nan))
    with pytest.raises(ValueError, match="not fitted"):
        model.predict(X)


@pytest.mark.parametrize("labels", [CLASSES, CLASSES.astype(str)])
def test_hidden_classes_are_refused(labels):
    hidden = np.ma.masked_array(labels, CLASSES == 1)
    with pytest.raises(DataError, match="y is a masked array with hidden values"):
        sr.RidgeEnsembleClassifier(2).fit(X, hidden)
    with pytest.raises(DataError, match="y is a masked array with hidden values"):
        sr.RidgeEnsembleClassifier(2, ridge=0.1).partial_fit(X, hidden, classes=np.unique(labels))
    assert len(sr.RidgeEnsembleClassifier(2).fit(X, np.ma.masked_array(labels, False)).classes_) == 3


@pytest.mark.parametrize("label", [np.nan, np.inf, None])
def test_a_missing_label_is_no_class(label):
    y = CLASSES.astype(object if label is None else float)
    y[3] = label
    with pytest.raises(DataError, match="y has labels that are missing"):
        sr.simulate_classification(X, y, X, CLASSES, VOTES, n_samples=[10], n_trials=2, progress=False)


def test_without_a_seed_one_is_drawn_for_the_whole_experiment():
    ensemble = sr.Ensemble(sr.subsets.Dirichlet(3, 0.75), ridge=0.1)
    curves = sr.simulate(PROBLEM, ensemble, [5], 3, n_features=30, seed=None, redraw=(), progress=False)
    assert np.ptp(curves.risk.values) == 0  # nothing is redrawn, so trials are equal
    other = sr.simulate(PROBLEM, ensemble, [5], 3, n_features=30, seed=None, redraw=(), progress=False)
    assert other.attrs["fingerprint"] != curves.attrs["fingerprint"]


@pytest.mark.parametrize("seed", [-1, 1.5, "a", (1, -2), ()])
def test_seeds_are_whole_numbers(seed):
    with pytest.raises(ParameterError, match="seed must be an integer of at least 0"):
        sr.simulate(PROBLEM, sr.Ensemble(sr.subsets.Equal(2)), [5], 2, n_features=8, seed=seed, progress=False)
    with pytest.raises(ParameterError, match="seed must be an integer of at least 0"):
        sr.subsets.equal(2, 10, seed)


def test_shares_that_underflow_are_refused():
    with pytest.raises(ParameterError, match="fraction_spread"):
        sr.subsets.Dirichlet(3, 1e308).draw(30, 0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: sr.risk(PROBLEM, [0.5], 0.5), ParameterError, "ensemble must be an Ensemble, got list"),
        (lambda: sr.optimal_ridge(PROBLEM, [0.5]), ParameterError, "ensemble must be an Ensemble"),
        (lambda: sr.optimal_ridge(PROBLEM, ENSEMBLE, 1e-320, scope="joint"), ParameterError, "sample_ratio must be"),
        (lambda: sr.order_parameters(None, ENSEMBLE, 0.5), ParameterError, "problem must be a Problem"),
        (lambda: sr.simulate(PROBLEM, ENSEMBLE, None, 2, n_features=8), ParameterError, "n_samples must be"),
        (lambda: sr.simulate(PROBLEM, ENSEMBLE, "abc", 2, n_features=8), ParameterError, "n_samples must be a number"),
        (lambda: sr.Run(block=2.5), ParameterError, "block must be a positive integer, got 2.5"),
        (lambda: sr.Run(memory="1GB"), ParameterError, "memory must be a positive integer"),
        (lambda: sr.simulate(PROBLEM, ENSEMBLE, [5], 10**8, n_features=8), ParameterError, "n_trials must be at most"),
        (lambda: sr.simulate(PROBLEM, ENSEMBLE, [5], 2, n_features=10**9), ParameterError, "n_features must be at"),
        (lambda: sr.subsets.Equal(10**9), ParameterError, "n_members must be at most"),
        (lambda: sr.datasets.load_set("x" * 5000), StoreError, "too long a name"),
        (
            lambda: sr.RidgeEnsembleRegressor(subsets=abs).fit(X, Y),
            SubsetError,
            "a function of .n_features, rng., failed",
        ),
        (lambda: sr.Ensemble(np.full(10**5, 1e-5)), SubsetError, "fractions of 100,000 members"),
    ],
)
def test_slips_are_named_at_once(call, error, message):
    with pytest.raises(error, match=message):
        call()
