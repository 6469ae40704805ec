"""The split of the features whose worst risk over a range of sample ratios is least (Prop. 2).

    minimise t    such that    E(ν, α) ≤ t for all α in the range,    Σ_r ν_r = 1,    ν_r ≥ ν_min

is smooth in ν and t, with the exact derivatives of `gradient`. A risk peaks at the thresholds α = ν_r of its members,
so these are among the sample ratios, beside a fixed grid. Sequential quadratic programming (Kraft 1988, SciPy's SLSQP)
finds a local optimum. There are many: the search starts from equal members and from the best of random splits.
"""

from dataclasses import dataclass

import numpy as np
import scipy.optimize

from subridge.arrays.types import ArrayLike, FloatArray, Seed
from subridge.model.checks import extended_non_negative, non_negative, one_number, positive_integer, stream
from subridge.model.ensemble import Ensemble
from subridge.model.errors import ParameterError, SubsetError
from subridge.model.problem import EquicorrelatedProblem
from subridge.model.subsets import Dirichlet
from subridge.theory.gradient import risk_gradient
from subridge.theory.predict import risk

_POINTS, _FINE = 40, 400  # sample ratios, beside thresholds, of the search and of the final worst risk
_SPREADS, _DRAWS, _STARTS = (0.5, 1.0, 1.5, 2.0), 50, 8  # random splits, and the best of them, from which to search


@dataclass(frozen=True, eq=False)
class Split:
    """A split of the features, judged by its worst risk over a range of sample ratios.

    Attributes
    ----------
    ensemble : Ensemble
        Disjoint members with the subset fractions of the split, largest first.
    worst_risk : float
        The largest risk over the range.
    worst_sample_ratio : float
        Where it is.

    See Also
    --------
    subridge.best_split : finds one.

    Examples
    --------
    >>> import subridge as sr
    >>> found = sr.best_split(sr.EquicorrelatedProblem(label_noise=0.3), 2, (0.2, 1.0), ridge=0.01)
    >>> isinstance(found, Split), found.ensemble.fractions.diagonal().round(2), found.worst_sample_ratio
    (True, array([1., 0.]), 0.2)
    """

    ensemble: Ensemble
    worst_risk: float
    worst_sample_ratio: float


def best_split(
    problem: EquicorrelatedProblem,
    n_members: int,
    sample_ratio: tuple[float, float],
    *,
    ridge: ArrayLike = 1e-3,
    readout_noise: ArrayLike = 0.0,
    least_fraction: float = 1e-3,
    seed: Seed = 0,
) -> Split:
    """Find disjoint subset fractions whose worst risk over a range of sample ratios is least (Prop. 2).

    Parameters
    ----------
    problem : EquicorrelatedProblem
        The distribution of the data; its fields must be numbers.
    n_members : int
        k.
    sample_ratio : tuple of two floats
        The lowest and the highest α = P/M, positive and finite.
    ridge, readout_noise : float
        λ > 0 and η of every member. A ridgeless member has an infinite risk at its threshold, which no split avoids
        unless it keeps all members out of the range.
    least_fraction : float
        Lower bound of a fraction, at most 1/k.
    seed : int
        Of the random splits among the starts.

    Returns
    -------
    Split
        The best that was found; never worse than equal members.

    Raises
    ------
    ParameterError
        If a parameter lies outside its range, or a field of the problem is an array of several values.
    SubsetError
        If `least_fraction` leaves no room for the members.

    See Also
    --------
    subridge.risk_gradient : the derivatives it uses.
    subridge.subsets.dirichlet : random splits, as in the paper.

    Examples
    --------
    >>> import subridge as sr
    >>> problem = sr.EquicorrelatedProblem(correlation=0.5, label_noise=0.3)
    >>> found = sr.best_split(problem, 3, (0.1, 1.0))
    >>> equal = sr.risk(problem, sr.Ensemble([1 / 3] * 3, ridge=1e-3), 1 / 3).total
    >>> bool(found.worst_risk < equal / 2)
    True
    """
    k = positive_integer("n_members", n_members, 100)
    lam = one_number("ridge", non_negative("ridge", ridge))
    eta = one_number("readout_noise", non_negative("readout_noise", readout_noise))
    ends = extended_non_negative("sample_ratio", sample_ratio)
    if ends.shape != (2,) or not 0 < ends[0] < ends[1] < np.inf:
        raise ParameterError(f"sample_ratio must be two positive ascending numbers, got {sample_ratio!r}")
    if lam == 0:
        raise ParameterError(
            "ridge must be positive, as the risk is infinite at a ridgeless member's threshold; try 1e-6"
        )
    least = one_number("least_fraction", non_negative("least_fraction", least_fraction))
    if not 0 < least <= 1 / k:
        raise SubsetError(f"least_fraction must lie in (0, 1/{k}] for {k} members, got {least:g}")
    if not isinstance(problem, EquicorrelatedProblem) or risk(problem, Ensemble([1.0]), np.inf).total.shape:
        raise ParameterError("problem must be an EquicorrelatedProblem whose fields are numbers")
    span = float(ends[0]), float(ends[1])

    def ensemble(nu: FloatArray) -> Ensemble:
        return Ensemble(nu.clip(least, 1.0) / max(1.0, nu.sum()), lam, eta)

    def judged(nu: FloatArray) -> Split:
        """The worst risk over the range, the thresholds α = ν_r included."""
        members = ensemble(np.sort(nu)[::-1])
        fine = np.append(np.geomspace(*span, _FINE), np.diagonal(members.fractions).clip(*span))
        total = risk(problem, members, fine).total
        worst = total.argmax()
        return Split(members, float(total[worst]), float(fine[worst]))

    def solve(start: FloatArray) -> FloatArray:
        """A local optimum on a grid of sample ratios and at the members' thresholds, which move with the fractions.

        The last variable is t, in units of the worst risk at the start.
        """

        def at(nu: FloatArray) -> tuple[EquicorrelatedProblem, Ensemble, FloatArray]:
            return problem, ensemble(nu), np.concatenate([grid, nu.clip(*span)])

        def slack(x: FloatArray) -> FloatArray:
            return np.asarray(x[-1] - risk(*at(x[:-1])).total / unit)

        def slopes(x: FloatArray) -> FloatArray:
            nu = x[:-1]
            found = risk_gradient(*at(nu))
            rates = np.linalg.diagonal(found.fractions).copy()
            rates[_POINTS:] += np.diag(found.sample_ratio[_POINTS:] * ((nu > span[0]) & (nu < span[1])))
            return np.hstack([-rates / unit, np.ones((_POINTS + k, 1))])

        unit = judged(start).worst_risk
        found = scipy.optimize.minimize(
            lambda x: x[-1],
            np.append(start, 1.0),
            jac=lambda x: np.append(np.zeros(k), 1.0),
            method="SLSQP",
            bounds=[(least, 1.0)] * k + [(0.0, None)],
            constraints=[
                scipy.optimize.LinearConstraint(np.append(np.ones(k), 0.0), 1, 1),
                {"type": "ineq", "fun": slack, "jac": slopes},
            ],
            options={"maxiter": 300, "ftol": 1e-9},
        )
        return np.asarray(found.x[:-1])

    grid = np.geomspace(*span, _POINTS)
    rng = stream(seed)
    spread = (1 - k * least) * np.concatenate([Dirichlet(k, s).fractions(rng, _DRAWS) for s in _SPREADS])
    drawn = sorted((judged(nu + least) for nu in spread), key=lambda split: split.worst_risk)
    starts = [judged(np.full(k, 1 / k)), *drawn[:_STARTS]]
    found = [judged(solve(split.ensemble.fractions.diagonal())) for split in starts]
    return min([*starts, *found], key=lambda split: split.worst_risk)
