"""How many trials fit into memory at once, counted from the sizes of the arrays before anything is drawn."""

from subridge.ridge.curves.plan import plan_curve
from subridge.simulation.gaussian.experiment import GaussianExperiment


def bytes_per_trial(experiment: GaussianExperiment) -> int:
    """Peak memory of one trial in bytes, while its data are drawn or its most demanding member is trained.

    Counted are the arrays that grow with P·M, P², N² and the weights; the rest is small beside them.
    """
    P, M, k = experiment.n_samples[-1], experiment.n_features, experiment.n_members
    n_ridges, n_sizes = len(experiment.ridge_table), len(experiment.n_samples)
    n_rhs = 2 if len(experiment.noise_table) > 1 else 1
    on_cpu = experiment.device == "cpu"
    at_once = 1 if on_cpu else n_ridges  # LAPACK takes ridges one by one, a card all together
    sampling = 6 * P * M  # white noise, features, and the copies that colouring passes through
    weights = n_ridges * n_sizes * n_rhs * M * (4 + (2 * k if experiment.pairs else 0))
    training = 0
    for r, N in enumerate(experiment.plan_of(0).subset_sizes):
        ridges = [float(lam) for lam in experiment.ridge_table[:, r]]
        for plan in plan_curve(experiment.n_samples, int(N), ridges, scale=experiment.feature_variance):
            d, sizes = plan.dual_size, experiment.n_samples
            leaning = max((sizes[stop - 1] - sizes[start] for start, stop in plan.segments), default=0)
            # Gram matrix, its copy per ridge that becomes the factor, a tenth for panels; then the solutions.
            dual_side = int(1.1 * (1 + at_once) * d * d) + 3 * at_once * plan.n_dual * n_rhs * d
            primal_side = int(1.1 * (1 + at_once) * int(N) ** 2) if plan.segments else 0
            primal_side += at_once * leaning * (2 * leaning + 3 * int(N))
            training = max(training, 2 * P * int(N) + max(dual_side, primal_side))
    return (8 if experiment.dtype == "float64" else 4) * max(sampling, P * M + weights + training)


def plan_batch(experiment: GaussianExperiment, budget: int) -> int:
    """Trials to train at once within a budget in bytes."""
    # LAPACK works trial by trial: a batch would only cost memory.
    return 1 if experiment.device == "cpu" else int(min(experiment.n_trials, budget // bytes_per_trial(experiment)))
