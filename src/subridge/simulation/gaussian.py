"""What `simulate` computes: problem, ensemble, grid and seed, checked once. Equal experiments give equal results."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from subridge.arrays.types import FloatArray, IntArray, Seed
from subridge.model.checks import Fingerprinted, fingerprint, of_kind, one_of, positive_integer, stream
from subridge.model.covariance import MOST_FEATURES
from subridge.model.ensemble import Ensemble, SubsetPlan
from subridge.model.errors import ParameterError, RidgeError, SubsetError, counted, require
from subridge.model.problem import EquicorrelatedProblem, Problem
from subridge.model.subsets import Strategy

# Purposes of random streams, the first coordinate of each. The second is the trial, if this kind is redrawn, and the
# third is the training set.
SIGNAL, FEATURE_NOISE, LABEL_NOISE, READOUT_NOISE, TEACHER, SUBSETS, ROWS = range(7)
_REDRAWABLE = ("data", "teacher", "subsets")


@dataclass(frozen=True, eq=False)
class GaussianExperiment(Fingerprinted):
    """The description of an experiment; `simulate` explains its fields. Samples depend on the device."""

    problem: Problem | EquicorrelatedProblem
    ensemble: Ensemble
    n_samples: tuple[int, ...]
    n_trials: int
    n_features: int
    ridges: FloatArray | None = None
    redraw: tuple[str, ...] = ("data",)
    nested: bool = True
    seed: Seed = 0
    device: str = "cpu"
    dtype: str = "float64"
    pairs: bool = False
    weights_from: str = "theory"  # for members that are weighted: "theory", or "left_out" errors of each trial

    def __post_init__(self) -> None:
        one_of("dtype", self.dtype, ("float64", "float32"))
        one_of("weights_from", self.weights_from, ("theory", "left_out"))
        for word in self.redraw:
            one_of("redraw", word, _REDRAWABLE)
        require(
            self.ensemble.aggregation.is_linear,
            f"simulate has the risk of weighted sums only, got aggregation={self.ensemble.aggregation.name!r}; "
            'use "mean", "scaled", "simplex" or "free"',
            ParameterError,
        )
        redrawn = [word for word in ("teacher", "subsets") if word in self.redraw]
        if self.is_weighted and self.weights_from == "theory" and redrawn:
            raise ParameterError(
                f'weights_from="theory" needs one problem and one plan, but redraw has {redrawn[0]!r}; '
                'use weights_from="left_out", or redraw="data"'
            )
        if "subsets" in redrawn and not isinstance(self.ensemble.subsets, Strategy):
            raise SubsetError(
                'redraw has "subsets" but the ensemble holds fixed ones; build it from a strategy, for example '
                "sr.Ensemble(sr.subsets.Equal(n_members), ...)"
            )
        if isinstance(self.problem, Problem) and self.problem.label_noise.size != 1:
            raise ParameterError(
                f"label_noise must be a scalar to simulate, got shape {self.problem.label_noise.shape}"
            )
        f = self.ensemble.row_fractions
        if f is not None and (abs(np.triu(f - np.outer(f.diagonal(), f.diagonal()), 1)) > 1e-9).any():
            raise ParameterError(
                "simulate draws the rows of each member independently, so their overlaps are products of fractions; "
                f"give the {len(f)} fractions as row_fractions, without overlaps"
            )
        require(
            self.ridge_table.min() >= 0,
            f"ridge must be at least 0 to train, got {self.ridge_table.min():g}",
            RidgeError,
        )
        require(
            self.ensemble.readout_noise.ndim < 3,
            "readout_noise may have one leading axis to sweep it, got more",
            ParameterError,
        )
        M = self.plan_of(0).n_features
        require(
            self.n_features == M,
            f"the subsets are of {counted(M, 'feature')} but the problem has {self.n_features}",
            SubsetError,
        )

    def fingerprint(self) -> str:
        """Digest of all that the results depend on. All GPUs draw the same samples, so their number does not count."""
        return fingerprint(replace(self, device=self.device.partition(":")[0]))

    @property
    def is_weighted(self) -> bool:
        """Whether members have weights of their own; otherwise their mean is taken."""
        return not self.ensemble.aggregation.is_mean

    @cached_property
    def finite_problem(self) -> Problem:
        """The problem with M features; a teacher that must be drawn comes from the fixed stream."""
        problem = self.problem
        return problem if isinstance(problem, Problem) else problem.realise(self.n_features, stream(self.seed, TEACHER))

    @cached_property
    def ridge_table(self) -> FloatArray:
        """λ of every sweep value and member, shape (n_ridges, k)."""
        require(
            self.ridges is not None or self.ensemble.ridge.ndim < 2,
            "ensemble.ridge has leading axes; give the sweep as ridges= instead",
            ParameterError,
        )
        table = np.atleast_2d(self.ensemble.ridge) if self.ridges is None else np.atleast_2d(self.ridges.T).T
        k = self.ensemble.n_members
        require(
            table.ndim == 2 and table.size > 0 and table.shape[1] in (1, k),
            f"ridges must have shape (n,) or (n, {k}), got {table.shape}",
            ParameterError,
        )
        return table.repeat(k // table.shape[1], axis=1)

    @cached_property
    def noise_table(self) -> FloatArray:
        """η of every sweep value and member, shape (n_noises, k)."""
        table = np.atleast_2d(self.ensemble.readout_noise)
        return table.repeat(self.ensemble.n_members // table.shape[1], axis=1)

    @cached_property
    def feature_scale(self) -> float:
        """Mean variance of a feature, the unit in which a ridge counts as small."""
        return float(
            self.finite_problem.signal_covariance.variances_of_features().mean()
            + self.finite_problem.noise_covariance.variances_of_features().mean()
        )

    @cached_property
    def has_feature_noise(self) -> bool:
        return bool(self.finite_problem.noise_covariance.variances_of_features().any())

    def teacher_of(self, trial: int) -> FloatArray:
        """w* of a trial, shape (M,): the problem's own, or redrawn (standard normal for a plain `Problem`)."""
        if "teacher" not in self.redraw:
            return self.finite_problem.teacher_weights
        rng = stream(self.seed, TEACHER, trial)
        if isinstance(self.problem, EquicorrelatedProblem):
            return self.problem.realise(self.n_features, rng).teacher_weights
        return rng.standard_normal(self.n_features)

    def row_sets_of(self, trial: int, n_rows: int) -> list[IntArray] | None:
        """The rows that each member sees of the first P = `n_rows` of a trial; None if all do."""
        if self.ensemble.row_fractions is None:
            return None
        own = trial if "data" in self.redraw else 0
        return [
            np.sort(stream(self.seed, ROWS, own, n_rows, r).permutation(n_rows)[: max(1, round(f * n_rows))])
            for r, f in enumerate(self.ensemble.row_fractions.diagonal())
        ]

    def plan_of(self, trial: int) -> SubsetPlan:
        """The subsets of a trial."""
        if not isinstance(self.ensemble.subsets, Strategy):
            return self.ensemble.plan
        where = (SUBSETS, trial) if "subsets" in self.redraw else (SUBSETS,)
        return self.ensemble.subsets.draw(self.n_features, stream(self.seed, *where))


def feature_count(problem: Problem | EquicorrelatedProblem, ensemble: Ensemble, n_features: int | None) -> int:
    """M, from the problem, the argument or the subsets."""
    of_kind("ensemble", ensemble, Ensemble)
    of_kind("problem", problem, Problem, EquicorrelatedProblem)
    if isinstance(problem, Problem):
        if n_features not in (None, problem.n_features):
            raise ParameterError(f"n_features={n_features} contradicts the problem, which has {problem.n_features}")
        return problem.n_features
    if n_features is not None:
        return positive_integer("n_features", n_features, MOST_FEATURES)
    if isinstance(ensemble.subsets, SubsetPlan):
        return ensemble.subsets.n_features
    raise ParameterError("an EquicorrelatedProblem has no size of its own; give n_features=")
