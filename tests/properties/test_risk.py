"""What must hold for every problem and ensemble."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import subridge as sr

unit = st.floats(0.0, 1.0)
noise = st.floats(0.0, 2.0)
ridges = st.one_of(st.just(0.0), st.floats(1e-6, 10.0))
ratios = st.floats(0.02, 3.0)
seeds = st.integers(0, 2**32 - 1)
profile = settings(max_examples=40, deadline=None)


@st.composite
def equicorrelated(draw):
    return sr.EquicorrelatedProblem(draw(st.floats(0.1, 4.0)), draw(unit), draw(noise), draw(unit), draw(noise))


@st.composite
def ensembles(draw, max_members=4):
    """Random subsets of 60 features, possibly overlapping, with their own ridges and noises."""
    k = draw(st.integers(1, max_members))
    sizes = draw(st.lists(st.integers(1, 60), min_size=k, max_size=k))
    plan = sr.subsets.overlapping(sizes, 60, draw(seeds))
    ridge = draw(st.lists(ridges, min_size=k, max_size=k))
    return sr.Ensemble(plan, ridge, draw(st.lists(noise, min_size=k, max_size=k)))


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(seeds))
    root = rng.standard_normal((60, draw(st.integers(60, 90))))
    return sr.Problem(root @ root.T / 60, rng.standard_normal(60), np.diag(rng.uniform(0, 0.5, 60)), draw(noise))


def away_from_thresholds(ensemble, alpha):
    assume(np.min(np.abs(np.diagonal(ensemble.fractions) - alpha)) > 1e-6)


@profile
@given(equicorrelated(), ensembles(), ratios)
def test_pairs_are_symmetric_and_their_mean_is_the_total(problem, ensemble, alpha):
    away_from_thresholds(ensemble, alpha)
    risk = sr.risk(problem, ensemble, alpha)
    np.testing.assert_allclose(risk.pairs, risk.pairs.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(risk.total, risk.pairs.mean(), rtol=1e-12)
    assert risk.total >= -1e-12


@profile
@given(problems(), ensembles(), ratios, seeds)
def test_order_of_members_and_of_features_does_not_matter(problem, ensemble, alpha, seed):
    away_from_thresholds(ensemble, alpha)
    rng = np.random.default_rng(seed)
    members, features = rng.permutation(ensemble.n_members), rng.permutation(60)
    place = np.argsort(features)  # old feature i is new feature place[i]
    plan = ensemble.plan
    shuffled_plan = sr.SubsetPlan.from_indices([rng.permutation(place[plan.measurements[r]]) for r in members], 60)
    shuffled_problem = sr.Problem(
        problem.signal_covariance.dense()[np.ix_(features, features)],
        problem.teacher_weights[features],
        problem.noise_covariance.dense()[np.ix_(features, features)],
        problem.label_noise,
    )
    shuffled = sr.Ensemble(shuffled_plan, ensemble.ridge[members], ensemble.readout_noise[members])
    before, after = sr.risk(problem, ensemble, alpha), sr.risk(shuffled_problem, shuffled, alpha)
    np.testing.assert_allclose(after.pairs, before.pairs[np.ix_(members, members)], rtol=1e-6, atol=1e-9)


@profile
@given(equicorrelated(), ensembles(), ratios, st.floats(1.01, 3.0))
def test_every_noise_raises_the_error(problem, ensemble, alpha, factor):
    away_from_thresholds(ensemble, alpha)
    base = sr.risk(problem, ensemble, alpha).total
    fields = {name: getattr(problem, name) for name in problem.__dataclass_fields__}
    for name in ("feature_noise", "label_noise"):
        noisier = sr.EquicorrelatedProblem(**{**fields, name: factor * (fields[name] + 0.01)})
        assert sr.risk(noisier, ensemble, alpha).total >= base * (1 - 1e-9)
    louder = sr.Ensemble(ensemble.subsets, ensemble.ridge, factor * (ensemble.readout_noise + 0.01))
    # E_g gains at least the added variance of the mean output; near a threshold it is a small part of a large number.
    added = np.sum(louder.readout_noise**2 - ensemble.readout_noise**2) / ensemble.n_members**2
    assert sr.risk(problem, louder, alpha).total - base >= added * (1 - 1e-9) - 1e-9 * base


@profile
@given(problems(), ensembles(), ratios, st.floats(0.01, 100.0))
def test_error_scales_with_the_data(problem, ensemble, alpha, scale):
    """E(sΣ, sλ, √s ζ, √s η) = s E(Σ, λ, ζ, η)."""
    away_from_thresholds(ensemble, alpha)
    scaled_problem = sr.Problem(
        problem.signal_covariance.scaled(scale),
        problem.teacher_weights,
        problem.noise_covariance.scaled(scale),
        np.sqrt(scale) * problem.label_noise,
    )
    scaled = sr.Ensemble(ensemble.subsets, scale * ensemble.ridge, np.sqrt(scale) * ensemble.readout_noise)
    np.testing.assert_allclose(
        sr.risk(scaled_problem, scaled, alpha).pairs, scale * sr.risk(problem, ensemble, alpha).pairs, rtol=1e-6
    )


@profile
@given(ratios, noise, ridges)
def test_one_member_on_all_features_is_a_single_ridge(alpha, zeta, ridge):
    """Isotropic ridge regression in its textbook form: m(-λ) of Marchenko and Pastur."""
    assume(abs(alpha - 1) > 1e-3)
    problem = sr.EquicorrelatedProblem(label_noise=zeta)
    found = sr.risk(problem, sr.Ensemble([1.0], ridge), alpha).total
    if ridge == 0:
        expected = zeta**2 / (alpha - 1) if alpha > 1 else 1 - alpha + zeta**2 * alpha / (1 - alpha)
    else:
        # Effective ridge κ solves κ = λ + κ/(κ + α); then E = (κ²/(κ+α)² + γζ²)/(1-γ), γ = α/(κ+α)².
        b = 1 - alpha + ridge
        kappa = (b + np.sqrt(b**2 + 4 * alpha * ridge)) / 2
        gamma = alpha / (kappa + alpha) ** 2
        expected = (kappa**2 / (kappa + alpha) ** 2 + gamma * zeta**2) / (1 - gamma)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@profile
@given(problems(), ensembles(max_members=1), ratios, st.integers(2, 4))
def test_copies_of_one_member_are_that_member_with_averaged_readout_noise(problem, ensemble, alpha, copies):
    """Copies share their data but not their noise: off the diagonal E lacks the noise term."""
    away_from_thresholds(ensemble, alpha)
    plan = sr.SubsetPlan.from_indices([ensemble.plan.measurements[0]] * copies, 60)
    many = sr.risk(problem, sr.Ensemble(plan, ensemble.ridge, ensemble.readout_noise), alpha).total
    alone = sr.risk(problem, ensemble, alpha).total
    silent = sr.risk(problem, sr.Ensemble(ensemble.plan, ensemble.ridge, 0.0), alpha).total
    np.testing.assert_allclose(many, silent + (alone - silent) / copies, rtol=1e-6, atol=1e-9)


@profile
@given(problems(), ensembles(), ratios)
def test_order_parameters_solve_the_saddle_point(problem, ensemble, alpha):
    order = sr.order_parameters(problem, ensemble, alpha)
    assert order.status.all()
    assert (order.residual < 1e-9).all()
    assert (np.diagonal(order.gamma) < 1 + 1e-9).all()
