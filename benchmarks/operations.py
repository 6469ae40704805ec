"""Floating-point operations an experiment needs, counted from its plans."""

from subridge.ridge.curve_plan import plan_curve
from subridge.simulation.experiment import Experiment


def operations_per_trial(experiment: Experiment) -> dict[str, float]:
    """Operations by kind; symmetric products and factors count their lower half."""
    P, M, n = experiment.n_samples[-1], experiment.n_features, len(experiment.n_samples)
    L = len(experiment.ridge_table)
    counts = {"gram": 0.0, "factor": 0.0, "solve": 0.0}
    for r, N in enumerate(int(N) for N in experiment.plan_of(0).subset_sizes):
        ridges = [float(lam) for lam in experiment.ridge_table[:, r]]
        for plan in plan_curve(experiment.n_samples, N, ridges, scale=experiment.feature_variance):
            d, tail, l = plan.dual_size, n - plan.n_dual, len(plan.ridges)
            counts["gram"] += d * d * N + (P * N * N if tail else 0)
            counts["factor"] += l * (d**3 + tail * N**3) / 3
            counts["solve"] += l * (d * d + sum(p * p + 2 * d * N for p in plan.n_samples[: plan.n_dual]))
            counts["solve"] += l * tail * 2 * N * N
    counts["training error"] = 2.0 * M * L * sum(experiment.n_samples)
    return counts
