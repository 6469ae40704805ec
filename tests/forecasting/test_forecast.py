import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import subridge as sr
from subridge.spec.errors import DataError, ParameterError, RidgeError, SubsetError

ONE = {"one": sr.Ensemble(sr.subsets.Equal(1), 0.3)}


def test_it_is_close_to_trained_ensembles():
    """Mean forecast over pilots within 5 % of the engine's mean at half to four times the pilot's size."""
    M, n, zeta = 120, 150, 0.5
    covariance = sr.covariance.autoregressive(M, 0.5)
    rng = np.random.default_rng(0)
    problem = sr.Problem(covariance, rng.standard_normal(M), label_noise=zeta)
    plans = {"one": sr.subsets.equal(1, M, 0), "unequal": sr.subsets.dirichlet(4, M, 0.75, 0)}
    ensembles = {name: sr.Ensemble(plan, 0.2, 0.3) for name, plan in plans.items()}
    sizes = [75, 150, 600]
    root = np.linalg.cholesky(covariance.dense())
    found = []
    for _ in range(50):
        X = rng.standard_normal((n, M)) @ root.T
        y = X @ problem.teacher_weights / np.sqrt(M) + zeta * rng.standard_normal(n)
        found.append(sr.forecast(X, y, sizes, ensembles, fit_intercept=False).error.values)
    for row, ensemble in enumerate(ensembles.values()):
        runs = sr.simulate(problem, ensemble, sizes, 60, nested=False, seed=1, progress=False)
        truth = runs.risk.mean("trial").values + zeta**2
        np.testing.assert_allclose(np.mean(found, axis=0)[row], truth, rtol=0.05)


def test_the_dataset_says_what_it_holds(pilot_data):
    X, y = pilot_data
    curve = sr.forecast(X, y, [60, 120, np.inf], ONE)
    assert curve.error.dims == ("ensemble", "n_samples")
    assert {"error_lower", "error_upper", "in_reach", "standard_error", "ridge", "reach"} <= set(curve.data_vars)
    assert (curve.error_lower <= curve.error).all()
    assert (curve.error <= curve.error_upper).all()
    np.testing.assert_allclose(curve.irreducible_error.values, curve.error.sel(n_samples=np.inf).values)
    assert np.isinf(curve.reach.values).all()
    assert curve.attrs["n_pilot"] == 60


def test_at_the_pilots_size_it_is_the_leave_one_out_error(pilot_data):
    X, y = pilot_data
    ensemble = sr.Ensemble(sr.subsets.equal(4, 40, 0), 0.3)
    curve = sr.forecast(X, y, [60], {"four": ensemble})
    assert float(curve.error[0, 0]) == pytest.approx(sr.risk_matrix(X, y, ensemble).mean(), rel=1e-6)


def test_out_of_reach_is_nan_unless_extrapolated_and_then_marked(pilot_data):
    X, y = pilot_data[0][:30], pilot_data[1][:30]
    plain = sr.forecast(X, y, [30, 3000], ONE)
    assert plain.in_reach.values.tolist() == [[True, False]]
    assert np.isnan(plain.error.values[0, 1])
    bold = sr.forecast(X, y, [30, 3000], ONE, extrapolate=True)
    assert bold.in_reach.values.tolist() == [[True, False]]
    assert 0 < float(bold.error[0, 1]) < float(bold.error[0, 0])
    width = np.log(bold.error_upper / bold.error_lower).values[0]
    assert width[1] > width[0]
    assert 30 < float(plain.reach[0, 0]) < 3000


def test_extrapolation_is_right_within_its_interval_for_a_power_law_spectrum():
    rng = np.random.default_rng(5)
    M, n, zeta, size = 300, 100, 0.3, 800
    values = np.arange(1, M + 1) ** -1.2 * 20.0
    beta = np.arange(1, M + 1) ** -0.3 * rng.choice([-1, 1], M) / 4

    def draw(rows):
        X = rng.standard_normal((rows, M)) * np.sqrt(values)
        return X, X @ beta + zeta * rng.standard_normal(rows)

    p = 0.01 * M
    truth = []
    for _ in range(20):
        X, y = draw(size)
        Xc, yc = X - X.mean(axis=0), y - y.mean()
        d = np.linalg.solve(Xc.T @ Xc + p * np.eye(M), Xc.T @ yc) - beta
        truth.append((values * d**2).sum() + zeta**2)
    inside, middle = [], []
    for _ in range(20):
        curve = sr.forecast(*draw(n), [size], {"one": sr.Ensemble(sr.subsets.equal(1, M, 0), 0.01)}, extrapolate=True)
        assert not bool(curve.in_reach[0, 0])
        inside.append(float(curve.error_lower[0, 0]) <= np.mean(truth) <= float(curve.error_upper[0, 0]))
        middle.append(float(curve.error[0, 0]))
    assert np.median(middle) == pytest.approx(np.mean(truth), rel=0.3)
    assert np.mean(inside) > 0.7


def test_chosen_ridges_err_least(pilot_data):
    X, y = pilot_data
    path = [0.01, 0.1, 1.0, 10.0]
    plan = sr.subsets.equal(2, 40, 0)
    tuned = sr.forecast(X, y, [120], {"two": sr.Ensemble(plan)}, ridges=path)
    fixed = [float(sr.forecast(X, y, [120], {"two": sr.Ensemble(plan, ridge)}).error[0, 0]) for ridge in path]
    assert float(tuned.error[0, 0]) == pytest.approx(min(fixed))
    assert float(tuned.ridge[0, 0]) == path[int(np.argmin(fixed))]


def test_optimal_weights_are_at_least_as_good(pilot_data):
    X, y = pilot_data
    ensembles = {"four": sr.Ensemble(sr.subsets.dirichlet(4, 40, 0.75, 0), 0.3)}
    mean, best = (
        sr.forecast(X, y, [60, 240], ensembles, aggregation=kind).error.values for kind in ("mean", "optimal")
    )
    assert (best <= mean + 1e-12).all()


def test_readout_noise_is_averaged_over_members(pilot_data):
    X, y = pilot_data
    plan = sr.subsets.equal(4, 40, 0)
    quiet, noisy = (
        float(sr.forecast(X, y, [np.inf], {"four": sr.Ensemble(plan, 0.3, eta)}).error[0, 0]) for eta in (0.0, 2.0)
    )
    assert noisy - quiet == pytest.approx(2.0**2 / 4, rel=1e-9)


def test_several_targets_add_up(pilot_data):
    X, y = pilot_data
    two = sr.forecast(X, np.stack([y, 2 * y], axis=1), [120], ONE)
    assert float(two.error[0, 0]) == pytest.approx(5 * float(sr.forecast(X, y, [120], ONE).error[0, 0]), rel=1e-6)


def test_frames_and_sparse_matrices_are_read_like_arrays(pilot_data):
    X, y = pilot_data
    expected = sr.forecast(X, y, [120], ONE).error.values
    frame = sr.forecast(pd.DataFrame(X).add_prefix("x"), pd.Series(y), [120], ONE).error.values
    np.testing.assert_allclose(frame, expected)
    np.testing.assert_allclose(sr.forecast(sparse.csr_array(X), y, [120], ONE).error.values, expected, rtol=1e-8)


def test_constant_and_repeated_columns_do_no_harm(pilot_data):
    X, y = pilot_data
    plan = sr.SubsetPlan.from_indices([np.arange(42)], 42)
    padded = np.column_stack([X, np.ones(60), X[:, 0]])
    curve = sr.forecast(padded, y, [60, 240], {"one": sr.Ensemble(plan, 0.3)})
    assert np.isfinite(curve.error.values).all()


def test_label_noise_is_estimated(pilot_data):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 100))
    y = X @ rng.standard_normal(100) + 2.0 * rng.standard_normal(300)
    attributes = sr.forecast(X, y, [600], ONE).attrs
    assert attributes["label_noise"] == pytest.approx(2.0, rel=0.15)
    assert attributes["label_noise_lower"] < 2.0 < attributes["label_noise_upper"]


def test_classes_are_voted_on():
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((3, 30))
    codes = rng.integers(3, size=3000)
    X = centres[codes] + 2.0 * rng.standard_normal((3000, 30))
    labels = np.array(["ant", "bee", "cat"])[codes]
    ensembles = {"three": sr.Ensemble(sr.subsets.equal(3, 30, 0), 0.5)}
    n, size = 150, 600
    curve = sr.forecast(X[:n], labels[:n], [n, size], ensembles)
    assert curve.attrs["class_names"] == "ant, bee, cat"
    model = sr.RidgeEnsembleClassifier(subsets=sr.subsets.equal(3, 30, 0), ridge=0.5)
    assert float(curve.misclassification[0, 0]) == pytest.approx(model.fit(X[:n], labels[:n]).loo_error_, abs=1e-12)
    wrong = [
        (model.fit(X[i : i + size], labels[i : i + size]).predict(X[1500:]) != labels[1500:]).mean()
        for i in range(0, 900, 150)
    ]
    pilots = [
        float(sr.forecast(X[i : i + n], labels[i : i + n], [size], ensembles).misclassification[0, 0])
        for i in range(0, 1500, n)
    ]
    assert np.mean(pilots) == pytest.approx(np.mean(wrong), rel=0.1)


@pytest.mark.parametrize(
    ("change", "error", "word"),
    [
        ({"X": np.full((60, 40), np.nan)}, ValueError, "NaN"),
        ({"y": np.ones(59)}, DataError, "60 rows"),
        ({"y": np.ones(60)}, DataError, "constant"),
        ({"y": np.array([None] * 60)}, DataError, "lacks 60 labels"),
        ({"y": np.array(["a"] * 60)}, DataError, "single class"),
        ({"y": np.arange(60).astype(str)}, DataError, "60 classes"),
        ({"n_samples": [1]}, ParameterError, "n_samples"),
        ({"n_samples": [2.5]}, ParameterError, "n_samples"),
        ({"ensembles": {}}, ParameterError, "at least one"),
        ({"ensembles": {"a": 3}}, ParameterError, "must be an Ensemble"),
        ({"ensembles": {"a": sr.Ensemble(sr.subsets.equal(2, 30, 0))}}, SubsetError, "30 features"),
        ({"ensembles": {"a": sr.Ensemble([0.5, 0.5])}}, SubsetError, "fractions"),
        ({"ensembles": {"a": sr.Ensemble(sr.subsets.Equal(2), -0.1)}}, RidgeError, "at least 0"),
        ({"ensembles": {"a": sr.Ensemble(sr.subsets.Equal(2), [[0.1], [0.2]])}}, ParameterError, "sweeps"),
        ({"aggregation": "median"}, ParameterError, "aggregation"),
        ({"ridges": "many"}, ParameterError, "ridges"),
        ({"task": "ranking"}, ParameterError, "task"),
        ({"level": 1.5}, ParameterError, "level"),
    ],
)
def test_bad_input_is_named(pilot_data, change, error, word):
    X, y = pilot_data
    options = {"X": X, "y": y, "n_samples": [120], "ensembles": ONE} | change
    with pytest.raises(error, match=word):
        sr.forecast(**options)


def test_a_pilot_of_a_few_rows_is_refused(pilot_data):
    X, y = pilot_data
    with pytest.raises(DataError, match="at least 20"):
        sr.forecast(X[:19], y[:19], [100], ONE)
