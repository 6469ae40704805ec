"""The paper's experiments that benchmarks run, at full size or shrunk."""

from itertools import pairwise

import numpy as np

import subridge as sr
from subridge.simulation.gaussian import GaussianExperiment

RIDGES = (1e-6, 1e-3, 1.0)


def fig1a(n_trials: int, device: str = "cpu", shrink: int = 1, **options) -> GaussianExperiment:
    """M=2000, AR(1) data and noise, members of 400, 800 and 1200 overlapping features, 20 sizes, 3 ridges."""
    M = 2000 // shrink
    teacher = np.random.default_rng(0).standard_normal(M)
    problem = sr.Problem(
        sr.covariance.autoregressive(M, 0.8), teacher, sr.covariance.autoregressive(M, 0.3, 0.1), label_noise=0.1
    )
    plan = sr.subsets.overlapping([M // 5, 2 * M // 5, 3 * M // 5], M, seed=0)
    settings = {"n_samples": np.linspace(M // 20, M, 20).astype(int), "ridges": RIDGES} | options
    return experiment(problem, sr.Ensemble(plan, readout_noise=0.2), n_trials, device, ("data",), **settings)


def fig1b(n_trials: int, device: str = "cpu", shrink: int = 1, **options) -> GaussianExperiment:
    """M=5000, equicorrelated data, disjoint members of 500, 1500 and 2500 features, new teacher in every trial."""
    M = 5000 // shrink
    problem = sr.EquicorrelatedProblem(correlation=0.4, feature_noise=np.sqrt(0.1), alignment=0.3, label_noise=0.1)
    order = np.random.default_rng(0).permutation(M)
    cuts = np.cumsum([0, M // 10, 3 * M // 10, M // 2])
    plan = sr.SubsetPlan.from_indices([np.sort(order[a:b]) for a, b in pairwise(cuts)], M)
    settings = {"n_samples": np.linspace(M // 20, M, 20).astype(int), "ridges": RIDGES} | options
    return experiment(problem, sr.Ensemble(plan, readout_noise=0.1), n_trials, device, ("data", "teacher"), **settings)


def experiment(problem, ensemble, n_trials, device, redraw, *, n_samples, ridges, **options) -> GaussianExperiment:
    sizes, M = tuple(int(P) for P in n_samples), ensemble.plan.n_features
    settings = {"redraw": redraw, "device": device} | options
    return GaussianExperiment(problem, ensemble, sizes, n_trials, M, np.array(ridges), **settings)
