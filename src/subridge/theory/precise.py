"""One point of the theory in high precision: the printed formulas, with as many digits as asked."""

from typing import Any

import numpy as np

from subridge.arrays.types import ArrayLike
from subridge.model.checks import non_negative, one_number, positive_integer
from subridge.model.covariance import Covariance
from subridge.model.ensemble import Ensemble, refuse_row_fractions
from subridge.model.errors import ConvergenceError, ParameterError, RidgeError
from subridge.model.problem import EquicorrelatedProblem, Problem
from subridge.theory.grid import check_description
from subridge.theory.prop2 import printed_forms, printed_S

_MOST_DIGITS = 10_000


def precise_risk(
    problem: Problem | EquicorrelatedProblem, ensemble: Ensemble, sample_ratio: float, *, digits: int = 60
) -> float:
    """Risk of the mean of the members at one point, computed with `digits` digits and rounded once at the end.

    Inputs are exact doubles. Eigenvalues below 10^(8 - digits) times the largest count as zero. The cost grows with the
    cube of the number of features.

    Parameters
    ----------
    problem : Problem or EquicorrelatedProblem
        Without leading axes; Prop. 2 is taken at M → ∞.
    ensemble : Ensemble
        Its ridge and readout noise are one per member; its aggregation must be the mean.
    sample_ratio : float
        α, positive and finite.
    digits : int
        Decimal digits of every operation.

    Returns
    -------
    float
        ``inf`` at an interpolation threshold.

    Raises
    ------
    ParameterError
        If there is more than one point, or the aggregation is not the mean.
    RidgeError
        If a ridge is so negative that the regression has no solution.
    ConvergenceError
        If `digits` is too small to find the saddle point.

    See Also
    --------
    subridge.risk : the same in double precision, with a bound of its rounding.

    Notes
    -----
    Needs mpmath: ``pip install subridge[exact]``.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> scales = np.array([1e-9, 1.0, 1e9])
    >>> problem = sr.Problem(np.diag(scales**2), 1 / scales, label_noise=0.5)
    >>> ensemble = sr.Ensemble(sr.SubsetPlan.from_indices([range(3)], 3))
    >>> precise_risk(problem, ensemble, 2.0), float(sr.risk(problem, ensemble, 2.0).total)
    (0.25, 0.25)
    """
    check_description(problem, ensemble)
    digits = positive_integer("digits", digits, _MOST_DIGITS)
    sample_ratio = one_number("sample_ratio", non_negative("sample_ratio", sample_ratio))
    if not ensemble.aggregation.is_mean:
        raise ParameterError('precise_risk is for the mean of the members; give aggregation="mean"')
    refuse_row_fractions(ensemble, "precise_risk")
    k = ensemble.n_members
    numbers = [problem.label_noise] if isinstance(problem, Problem) else vars(problem).values()
    if any(each.ndim for each in numbers) or ensemble.ridge.ndim > 1 or ensemble.readout_noise.ndim > 1:
        raise ParameterError("precise_risk takes one point: give scalars, and one ridge and readout noise per member")
    if not sample_ratio:
        raise ParameterError("sample_ratio must be positive, got 0")
    import mpmath  # an extra

    proposition = _proposition_one if isinstance(problem, Problem) else _proposition_two
    with mpmath.workdps(digits):
        bias, gamma = proposition(
            problem, ensemble, _exact(sample_ratio), _exact(np.broadcast_to(ensemble.ridge, (k,)))
        )
        top = (
            bias + gamma * _exact(problem.label_noise) ** 2 + np.eye(k, dtype=int) * _exact(ensemble.readout_noise) ** 2
        )
        nothing = mpmath.mpf(10) ** (-digits // 2)
        at_threshold = abs(1 - gamma) < nothing
        if (at_threshold & (abs(top) > nothing)).any():
            return float("inf")
        return float(np.where(at_threshold, 0, top / np.where(at_threshold, 1, 1 - gamma)).sum() / k**2)


def _exact(x: ArrayLike) -> Any:
    """Doubles as exact numbers of high precision, in an array of objects."""
    import mpmath

    return np.vectorize(mpmath.mpf, otypes=[object])(np.asarray(x, dtype=float))[()]


def _matrix(covariance: Covariance) -> Any:
    """A covariance in high precision, of low rank if its form is."""
    parts = covariance.diagonal_plus_low_rank()
    if parts is None:
        return _exact(covariance.dense())
    variances, factor = map(_exact, parts)
    return np.diag(variances) + factor @ factor.T


def _proposition_one(problem: Any, ensemble: Ensemble, alpha: Any, lam: Any) -> tuple[Any, Any]:
    """B_rs of eq. 9 (GeneralErr) and γ_rs of eq. 8, with R_r = q̂_r G_r⁻¹ = (κ̄_r + Σ̃_rr)⁻¹ where variance > 0."""
    import mpmath

    M, k = problem.n_features, ensemble.n_members
    S = _matrix(problem.signal_covariance)
    w = _exact(problem.teacher_weights)
    total = S + _matrix(problem.noise_covariance)
    A = []
    R = []
    for r, given in enumerate(ensemble.plan.measurements):
        A.append(_exact(np.eye(M)[given] if given.ndim == 1 else given) / mpmath.sqrt(mpmath.mpf(len(given)) / M))
        d, U = (np.array(part.tolist()) for part in mpmath.eigsy(mpmath.matrix((A[r] @ total @ A[r].T).tolist())))
        kept = d[:, 0] > max(d[:, 0]) * mpmath.mpf(10) ** (8 - mpmath.mp.dps)
        d = d[kept, 0]
        U = U[:, kept]
        R.append(U / (_effective_ridge(d, M, alpha, lam[r]) + d) @ U.T)
    target = S @ w
    fitted = np.array([A[r].T @ (R[r] @ (A[r] @ target)) for r in range(k)])
    explained = fitted @ target
    bias = w @ target - (explained[:, None] + explained) + fitted @ (total @ fitted.T)
    gamma = np.empty((k, k), dtype=object)
    for r, s in np.ndindex(k, k):
        cross = A[r] @ total @ A[s].T
        gamma[r, s] = ((R[r] @ cross) * (cross @ R[s])).sum() / (alpha * M)
    return bias / M, gamma


def _effective_ridge(d: Any, M: int, alpha: Any, lam: Any) -> Any:
    """κ̄ on the physical branch of eq. 10 (saddle_point), by Newton's method from above, as λ(κ̄) is convex."""
    import mpmath

    if not len(d) or (lam == 0 and alpha * M >= len(d)):
        return 0 if len(d) else 1
    kappa = (max(lam, 0) + d.sum() / M) / alpha
    for _ in range(20 * mpmath.mp.prec):
        phi = d / (kappa + d)
        slope = alpha - (phi**2).sum() / M
        if slope <= 0 or kappa <= -min(d):
            raise RidgeError(f"ridge={float(lam):g} is too negative: the regression has no solution; raise the ridge")
        step = (kappa * (alpha - phi.sum() / M) - lam) / slope
        kappa -= step
        if abs(step) <= abs(kappa) * mpmath.mpf(10) ** (-mpmath.mp.dps * 3 // 4):
            return kappa
    raise ConvergenceError("no saddle point found in high precision; give more digits")


def _proposition_two(problem: Any, ensemble: Ensemble, alpha: Any, lam: Any) -> tuple[Any, Any]:
    """The bias and γ_rs of eq. 16 (EquiCorrGeneralizationError), as printed."""
    nu = _exact(ensemble.fractions)
    own = nu.diagonal()
    s, c, omega, rho = map(_exact, (problem.data_scale, problem.correlation, problem.feature_noise, problem.alignment))
    b = s * (1 - c)
    a = b + omega**2
    ill_posed = lam * own < -a * (np.sqrt(alpha) - np.sqrt(own)) ** 2
    if a and ill_posed.any():
        raise RidgeError(
            f"ridge={float(lam[ill_posed][0]):g} is too negative: the regression has no solution; raise the ridge"
        )
    S = printed_S(a, alpha, own, lam) if a else 0 * own  # without a bulk nothing is fitted in it
    I_0, I_1, gamma = printed_forms(b, a, alpha, (own[:, None], own, nu), (S[:, None], S))
    return (1 - rho**2) * I_0 + rho**2 * (I_1 if c > 0 else I_0), gamma
