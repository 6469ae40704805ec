"""Every golden case: values computed with 40 digits by an implementation that is not ours."""

import json
from pathlib import Path

import numpy as np
import pytest

import subridge as sr

CASES = json.loads((Path(__file__).parents[1] / "data" / "golden.json").read_text())["cases"]
TOLERANCE = {"rtol": 1e-10, "atol": 1e-12}


def cases(*functions):
    chosen = [case for case in CASES if case["function"] in functions]
    assert chosen
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case["id"])


def numbers(value):
    """Nested lists of numbers, where 'inf' is spelled."""
    return np.vectorize(float)(np.array(value, dtype=object)).astype(float)


def toeplitz_problem(M, label_noise):
    signal, noise = sr.covariance.autoregressive(M, 0.8), sr.covariance.autoregressive(M, 0.3, 0.1)
    return sr.Problem(signal, np.sin(np.arange(M) + 1), noise, label_noise)


def assert_matches(problem, ensemble, alpha, expected):
    risk, order = sr.risk(problem, ensemble, alpha), sr.order_parameters(problem, ensemble, alpha)
    found = {"E": risk.pairs, "E_g": risk.total, "gamma": order.gamma, "q": order.q, "qhat": order.q_hat, "S": order.S}
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], numbers(value), **TOLERANCE, err_msg=name)


@cases("prop2_error")
def test_proposition_2(case):
    given = case["inputs"]
    fields = (given[name] for name in ("s", "c", "omega", "rho", "zeta"))
    ensemble = sr.Ensemble(given["nu"], given["lam_list"], given["eta_list"])
    assert_matches(sr.EquicorrelatedProblem(*fields), ensemble, float(given["alpha"]), case["expected"])


@cases("prop1_error")
def test_proposition_1(case):
    given = case["inputs"]
    M = given["M"]
    if given["A"] == "indices":
        plan = sr.SubsetPlan.from_indices(given["index_lists"], M)
    else:
        rows, columns = (np.arange(1, N + 1) for N in (max(given["N_list"]), M))
        phase = 0.37 * np.outer(rows, columns)
        plan = sr.SubsetPlan.from_matrices([np.cos(phase[:N] + r) / np.sqrt(M) for r, N in enumerate(given["N_list"])])
    ensemble = sr.Ensemble(plan, given["lam_list"], given["eta_list"])
    assert_matches(toeplitz_problem(M, given["zeta"]), ensemble, float(given["alpha"]), case["expected"])


@cases("reduced_error")
def test_reduced_error(case):
    values = (float(case["inputs"][name]) for name in ("k", "alpha", "rho", "Lambda", "H", "W", "Z"))
    expected = float(case["expected"]["value"])
    if np.isinf(expected):
        with pytest.warns(sr.errors.InfiniteRiskWarning):
            assert np.isinf(sr.reduced_risk(*values))
    else:
        np.testing.assert_allclose(sr.reduced_risk(*values), expected, **TOLERANCE)


@cases("lambda_star")
def test_member_optimal_ridge(case):
    given = case["inputs"]
    problem = sr.EquicorrelatedProblem(*(given[name] for name in ("s", "c", "omega", "rho", "zeta")))
    ensemble = sr.Ensemble([given["nu"]], readout_noise=given["eta"])
    np.testing.assert_allclose(sr.optimal_ridge(problem, ensemble), [case["expected"]["value"]], **TOLERANCE)


@cases("reduced_lambda_star")
def test_reduced_optimal_ridge(case):
    values = (case["inputs"][name] for name in ("k", "rho", "H", "W", "Z"))
    np.testing.assert_allclose(sr.reduced_optimal_ridge(*values), case["expected"]["value"], **TOLERANCE)


@cases("kstar")
def test_best_ensemble_size_and_its_error(case):
    given, expected = case["inputs"], case["expected"]
    alpha, rho, H, W, Z = (float(given[name]) for name in ("alpha", "rho", "H", "W", "Z"))
    ridge = 0 if given["mode"] == "ridgeless" else "optimal"
    diagram = sr.phase_diagram(alpha, rho, H, W, Z, ridge=ridge)
    assert diagram.optimal_n_members.item() == float(expected["k"])
    np.testing.assert_allclose(diagram.reduced_risk.item(), expected["value"], **TOLERANCE)


@cases("phase_boundary", "phase_boundary_opt_rho0")
def test_phase_boundary(case):
    given = case["inputs"]
    ridge = "optimal" if case["function"] == "phase_boundary_opt_rho0" else 0
    found = sr.phase_boundary(given.get("rho", 0.0), given["H"], given["W"], given.get("Z", 0.0), ridge=ridge)
    np.testing.assert_allclose(found, float(case["expected"]["value"]), **TOLERANCE)


@cases("large_k_coefficient")
def test_large_k_coefficient(case):
    given = case["inputs"]
    values = (given[name] for name in ("alpha", "rho", "H", "W", "Z"))
    found = sr.large_k_coefficient(*values, ridge=0 if given["mode"] == "ridgeless" else "optimal")
    np.testing.assert_allclose(found, case["expected"]["value"], **TOLERANCE)


@cases("infinite_data_error")
def test_infinite_data_error(case):
    given = case["inputs"]
    problem = sr.EquicorrelatedProblem(*(given[name] for name in ("s", "c", "omega", "rho")))
    ensemble = sr.Ensemble(given["nu_diag"], 0.1, given["eta_list"])
    np.testing.assert_allclose(sr.risk(problem, ensemble, np.inf).total, case["expected"]["value"], **TOLERANCE)


@cases("dirichlet_std")
def test_spread_after_rescaling(case):
    k, sigma = case["inputs"]["k"], case["inputs"]["sigma"]
    np.testing.assert_allclose(sr.subsets.rescaled_spread(k, k * sigma), case["expected"]["value"], **TOLERANCE)
    assert (k * sigma) ** -2 == pytest.approx(case["expected"]["dirichlet_parameter"])


@cases("ridge_explicit_data")
def test_trained_weights_and_their_exact_error(case):
    given, expected = case["inputs"], case["expected"]
    M, P, k = given["M"], given["P"], len(given["lam_list"])
    m, i = np.arange(P)[:, None], np.arange(M)[None, :]
    psi = np.sin(0.7 * (m + 1) ** 2 + 1.1 * (i + 1) ** 2 + 0.9 * (m + 1) * (i + 1))
    sigma = 0.3 * np.cos(1.7 * (m + 1) * (i + 1) + i)
    xi = np.stack([0.1 * (r + 1) * np.cos(3 * (m[:, 0] + 1) + r) for r in range(k)])
    problem = toeplitz_problem(M, 0.0)
    y = psi @ problem.teacher_weights / np.sqrt(M) + 0.2 * np.sin(5 * (m[:, 0] + 1))
    ensemble = sr.Ensemble(sr.SubsetPlan.from_indices(given["index_lists"], M), given["lam_list"], given["eta_list"])
    weights = sr.fit_members(psi + sigma, y, ensemble, noise=xi)
    for found, wanted in zip(weights, expected["w_hat"], strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9)
    risk = sr.risk_of_weights(problem, ensemble, weights)
    np.testing.assert_allclose(risk.pairs, expected["E"], rtol=1e-9)
    np.testing.assert_allclose(risk.total, expected["E_g"], rtol=1e-9)
