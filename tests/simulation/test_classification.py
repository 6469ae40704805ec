import numpy as np
import pytest

import subridge as sr
from subridge.simulation import simulate as driver
from subridge.simulation.classification import make_classification
from subridge.simulation.memory import batches_to_classify, bytes_of_votes
from subridge.simulation.voting import run_trials


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=200)
    X = np.abs(rng.standard_normal((3, 24))[y] + rng.standard_normal((200, 24)))
    return X[:140], y[:140], X[140:], y[140:]


GRID = {"ridges": [0.0, 0.1], "n_samples": [6, 24, 100], "n_trials": 4, "progress": False}
EQUAL = tuple(sr.subsets.Equal(k) for k in (1, 3, 8))


def ensembles(strategies=EQUAL, noises=(0.0, 0.5), aggregation="majority"):
    return [sr.Ensemble(each, readout_noise=np.array(noises)[:, None], aggregation=aggregation) for each in strategies]


def simulate(data, ensemble=None, **options):
    return sr.simulate_classification(*data, ensembles() if ensemble is None else ensemble, **(GRID | options))


def test_result_has_the_dimensions_of_the_contract(data):
    found = simulate(data)
    assert found.misclassification.dims == ("trial", "n_members", "ridge", "readout_noise", "n_samples")
    assert found.misclassification.shape == (4, 3, 2, 2, 3)
    counts = found.misclassification.values * 60  # shares of 60 test samples
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
    assert 0 <= counts.min() < counts.max() <= 60
    assert found.attrs["n_features"] == 24


def test_neither_blocks_nor_memory_nor_the_grid_change_a_trial(data):
    whole = simulate(data).misclassification
    small = simulate(data, run=sr.Run(block=1, memory=2**20)).misclassification
    np.testing.assert_array_equal(whole, small)
    part = simulate(data, ensembles([sr.subsets.Equal(3)], [0.5]), ridges=[0.1]).misclassification
    np.testing.assert_array_equal(whole.sel(n_members=[3], ridge=[0.1], readout_noise=[0.5]), part)


def test_an_interrupted_run_goes_on_from_its_store(data, tmp_path, monkeypatch):
    whole, calls = simulate(data).misclassification, []

    def failing(experiment, trials, plan):
        calls.extend(trials)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return run_trials(experiment, trials, plan)

    monkeypatch.setattr(driver, "CLASSIFICATION", driver.CLASSIFICATION._replace(run_trials=failing))
    run = sr.Run(store=tmp_path / "errors.zarr", block=1)
    with pytest.raises(KeyboardInterrupt):
        simulate(data, run=run)
    np.testing.assert_array_equal(simulate(data, run=run).misclassification, whole)
    assert sorted(set(calls)) == [0, 1, 2, 3]
    assert len(calls) == 5  # the one that was interrupted is run again


def test_a_store_of_another_experiment_is_refused(data, tmp_path):
    run = sr.Run(store=tmp_path / "errors.zarr")
    simulate(data, run=run)
    with pytest.raises(sr.errors.StoreError, match="another"):
        simulate(data, run=run, seed=1)


def test_classes_may_have_any_names(data):
    X, y, X_test, y_test = data
    names = np.array(["cat", "dog", "owl"])
    named = simulate((X, names[y], X_test, names[y_test]))
    np.testing.assert_array_equal(named.misclassification, simulate(data).misclassification)


def test_an_ensemble_alone_is_a_list_of_one(data):
    one = ensembles([sr.subsets.Dirichlet(3, 0.75)])
    alone, listed = simulate(data, one[0]), simulate(data, one)
    assert alone.identical(listed)
    assert alone.sizes["n_members"] == 1


def test_without_a_sweep_the_ridge_is_that_of_the_ensemble(data):
    swept = simulate(data).misclassification.sel(ridge=[0.1], readout_noise=[0.0])
    own = [sr.Ensemble(sr.subsets.Equal(k), ridge=0.1, aggregation="majority") for k in (1, 3, 8)]
    np.testing.assert_array_equal(simulate(data, own, ridges=None).misclassification, swept)


def test_noise_that_drowns_the_scores_leaves_chance(data):
    found = simulate(data, ensembles(noises=[1e4]), test_draws=20, n_trials=6)
    assert abs(float(found.misclassification.mean()) - 2 / 3) < 0.02


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": [141]}, "141 training samples but X has 140"),
        ({"n_samples": [24, 6]}, "n_samples must be strictly ascending"),
        ({"n_samples": []}, "n_samples must be strictly ascending, got none"),
        ({"ensemble": ensembles([sr.subsets.Equal(25)])}, "n_features=24 cannot serve n_members=25"),
        ({"dtype": "int8"}, "dtype must be"),
        ({"ridges": [-1.0]}, "ridges must be at least 0"),
        ({"ensemble": ensembles(aggregation="mean")}, '"majority" or "sum" to classify'),
        ({"ensemble": [*ensembles()[:1], *ensembles(aggregation="sum")[1:]]}, "got 'majority' and 'sum'"),
        ({"ensemble": ensembles([sr.subsets.equal(3, 24, seed=0)])}, "needs a strategy"),
        ({"ensemble": ensembles([sr.subsets.Projection((3,))])}, "projections are not supported"),
        ({"ensemble": ensembles([sr.subsets.Equal(3), sr.subsets.Dirichlet(3, 1)])}, r"different .* got \[3, 3\]"),
        ({"ensemble": []}, "different numbers of members"),
        ({"ensemble": [3]}, "ensemble must be an Ensemble"),
        ({"ensemble": [*ensembles()[:1], *ensembles(noises=[0.0])[1:]]}, "readout_noise must be the same"),
        (
            {"ensemble": sr.Ensemble(sr.subsets.Equal(2), readout_noise=[0.1, 0.2], aggregation="sum")},
            "readout_noise must be the same",
        ),
        (
            {"ridges": None, "ensemble": sr.Ensemble(sr.subsets.Equal(2), ridge=[0.1, 0.2], aggregation="sum")},
            "ridge must be the same",
        ),
    ],
)
def test_a_wrong_option_is_named_with_its_value(data, options, message):
    with pytest.raises(sr.errors.SubridgeError, match=message):
        simulate(data, **options)


def test_wrong_data_are_named(data):
    X, y, X_test, y_test = data
    with pytest.raises(sr.errors.DataError, match="X contains NaN"):
        simulate((np.where(X > 2, np.nan, X), y, X_test, y_test))
    with pytest.raises(sr.errors.DataError, match="X_test has 23 features but X has 24"):
        simulate((X, y, X_test[:, 1:], y_test))
    with pytest.raises(sr.errors.DataError, match="y_test has class"):
        simulate((X, y, X_test, y_test + 1))


def test_too_little_memory_is_said_before_anything_is_trained(data):
    with pytest.raises(sr.errors.BudgetError, match="raise Run"):
        simulate(data, run=sr.Run(memory=1000))


def test_votes_take_the_memory_that_was_counted(data):
    e = make_classification(data, ensembles([sr.subsets.Equal(2)]), [6, 24], 2)
    entries = 2 * 3 * 60
    assert bytes_of_votes(e) == entries * (2 * 4 + 2 * 8)
    assert batches_to_classify(e, 2**30)[0] == 1
