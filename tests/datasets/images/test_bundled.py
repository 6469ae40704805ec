import runpy
from pathlib import Path

import numpy as np
import pytest

import subridge as sr
from subridge.datasets.images.sets import FeatureSet, read_quantised

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def fashion():
    return sr.datasets.load_fashion_features()


def test_the_bundled_set_is_small_and_says_where_it_comes_from(fashion):
    from importlib.resources import files

    assert len(files("subridge.datasets").joinpath("data/fashion_lite0.npz").read_bytes()) < 8e6
    assert fashion.X.shape == (4000, 1269)
    assert fashion.X_test.shape == (2000, 1269)
    assert "MIT" in fashion.attributes["images"]
    assert "Apache-2.0" in fashion.attributes["network"]
    assert np.bincount(fashion.y).min() > 300


def test_equal_classifiers_spike_at_their_threshold_and_heterogeneous_ones_do_not(fashion):
    """The paper's effect on real images, at a quarter of the features so that it takes seconds."""
    data = fashion.with_features(320).with_sizes(None, 500)
    grid = {"ridges": [0.0, 0.1], "n_samples": [20, 40, 100], "n_trials": 6, "progress": False}
    ensembles = (
        sr.Ensemble(subsets, aggregation="majority") for subsets in (sr.subsets.Equal(8), sr.subsets.Dirichlet(8, 0.75))
    )
    equal, spread = (
        sr.simulate_classification(*data, each, **grid).misclassification.mean("trial").isel(ridge=0).squeeze()
        for each in ensembles
    )
    assert float(equal.sel(n_samples=40)) > float(equal.sel(n_samples=20)) + 0.1
    assert float(spread.sel(n_samples=40)) < float(spread.sel(n_samples=20))
    assert float(spread.sel(n_samples=40)) < float(equal.sel(n_samples=40)) - 0.15


def test_a_byte_per_entry_is_off_by_half_a_step(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.random((50, 7)) * np.arange(1, 8), rng.integers(2, size=50)
    data = FeatureSet(X[:40], y[:40], X[40:], y[40:], ("a", "b"), "toy", {"images": "none"})
    tool = runpy.run_path(str(ROOT / "tools/make_fashion_features.py"))
    error = tool["write_quantised"](tmp_path / "toy.npz", data)
    back = read_quantised(tmp_path / "toy.npz", "toy")
    steps = (X.max(axis=0) - X.min(axis=0)) / 255
    assert (np.abs(back.X - data.X) <= 0.501 * steps).all()
    assert error["rms"] < error["worst"] < 0.005
    assert back.class_names == ("a", "b")
    assert back.attributes == {"images": "none"}
    np.testing.assert_array_equal(back.y_test, data.y_test)


def test_features_and_labels_that_do_not_fit_are_refused():
    with pytest.raises(sr.errors.DataError, match="do not fit together"):
        FeatureSet(np.eye(3), np.zeros(2), np.eye(3), np.zeros(3), ("a",), "toy")
