"""Test data with another distribution than the training data: another problem, another mean, features that fail."""

from dataclasses import dataclass
from types import NoneType
from typing import NamedTuple, TypeAlias

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.checks import Fingerprinted, items_of, of_kind, refuse_large, within
from subridge.model.errors import ParameterError, counted
from subridge.model.problem import Problem


class MomentsAtTest(NamedTuple):
    """Moments of features x and noise-free labels y at test; labels are w·ψ, without the factor 1/√M."""

    second: FloatArray  # E[x xᵀ], shape (M, M)
    cross: FloatArray  # E[x y], shape (M,)
    power: float  # E[y²]


@dataclass(frozen=True, eq=False, repr=False)
class DeadFeatures(Fingerprinted):
    """Features that fail at test time: each reads zero with some probability, for all members alike.

    Members are trained on complete data. With f the probability, and failures that are independent of all else,
    ``E[x xᵀ] = (1-f)² Σ + f(1-f) diag Σ`` and ``E[x y] = (1-f) Σ_s w*``; labels are as in training.

    Parameters
    ----------
    probability : array_like, shape () or (M,)
        Probability f of a failure, for all features or for each.
    groups : array_like, shape (M,), optional
        Labels of features that fail together, such as the channels of one sensor. None: features fail independently.

    Raises
    ------
    ParameterError
        If a probability does not lie in [0, 1].
    DataError
        If one is NaN.

    See Also
    --------
    subridge.risk : takes it as ``test=``.
    subridge.MeanShift : test data with another mean.

    Examples
    --------
    One ridge on 40 features, of which none or a tenth fail:

    >>> import numpy as np, subridge as sr
    >>> problem = sr.Problem(sr.covariance.isotropic(40), np.ones(40), label_noise=0.1)
    >>> ensemble = sr.Ensemble(sr.subsets.equal(1, 40, seed=0), ridge=0.1)
    >>> risks = [sr.risk(problem, ensemble, 2.0, test=sr.DeadFeatures(f)).total for f in (0.0, 0.1)]
    >>> np.round(risks, 3)
    array([0.019, 0.118])
    """

    probability: FloatArray
    groups: tuple[object, ...] | None

    def __init__(self, probability: ArrayLike, groups: ArrayLike | None = None) -> None:
        f = within("probability", probability, 0.0, 1.0)
        if f.ndim > 1:
            raise ParameterError(f"probability must be one number or one per feature, got shape {f.shape}")
        named = [] if groups is None else items_of("groups", groups)  # type: ignore[arg-type]
        if not all(isinstance(each, str | int | float | np.generic) for each in named):
            raise ParameterError(f"groups must be one number or text per feature, got {groups!r}")
        self._set(probability=f, groups=None if groups is None else tuple(np.asarray(named).tolist()))


@dataclass(frozen=True, eq=False, repr=False)
class MeanShift(Fingerprinted):
    """Test data whose features have another mean; the training data have mean zero, and members no intercept.

    Parameters
    ----------
    mean : array_like, shape (M,)
        The mean μ. It is added to the signal ψ, and so to features and labels: ``E[x xᵀ]`` and Σ_s gain μμᵀ.
    problem : Problem, optional
        The distribution of the test data apart from their mean; None is that of the training data.

    Raises
    ------
    ParameterError
        If `problem` is not a `Problem`.
    DataError
        If the mean is NaN or infinite, or beyond 1e100.

    See Also
    --------
    subridge.risk : takes it as ``test=``.
    subridge.DeadFeatures : features that fail.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> problem = sr.Problem(sr.covariance.isotropic(40), np.ones(40))
    >>> ensemble = sr.Ensemble(sr.subsets.equal(1, 40, seed=0), ridge=1.0)
    >>> moved = sr.risk(problem, ensemble, 2.0, test=sr.MeanShift(np.ones(40))).total
    >>> bool(moved > sr.risk(problem, ensemble, 2.0).total)
    True
    """

    mean: FloatArray
    problem: Problem | None

    def __init__(self, mean: ArrayLike, problem: Problem | None = None) -> None:
        of_kind("problem", problem, Problem, NoneType)
        self._set(mean=within("mean", mean, -1e100, 1e100), problem=problem)


TestLaw: TypeAlias = Problem | DeadFeatures | MeanShift


def moments_at_test(problem: Problem, test: TestLaw) -> MomentsAtTest:
    """Moments of the test data that the argument ``test`` of `risk` describes, beside the problem of training."""
    law = test if isinstance(test, Problem) else getattr(test, "problem", None) or problem
    if not isinstance(test, TestLaw) or not isinstance(law, Problem):
        raise ParameterError(
            f"test must be a Problem, sr.DeadFeatures or sr.MeanShift, got {test!r}; "
            "an EquicorrelatedProblem becomes a Problem by realise(n_features)"
        )
    M = problem.n_features
    w = law.teacher_weights
    if law.n_features != M:
        raise ParameterError(f"test has {counted(law.n_features, 'feature')}, but the problem has {M}")
    second = law.signal_covariance.dense() + law.noise_covariance.dense()
    cross = law.signal_covariance.apply(w)
    power = float(w @ cross)
    if isinstance(test, MeanShift):
        if test.mean.shape != (M,):
            raise ParameterError(f"mean must have shape ({M},) like the problem, got {test.mean.shape}")
        label = float(test.mean @ w)
        refuse_large("mean", abs(label))  # whose square is the power
        second = second + np.outer(test.mean, test.mean)
        cross = cross + label * test.mean
        power += label**2
    if isinstance(test, DeadFeatures):
        alive, both = _alive(test, M)
        second = second * both
        cross = alive * cross
    return MomentsAtTest(second, cross, power)


def _alive(test: DeadFeatures, M: int) -> tuple[FloatArray, FloatArray]:
    """The chance that a feature does not fail, shape (M,), and that neither of two does, shape (M, M)."""
    groups = range(M) if test.groups is None else test.groups
    if test.probability.size not in (1, M) or len(groups) != M:
        raise ParameterError(
            f"DeadFeatures must have one probability, or one per feature ({M}), and one group per feature; got "
            f"{test.probability.size} and {len(groups)}"
        )
    alive = np.broadcast_to(1 - test.probability, (M,))
    number = np.unique(np.array(groups), return_inverse=True)[1]
    together = number[:, None] == number
    if (together & (alive[:, None] != alive)).any():
        raise ParameterError("features of one group fail together; give them the same probability")
    return alive, np.where(together, alive, np.outer(alive, alive))
