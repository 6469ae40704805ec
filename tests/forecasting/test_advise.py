import numpy as np
import pytest

import subridge as sr
from subridge.results.plain_numbers import interval, plain
from subridge.spec.errors import ParameterError


def blocks(rng, n=300, M=400):
    """The signal sits in the first of four blocks (the example of the project's documentation)."""
    X = rng.standard_normal((n, M))
    return X, X[:, : M // 4] @ rng.standard_normal(M // 4) / np.sqrt(M // 4) + 0.3 * rng.standard_normal(n)


def test_weights_on_one_tuned_member_beat_one_tuned_ridge_where_the_signal_is_in_one_block():
    X, y = blocks(np.random.default_rng(0))
    plan = sr.SubsetPlan.from_indices(np.arange(400).reshape(4, 100), 400)
    advice = sr.advise(X, y, n_members=[4], ensembles={"blocks": sr.Ensemble(plan)})
    assert advice.best == "blocks, weighted"
    assert advice.weights[advice.best][0] > 0.9
    row = advice.table.sel(candidate="blocks, weighted")
    assert float(row.gain) > 0.4
    assert advice.reasons[0].startswith("Ensemble:")
    assert advice.estimator().fit(X, y).loo_error_ == pytest.approx(float(row.prediction_error), rel=0.01)


def test_for_isotropic_data_it_says_tune_the_ridge():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 200))
    y = X @ rng.standard_normal(200) / 14 + 0.5 * rng.standard_normal(300)
    advice = sr.advise(X, y, 1500, n_members=[2, 4, 8], overlapping_fractions=[])
    assert advice.best == "one ridge"
    assert advice.reasons[0].startswith("Do not ensemble")
    assert (advice.table.gain.values[1:] < 0).all()


def test_readout_noise_makes_members_pay():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 100))
    y = X @ rng.standard_normal(100) / 10 + 0.3 * rng.standard_normal(200)
    advice = sr.advise(X, y, n_members=[2, 8], readout_noise=2.0)
    assert int(advice.table.n_members[0]) == 8
    assert "readout noise" in advice.reasons[1]


def test_candidates_come_ordered_with_the_single_ridge_among_them():
    X, y = blocks(np.random.default_rng(0), n=80, M=40)
    table = sr.advise(X, y, 200, n_members=[2, 4, 100]).table
    assert (np.diff(table.prediction_error_upper.values) >= 0).all()
    assert "one ridge" in table.candidate.values
    assert table.n_members.values.max() == 4
    assert {"mean", "simplex"} == set(table.aggregation.values)
    plain = table.where(table.aggregation == "mean", drop=True)
    np.testing.assert_allclose(plain.effective_members.values, plain.n_members.values)


def test_classes_get_a_classifier():
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=120)
    X = rng.standard_normal((120, 20)) + codes[:, None]
    labels = np.array(["no", "yes"])[codes]
    advice = sr.advise(X, labels, n_members=[2])
    assert np.isfinite(advice.table.misclassification.values).any()
    name = next(name for name in advice.ensembles if not name.endswith("weighted"))
    assert advice.estimator(name).fit(X, labels).score(X, labels) > 0.9
    with pytest.raises(ParameterError, match="name must be one of"):
        advice.estimator("nothing")


def test_it_reads_as_two_sentences():
    X, y = blocks(np.random.default_rng(0), n=80, M=40)
    advice = sr.advise(X, y, n_members=[2])
    what, why = advice.reasons
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in advice.reasons)
    best = advice.table.isel(candidate=0)
    assert interval(*(float(best[f"prediction_error{end}"]) for end in ("", "_lower", "_upper"))) in what
    assert f"ζ² = {plain(advice.table.attrs['label_noise'] ** 2)}" in why
    assert str(advice) == f"{what} {why}"


def test_given_ensembles_keep_their_noise_and_their_names():
    X, y = blocks(np.random.default_rng(0), n=80, M=40)
    plan = sr.subsets.equal(2, 40, 0)
    advice = sr.advise(X, y, n_members=[2], ensembles={"loud": sr.Ensemble(plan, readout_noise=5.0)})
    assert float(advice.table.prediction_error.sel(candidate="loud")) > 5.0**2 / 2
    with pytest.raises(ParameterError, match="one ridge"):
        sr.advise(X, y, n_members=[2], ensembles={"one ridge": sr.Ensemble(plan)})
