"""Floating-point operations an experiment needs, counted from its plans."""

from subridge.ridge.curves import plan_curve
from subridge.simulation.gaussian.experiment import GaussianExperiment


def operations_per_trial(experiment: GaussianExperiment) -> dict[str, float]:
    """Operations by kind; symmetric products and factors count their lower half."""
    M, L = experiment.n_features, len(experiment.ridge_table)
    counts = {"gram": 0.0, "factor": 0.0, "whiten": 0.0, "solve": 0.0}
    for r, N in enumerate(int(N) for N in experiment.plan_of(0).subset_sizes):
        ridges = [float(lam) for lam in experiment.ridge_table[:, r]]
        for plan in plan_curve(experiment.n_samples, N, ridges, scale=experiment.feature_variance):
            d, l, sizes = plan.dual_size, len(plan.ridges), plan.n_samples
            counts["gram"] += d * d * N + (sizes[plan.segments[-1][0]] * N * N if plan.segments else 0)
            counts["factor"] += l * (d**3 + len(plan.segments) * N**3) / 3
            counts["solve"] += l * (d * d + sum(p * p + 2 * d * N for p in sizes[: plan.n_dual]))
            for start, stop in plan.segments:
                m = sizes[stop - 1] - sizes[start]
                counts["gram"] += l * m * m * N
                counts["factor"] += l * m**3 / 3
                counts["whiten"] += l * N * N * m
                counts["solve"] += l * (2 * N * N + sum((p - sizes[start]) ** 2 for p in sizes[start + 1 : stop]))
                counts["solve"] += l * (stop - start - 1) * (2 * m * N + N * N)
    counts["training error"] = 2.0 * M * L * sum(experiment.n_samples)
    return counts
