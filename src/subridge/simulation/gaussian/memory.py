"""How many trials fit into memory at once, counted from the sizes of the arrays before anything is drawn.

``benchmarks/trust/memory.py`` holds the count against what trials really take.
"""

from typing import NamedTuple

from subridge.model.covariance import Covariance, Dense, LowRankPlusDiagonal
from subridge.model.plan import SubsetPlan
from subridge.ridge.curves.plan import CurvePlan, plan_curve
from subridge.simulation.gaussian.experiment import GaussianExperiment, WeightedExperiment
from subridge.simulation.gaussian.training import GROUPS, NoiseBasis

# Room for what is not counted: vectors, panels of LAPACK, and the interpreter's own growth.
_SLACK, _SMALL = 1.15, 2**22


class _Counts(NamedTuple):
    """Lengths of the axes of a trial's arrays."""

    P: int
    M: int
    k: int
    ridges: int
    sizes: int
    rhs: int  # right-hand sides of a member: labels, and noise when it is swept
    basis: int  # vectors whose combinations are the mean predictor at every noise
    noises: int

    @property
    def curve(self) -> int:
        return self.ridges * self.sizes

    @classmethod
    def of(cls, e: GaussianExperiment) -> "_Counts":
        n_noises, patterns = len(e.noise_table), len(NoiseBasis.of(e.noise_table).patterns)
        rhs = 2 if patterns else 1
        n_ridges, n_sizes = len(e.ridge_table), len(e.n_samples)
        return cls(e.n_samples[-1], e.n_features, e.n_members, n_ridges, n_sizes, rhs, 1 + patterns, n_noises)


def bytes_per_trial(experiment: GaussianExperiment) -> int:
    """Peak memory of one trial in bytes: while its data are drawn, a member is trained, or errors are formed."""
    e, n = experiment, _Counts.of(experiment)
    P, M, plan = n.P, n.M, experiment.plan_of(0)
    # White noise, features, and the copy that colouring passes through; noise of features has its own three.
    sampling = (3 + _is_low_rank(e) + 2 * e.has_feature_noise) * P * M
    kept = P * M + n.curve * n.basis * M  # features and the mean predictor
    keeps = e.pairs or isinstance(e, WeightedExperiment)
    members = n.curve * n.rhs * n.k * M if keeps else 0
    training = max(_training(e, plan, r, n) for r in range(n.k))
    # Errors, what a covariance makes of them in three steps, and products before they are summed; residuals beside.
    forms = 6 * n.curve * n.basis * M
    forms += 4 * n.ridges * -(-n.sizes // min(n.sizes, GROUPS)) * n.basis * P
    # All members together and stacked; their errors at one noise, and what the covariances make of them.
    pairs = n.curve * n.k * M * (n.rhs + 4 + 2 * (n.rhs > 1) + 3 * e.has_feature_noise) if keeps else 0
    pairs += 2 * n.noises * n.curve * n.k**2 if keeps else 0
    peak = max(sampling, kept + members + max(training, forms, pairs))
    return int(_SLACK * (8 if e.dtype == "float64" else 4) * peak) + _standing_bytes(e, plan, n) + _SMALL


def _training(e: GaussianExperiment, plan: SubsetPlan, r: int, n: _Counts) -> int:
    """Numbers that a member needs while it is trained and its weights join the mean."""
    N, ridges = int(plan.subset_sizes[r]), [float(lam) for lam in e.ridge_table[:, r]]
    at_once = 1 if e.device == "cpu" else n.ridges  # LAPACK takes ridges one by one, a card all together
    curves = plan_curve(e.n_samples, N, ridges, scale=e.feature_variance)
    solving = max(_solving(curve, e.n_samples, N, n.rhs, at_once) for curve in curves)
    lifting = n.curve * n.basis * (2 * N + (0 if plan.selects_features else 2 * n.M))
    return 2 * n.P * N + 2 * n.curve * n.rhs * N + max(solving, lifting)


def _solving(curve: CurvePlan, sizes: tuple[int, ...], N: int, n_rhs: int, at_once: int) -> int:
    d = curve.dual_size
    leaning = max((sizes[stop - 1] - sizes[start] for start, stop in curve.segments), default=0)
    # Gram matrix, its copy per ridge that becomes the factor, a tenth for panels; then the solutions.
    dual_side = int(1.1 * (1 + at_once) * d * d) + 3 * at_once * curve.n_dual * n_rhs * d
    primal_side = int(1.1 * (1 + at_once) * N**2) if curve.segments else 0
    primal_side += at_once * leaning * (2 * leaning + 3 * N)
    return max(dual_side, primal_side)


def _standing_bytes(e: GaussianExperiment, plan: SubsetPlan, n: _Counts) -> int:
    """What does not grow with trials: measurements, roots of covariances, and what single precision passes through."""
    problem = e.finite_problem
    total = sum(_bytes_of_root(each, e.dtype) for each in (problem.signal_covariance, problem.noise_covariance))
    if not plan.selects_features:
        largest = int(plan.subset_sizes.max()) * n.M
        drawn = not isinstance(e.ensemble.subsets, SubsetPlan)
        # Drawn ones are kept; each is scaled, checked and made unchangeable, one after the other.
        total += 8 * int(plan.subset_sizes.sum()) * n.M + 24 * largest if drawn else 0
        total += 4 * largest if e.dtype == "float32" else 0
    if e.dtype == "float32" and e.device == "cpu":
        total += 8 * n.P * n.M  # drawn in double precision
    return total


def _is_low_rank(e: GaussianExperiment) -> bool:
    return isinstance(e.finite_problem.signal_covariance, LowRankPlusDiagonal)


def _bytes_of_root(covariance: Covariance, dtype: str) -> int:
    if not isinstance(covariance, Dense):
        return 0
    return covariance.n_features**2 * (16 + (4 if dtype == "float32" else 0))


def plan_batch(experiment: GaussianExperiment, budget: int) -> int:
    """Trials to train at once within a budget in bytes."""
    # LAPACK works trial by trial: a batch would only cost memory.
    return 1 if experiment.device == "cpu" else int(min(experiment.n_trials, budget // bytes_per_trial(experiment)))
