"""Torch tensors in, torch tensors out."""

import numpy as np
import pytest

import subridge as sr

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)]


@pytest.fixture(params=DEVICES)
def device(request):
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return request.param


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((70, 30))
    return X, X[:, :4].sum(axis=1) + rng.standard_normal(70), rng.uniform(0.5, 2.0, 70)


@pytest.mark.parametrize("aggregation", ["mean", "simplex", "median"])
@pytest.mark.parametrize("subsets", ["dirichlet", "overlapping", "projection"])
def test_a_regressor_of_tensors_equals_one_of_arrays(data, device, subsets, aggregation):
    X, y, weights = data
    make = {"n_estimators": 4, "subsets": subsets, "aggregation": aggregation, "readout_noise": 0.1, "random_state": 0}
    tensors = [torch.asarray(array, device=device) for array in data]
    ours = sr.RidgeEnsembleRegressor(**make).fit(tensors[0], tensors[1], sample_weight=tensors[2])
    arrays = sr.RidgeEnsembleRegressor(**make).fit(X, y, sample_weight=weights)
    prediction = ours.predict(tensors[0])
    assert isinstance(prediction, torch.Tensor)
    assert prediction.device == tensors[0].device
    np.testing.assert_allclose(prediction.cpu().numpy(), arrays.predict(X), atol=1e-9)
    np.testing.assert_allclose(ours.predict(X), arrays.predict(X), atol=1e-9)
    np.testing.assert_allclose(arrays.predict(tensors[0]).cpu().numpy(), arrays.predict(X), atol=1e-9)
    np.testing.assert_allclose(ours.risk_matrix_, arrays.risk_matrix_, atol=1e-9)


@pytest.mark.parametrize("n", [70, 20])
@pytest.mark.parametrize(("ridge", "scope"), [(0.0, "member"), (0.5, "member"), ("auto", "member"), ("auto", "joint")])
def test_every_ridge_serves_tensors(data, device, ridge, scope, n):
    X, y, _ = data
    Y = np.stack([y, y**2], axis=1)[:n]
    ours = sr.RidgeEnsembleRegressor(2, ridge=ridge, ridge_scope=scope, random_state=0)
    ours.fit(torch.asarray(X[:n], device=device), torch.asarray(Y, device=device))
    arrays = sr.RidgeEnsembleRegressor(2, ridge=ridge, ridge_scope=scope, random_state=0).fit(X[:n], Y)
    assert isinstance(ours.coef_, torch.Tensor)
    np.testing.assert_allclose(ours.coef_.cpu().numpy(), arrays.coef_, atol=1e-8)


@pytest.mark.parametrize("voting", ["majority", "sum"])
def test_a_classifier_of_tensors_equals_one_of_arrays(data, device, voting):
    X, y, _ = data
    labels = np.digitize(y, [-1.0, 1.0])
    Xt, lt = torch.asarray(X, device=device), torch.asarray(labels, device=device)
    ours = sr.RidgeEnsembleClassifier(4, voting=voting, random_state=0).fit(Xt, lt)
    arrays = sr.RidgeEnsembleClassifier(4, voting=voting, random_state=0).fit(X, labels)
    assert ours.predict(Xt).device == Xt.device
    np.testing.assert_array_equal(ours.predict(Xt).cpu().numpy(), arrays.predict(X))
    np.testing.assert_allclose(ours.predict_proba(Xt).cpu().numpy(), arrays.predict_proba(X), atol=1e-9)


def test_tensors_stream(data, device):
    X, y, weights = data
    ours = sr.RidgeEnsembleRegressor(4, random_state=0)
    for part in (slice(0, 30), slice(30, 70)):
        batch = [torch.asarray(array[part], device=device) for array in (X, y, weights)]
        ours.partial_fit(batch[0], batch[1], sample_weight=batch[2])
    arrays = sr.RidgeEnsembleRegressor(4, random_state=0).partial_fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.predict(X), arrays.predict(X), atol=1e-9)


def test_single_precision_goes_in_and_comes_out(data, device):
    X, y, _ = data
    Xt = torch.asarray(X, dtype=torch.float32, device=device)
    model = sr.RidgeEnsembleRegressor(4, random_state=0).fit(Xt, torch.asarray(y, device=device))
    assert model.predict(Xt).dtype == torch.float32


def test_bad_tensors_are_named(data):
    X, y, _ = data
    model = sr.RidgeEnsembleRegressor(4)
    Xt, yt = torch.asarray(X), torch.asarray(y)
    for bad, labels, message in (
        (Xt[0], yt, "shape"),
        (Xt * float("nan"), yt, "NaN or infinity"),
        (Xt, yt[1:], "70 rows"),
        (Xt, yt * float("inf"), "y contains NaN or infinity"),
        (Xt.to(torch.complex128), yt, "real numbers"),
        (Xt, None, "y is None"),
    ):
        with pytest.raises(sr.errors.DataError, match=message):
            model.fit(bad, labels)
    with pytest.raises(sr.errors.DataError, match="expecting 30 features"):
        model.fit(Xt, yt).predict(Xt[:, 1:])
