"""Groups, gaps, intervals and sets of classes on tensors: what NumPy says."""

import numpy as np
import pytest

import subridge as sr

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::subridge.model.errors.CorrelatedRowsWarning")]
GROUPS = np.arange(72) // 4


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def device(request):
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return request.param


def data(M):
    rng = np.random.default_rng(M)
    X = rng.standard_normal((72, M)) + 0.7 * rng.standard_normal((18, M))[GROUPS]
    y = X[:, :4].sum(axis=1) + rng.standard_normal(18)[GROUPS] + rng.standard_normal(72)
    return X, y, rng.uniform(0.5, 2.0, 72), rng.standard_normal((9, M))


def agree(ours, arrays, device, atol):
    assert isinstance(ours, torch.Tensor)
    assert ours.device.type == device
    np.testing.assert_allclose(ours.cpu().numpy(), arrays, atol=atol)


@pytest.mark.parametrize("aggregation", ["mean", "simplex", "median"])
@pytest.mark.parametrize(("M", "ridge"), [(24, 0.1), (24, "auto"), (90, 0.1), (90, 0.0), (150, "auto")])
@pytest.mark.parametrize("way", ["rows", "groups", "gap"])
def test_left_out_predictions_and_intervals_of_tensors_equal_those_of_arrays(device, way, M, ridge, aggregation):
    X, y, weights, new = data(M)
    groups = GROUPS if way == "groups" else None
    make = {"ridge": ridge, "aggregation": aggregation, "gap": 2 * (way == "gap"), "random_state": 0}
    arrays = sr.RidgeEnsembleRegressor(2, **make).fit(X, y, sample_weight=weights, groups=groups)
    tensors = [torch.asarray(array, device=device) for array in (X, y, weights, new)]
    labels = None if groups is None else torch.asarray(groups, device=device)
    ours = sr.RidgeEnsembleRegressor(2, **make).fit(tensors[0], tensors[1], sample_weight=tensors[2], groups=labels)
    agree(ours.loo_predictions_, arrays.loo_predictions_, device, 1e-8)
    np.testing.assert_allclose(ours.loo_error_, arrays.loo_error_, rtol=1e-8)
    for bound, expected in zip(ours.predict_interval(tensors[3], 0.8), arrays.predict_interval(new, 0.8), strict=True):
        agree(bound, expected, device, 1e-8)
    # What was fitted on one side predicts on the other.
    np.testing.assert_allclose(ours.predict_interval(new, 0.8), arrays.predict_interval(new, 0.8), atol=1e-8)
    agree(arrays.predict_interval(tensors[3], 0.8)[0], arrays.predict_interval(new, 0.8)[0], device, 1e-8)


@pytest.mark.parametrize("groups", [None, GROUPS])
def test_several_targets_have_the_intervals_of_arrays(device, groups):
    X, y, _, new = data(24)
    Y = np.stack([y, y**2], axis=1)
    arrays = sr.RidgeEnsembleRegressor(3, ridge=0.1, random_state=0).fit(X, Y, groups=groups)
    ours = sr.RidgeEnsembleRegressor(3, ridge=0.1, random_state=0)
    ours.fit(torch.asarray(X, device=device), torch.asarray(Y, device=device), groups=groups)
    bounds = ours.predict_interval(torch.asarray(new, device=device), 0.8)
    agree(bounds[1], arrays.predict_interval(new, 0.8)[1], device, 1e-8)


@pytest.mark.parametrize("voting", ["majority", "sum"])
@pytest.mark.parametrize("groups", [None, GROUPS])
def test_classes_left_out_by_groups_and_their_sets_are_those_of_arrays(device, voting, groups):
    X, y, _, new = data(24)
    labels = np.digitize(y, [-1.0, 1.0])
    arrays = sr.RidgeEnsembleClassifier(3, ridge=0.1, voting=voting, random_state=0).fit(X, labels, groups=groups)
    ours = sr.RidgeEnsembleClassifier(3, ridge=0.1, voting=voting, random_state=0)
    ours.fit(torch.asarray(X, device=device), torch.asarray(labels, device=device), groups=groups)
    np.testing.assert_allclose(ours.loo_error_, arrays.loo_error_)
    np.testing.assert_allclose(ours.temperature_, arrays.temperature_, rtol=1e-5)
    sets = ours.predict_set(torch.asarray(new, device=device), 0.8)
    np.testing.assert_array_equal(np.asarray(sets), arrays.predict_set(new, 0.8))


def test_single_precision_goes_in_and_comes_out(device):
    X, y, _, new = data(24)
    ours = sr.RidgeEnsembleRegressor(2, ridge=0.1, random_state=0)
    ours.fit(torch.asarray(X, device=device).float(), torch.asarray(y, device=device).float(), groups=GROUPS)
    arrays = sr.RidgeEnsembleRegressor(2, ridge=0.1, random_state=0).fit(X, y, groups=GROUPS)
    lower, _ = ours.predict_interval(torch.asarray(new, device=device).float(), 0.8)
    assert lower.dtype == torch.float32
    agree(lower, arrays.predict_interval(new, 0.8)[0], device, 1e-4)
