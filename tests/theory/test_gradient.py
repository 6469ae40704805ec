"""Derivatives of the risk against central differences of `risk`, and the splits they find."""

from itertools import pairwise

import numpy as np
import pytest

import subridge as sr

PROBLEM = sr.EquicorrelatedProblem(correlation=0.6, label_noise=0.2, feature_noise=0.3, alignment=0.4)
OVERLAPS = np.array([[0.3, 0.1, 0.05], [0.1, 0.5, 0.2], [0.05, 0.2, 0.4]])
SETTINGS = {
    "overlapping": (PROBLEM, sr.Ensemble(OVERLAPS, ridge=[0.01, 0.2, 0.05], readout_noise=[0.1, 0.2, 0.3]), 0.7),
    "disjoint, no alignment": (sr.EquicorrelatedProblem(label_noise=0.5), sr.Ensemble([0.2, 0.7], ridge=0.1), 0.4),
    "ridgeless, few samples": (PROBLEM, sr.Ensemble([0.45, 0.5], readout_noise=0.1), 0.3),
    "ridgeless, many samples": (PROBLEM, sr.Ensemble([0.25, 0.7]), 2.0),
    "negative ridge": (PROBLEM, sr.Ensemble([0.25, 0.6], ridge=-0.02), 2.0),
    "scaled mean": (
        sr.EquicorrelatedProblem(label_noise=0.3, feature_noise=0.2),
        sr.Ensemble([0.2, 0.3, 0.4], ridge=0.05, readout_noise=0.2, aggregation="scaled"),
        1.0,
    ),
}


def differences(total, n, step=1e-6):
    return np.array([(total(step * unit) - total(-step * unit)) / (2 * step) for unit in np.eye(n)])


@pytest.mark.parametrize("name", SETTINGS)
def test_derivatives_are_those_of_the_risk(name):
    problem, ensemble, alpha = SETTINGS[name]
    k, nu = ensemble.n_members, ensemble.fractions
    found = sr.risk_gradient(problem, ensemble, alpha)

    def total(ridge=0.0, noise=0.0, fractions=0.0, zeta=0.0, ratio=0.0):
        changed = sr.Ensemble(nu + fractions, ensemble.ridge + ridge, ensemble.readout_noise + noise,
                              ensemble.aggregation)  # fmt: skip
        fields = {field: getattr(problem, field) for field in problem.__dataclass_fields__}
        moved = sr.EquicorrelatedProblem(**fields | {"label_noise": problem.label_noise + zeta})
        return float(sr.risk(moved, changed, alpha + ratio).total)

    if (ensemble.ridge != 0).all():  # a ridgeless risk has a kink at zero
        np.testing.assert_allclose(found.ridge, differences(lambda x: total(ridge=x), k), rtol=1e-6, atol=1e-8)
    if (ensemble.readout_noise > 0).all():
        np.testing.assert_allclose(found.readout_noise, differences(lambda x: total(noise=x), k), rtol=1e-6, atol=1e-8)
    for field, name in (("label_noise", "zeta"), ("sample_ratio", "ratio")):
        expected = differences(lambda x, name=name: total(**{name: x[0]}), 1)[0]
        np.testing.assert_allclose(getattr(found, field), expected, rtol=1e-6, atol=1e-8)
    own = differences(lambda x: total(fractions=np.diag(x)), k)
    np.testing.assert_allclose(np.diagonal(found.fractions), own, rtol=1e-6, atol=1e-8)
    for r, s in zip(*np.nonzero(np.triu(nu, 1)), strict=True):
        both = np.zeros((k, k))
        both[r, s] = both[s, r] = 1.0
        expected = differences(lambda x, both=both: total(fractions=x[0] * both), 1)[0]
        np.testing.assert_allclose(found.fractions[r, s], expected, rtol=1e-6, atol=1e-8)


def test_the_slope_vanishes_at_the_best_ridge_of_a_member():
    ensemble = sr.Ensemble([0.4], readout_noise=0.2)
    best = sr.optimal_ridge(PROBLEM, ensemble)
    slopes = sr.risk_gradient(PROBLEM, sr.Ensemble([0.4], best, 0.2), np.array([0.2, 1.0, 3.0])).ridge
    np.testing.assert_allclose(slopes, 0, atol=1e-14)


@pytest.mark.filterwarnings("ignore::subridge.model.errors.InfiniteRiskWarning")
def test_there_is_no_derivative_at_the_interpolation_threshold():
    found = sr.risk_gradient(sr.EquicorrelatedProblem(label_noise=0.1), sr.Ensemble([0.5, 0.5]), [0.5, 1.0])
    assert np.isnan(found.fractions[0]).all()
    assert np.isfinite(found.fractions[1]).all()


def test_units_do_not_matter():
    one, tiny = (
        sr.risk_gradient(
            sr.EquicorrelatedProblem(data_scale=unit, label_noise=0.2 * unit**0.5),
            sr.Ensemble([0.3, 0.6], ridge=0.1 * unit),
            0.5,
        )
        for unit in (1.0, 1e-150)
    )
    np.testing.assert_allclose(tiny.ridge, one.ridge, rtol=1e-12)
    np.testing.assert_allclose(tiny.fractions, 1e-150 * one.fractions, rtol=1e-12)


def test_what_has_no_derivative_is_named():
    with pytest.raises(sr.errors.ParameterError, match="EquicorrelatedProblem"):
        sr.risk_gradient(PROBLEM.realise(10, 0), sr.Ensemble(sr.subsets.equal(2, 10, 0)), 1.0)
    with pytest.raises(sr.errors.ParameterError, match="sample_ratio must be positive"):
        sr.risk_gradient(PROBLEM, sr.Ensemble([0.5]), [0.0, 1.0])
    with pytest.raises(sr.errors.ParameterError, match="nothing varies"):
        sr.risk_gradient(sr.EquicorrelatedProblem(correlation=1.0), sr.Ensemble([0.5]), 1.0)
    with pytest.raises(sr.errors.RidgeError):
        sr.risk_gradient(PROBLEM, sr.Ensemble([0.5], ridge=-5.0), 1.0)


NOISY = sr.EquicorrelatedProblem(correlation=0.6, label_noise=0.2, feature_noise=0.1)
SPLITS = {
    "ten members": (NOISY, 10, (0.1, 1.0), 1e-3, 0.0),
    "three members, few samples": (NOISY, 3, (0.05, 0.5), 1e-3, 0.0),
    "readout noise": (NOISY, 5, (0.1, 2.0), 1e-3, 0.3),
    "alignment": (PROBLEM, 4, (0.2, 1.0), 1e-2, 0.1),
    "no correlation": (sr.EquicorrelatedProblem(label_noise=0.5), 6, (0.1, 0.6), 1e-2, 0.0),
    "many samples": (sr.EquicorrelatedProblem(label_noise=1.0), 3, (0.3, 3.0), 1e-4, 0.0),
}


QUICK = "three members, few samples"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=[] if each == QUICK else [pytest.mark.slow]) for each in SPLITS]
)
def test_the_best_split_beats_equal_and_random_ones(name):
    problem, k, span, ridge, noise = SPLITS[name]
    found = sr.best_split(problem, k, span, ridge=ridge, readout_noise=noise)
    nu = np.diagonal(found.ensemble.fractions)
    assert nu.sum() == pytest.approx(1, abs=1e-6)
    assert (np.diff(nu) <= 0).all()
    fine = np.geomspace(*span, 800)

    def worst(fractions):
        return float(sr.risk(problem, sr.Ensemble(fractions, ridge, noise), fine).total.max())

    assert worst(nu) == pytest.approx(found.worst_risk, rel=2e-3)
    assert found.worst_risk <= worst(np.full(k, 1 / k)) * (1 + 1e-9)
    # Other draws than those the search starts from.
    drawn = sr.subsets.Dirichlet(k, 0.75).fractions(seed=1234, size=100)
    assert found.worst_risk <= min(worst(each) for each in drawn) * (1 + 1e-6)


@pytest.mark.slow
def test_no_member_can_be_moved_to_advantage_at_the_best_split():
    found = sr.best_split(NOISY, 4, (0.2, 0.8), ridge=0.01)
    nu, fine = np.diagonal(found.ensemble.fractions), np.geomspace(0.2, 0.8, 500)
    for r, s in ((r, s) for r in range(4) for s in range(4) if r != s):
        moved = nu.copy()
        moved[r], moved[s] = nu[r] + 0.002, nu[s] - 0.002
        if moved.min() >= 1e-3 and moved.max() <= 1:
            assert sr.risk(NOISY, sr.Ensemble(moved, 0.01), fine).total.max() > found.worst_risk - 1e-6


def test_one_member_has_nothing_to_split():
    found = sr.best_split(NOISY, 1, (0.2, 0.8))
    assert found.ensemble.fractions.item() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sample_ratio": (1.0, 0.5)}, "ascending"),
        ({"sample_ratio": 1.0}, "two positive"),
        ({"sample_ratio": (0.1, np.inf)}, "two positive"),
        ({"ridge": 0.0}, "ridge must be positive"),
        ({"ridge": [0.1, 0.2]}, "ridge must be one number"),
        ({"n_members": 0}, "n_members"),
    ],
)
def test_bad_questions_are_named(change, message):
    given = {"n_members": 2, "sample_ratio": (0.1, 1.0), "ridge": 0.1} | change
    with pytest.raises(sr.errors.ParameterError, match=message):
        sr.best_split(NOISY, **given)


def test_a_problem_of_several_values_is_named():
    with pytest.raises(sr.errors.ParameterError, match="fields are numbers"):
        sr.best_split(sr.EquicorrelatedProblem(label_noise=[0.1, 0.2]), 2, (0.1, 1.0))


def test_a_least_fraction_without_room_is_named():
    with pytest.raises(sr.errors.SubsetError, match="least_fraction"):
        sr.best_split(NOISY, 4, (0.1, 1.0), least_fraction=0.5)


@pytest.mark.slow
@pytest.mark.parametrize("name", SPLITS)
def test_trained_ensembles_have_the_risk_of_the_best_split(name):
    problem, k, span, ridge, noise = SPLITS[name]
    M, trials = 400, 60
    found = sr.best_split(problem, k, span, ridge=ridge, readout_noise=noise, least_fraction=0.01)
    nu = np.diagonal(found.ensemble.fractions)
    ends = np.append(0, np.round(np.cumsum(nu) * M).astype(int))
    plan = sr.SubsetPlan.from_indices([np.arange(*each) for each in pairwise(ends)], M)
    ensemble, samples = sr.Ensemble(plan, ridge, noise), sorted({int(M * ratio) for ratio in np.geomspace(*span, 3)})
    simulated = sr.simulate(
        problem, ensemble, samples, trials, n_features=M, redraw=("data", "teacher"), progress=False
    ).risk  # fmt: skip
    mean, error = simulated.mean("trial").values, simulated.std("trial", ddof=1).values / np.sqrt(trials)
    theory = sr.risk(problem, ensemble, np.array(samples) / M, n_features=M).total
    distance = np.abs(np.array(samples)[:, None] - plan.subset_sizes).min(axis=1)
    assert (np.abs(theory - mean) <= 4 * error + 1.5 * theory / np.maximum(distance, 1)).all()


def test_members_that_see_some_rows_are_refused():
    some = sr.Ensemble([0.5, 0.5], row_fractions=[0.5, 0.5])
    with pytest.raises(sr.errors.ParameterError, match="without row_fractions"):
        sr.risk_gradient(sr.EquicorrelatedProblem(), some, 0.7)
    with pytest.raises(sr.errors.ParameterError, match="without row_fractions"):
        sr.error_sources(sr.EquicorrelatedProblem(), some, [0.7])
