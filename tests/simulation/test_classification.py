import numpy as np
import pytest

import subridge as sr
from subridge.simulation.classification.experiment import make_classification
from subridge.simulation.classification.memory import bytes_of_votes, plan_classification


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=200)
    X = np.abs(rng.standard_normal((3, 24))[y] + rng.standard_normal((200, 24)))
    return X[:140], y[:140], X[140:], y[140:]


GRID = {"n_members": [1, 3, 8], "ridges": [0.0, 0.1], "readout_noises": [0.0, 0.5], "n_samples": [6, 24, 100]}


def simulate(data, **options):
    return sr.simulate_classification(*data, **(GRID | {"n_trials": 4, "progress": False} | options))


def test_result_has_the_dimensions_of_the_contract(data):
    found = simulate(data)
    assert found.misclassification.dims == ("trial", "n_members", "ridge", "readout_noise", "n_samples")
    assert found.misclassification.shape == (4, 3, 2, 2, 3)
    assert float(found.misclassification.min()) >= 0
    assert float(found.misclassification.max()) <= 1
    assert found.attrs["n_features"] == 24


def test_neither_blocks_nor_memory_nor_the_grid_change_a_trial(data):
    whole = simulate(data).misclassification
    small = simulate(data, run=sr.Run(block=1, memory=2**20)).misclassification
    np.testing.assert_array_equal(whole, small)
    part = simulate(data, n_members=[3], ridges=[0.1], readout_noises=[0.5]).misclassification
    np.testing.assert_array_equal(whole.sel(n_members=[3], ridge=[0.1], readout_noise=[0.5]), part)


def test_an_interrupted_run_goes_on_from_its_store(data, tmp_path, monkeypatch):
    from subridge.simulation.classification import simulate as module

    whole, work, calls = simulate(data).misclassification, module.run_classification_task, []

    def failing(job, number):
        calls.append(number)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return work(job, number)

    monkeypatch.setattr(module, "run_classification_task", failing)
    run = sr.Run(store=tmp_path / "errors.zarr", block=1)
    with pytest.raises(KeyboardInterrupt):
        simulate(data, run=run)
    np.testing.assert_array_equal(simulate(data, run=run).misclassification, whole)
    assert calls == [0, 1, 2, 2, 3]


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


def test_a_strategy_may_be_a_class_or_a_function(data):
    equal = simulate(data, strategy=sr.subsets.Equal)
    np.testing.assert_array_equal(equal.misclassification, simulate(data).misclassification)
    spread = simulate(data, strategy=lambda k: sr.subsets.Dirichlet(k, 0.75))
    np.testing.assert_array_equal(spread.misclassification, simulate(data, strategy="dirichlet").misclassification)


def test_noise_that_drowns_the_scores_leaves_chance(data):
    found = simulate(data, readout_noises=[1e4], test_draws=20, n_trials=6)
    assert abs(float(found.misclassification.mean()) - 2 / 3) < 0.02


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": [141]}, "141 training samples but X has 140"),
        ({"n_members": [4, 2]}, "n_members must be strictly ascending"),
        ({"n_members": [25]}, "n_features=24 cannot serve n_members=25"),
        ({"ridges": [-1.0]}, "ridges must be at least 0"),
        ({"readout_noises": [-0.1]}, "readout_noises must be at least 0"),
        ({"voting": "loudest"}, '"majority" or "sum"'),
        ({"strategy": "random"}, "strategy must be"),
        ({"strategy": lambda k: sr.subsets.Equal(2)}, r"strategy\(1\) must be a strategy of 1 members"),
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
    rest = {"n_trials": 2, "test_draws": 1, "voting": "majority", "seed": 0, "device": "cpu", "dtype": "float64"}
    e = make_classification(data, "equal", 0.75, [2], [6, 24], ridges=[0.0], readout_noises=[0.0, 0.5], **rest)
    entries = 2 * 3 * 60
    assert bytes_of_votes(e) == entries * (2 * 4 + 2 * 8)
    assert plan_classification(e, 2**30, 1)[0] == 1
