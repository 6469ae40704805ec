"""One point of the theory in high precision: the printed formulas, with as many digits as asked."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from subridge.model.ensemble import Ensemble
from subridge.model.errors import ConvergenceError, ParameterError, RidgeError
from subridge.model.problem import EquicorrelatedProblem, Problem

if TYPE_CHECKING:
    import mpmath as mp

Pair: TypeAlias = Callable[[int, int], "tuple[mp.mpf, mp.mpf]"]  # the bias and γ of two members, by number


def precise_risk(
    problem: Problem | EquicorrelatedProblem, ensemble: Ensemble, sample_ratio: float, *, digits: int = 60
) -> float:
    """Risk of the mean of the members at one point, computed with `digits` digits and rounded once at the end.

    Every input is taken as the exact double it is; eigenvalues far below the largest, by all but eight of the digits,
    count as zero. The cost grows with the cube of the number of features.

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
        If more than one point is asked for, or another aggregation than the mean.
    RidgeError
        If a ridge is so negative that the regression has no solution.
    ConvergenceError
        If so few digits do not suffice to find the saddle point.

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
    import mpmath

    if not ensemble.aggregation.is_mean:
        raise ParameterError('precise_risk knows the mean of the members; give aggregation="mean"')
    k = ensemble.n_members
    if problem.label_noise.ndim or ensemble.ridge.ndim > 1 or ensemble.readout_noise.ndim > 1:
        raise ParameterError("precise_risk takes one point: give scalars, and one ridge and readout noise per member")
    if not (np.isfinite(sample_ratio) and sample_ratio > 0):
        raise ParameterError(f"sample_ratio must be positive and finite, got {sample_ratio!r}")
    eta, lam = (np.broadcast_to(x, (k,)).tolist() for x in (ensemble.readout_noise, ensemble.ridge))
    with mpmath.workdps(digits):
        alpha, zeta = mpmath.mpf(float(sample_ratio)), mpmath.mpf(float(problem.label_noise))
        lam = [mpmath.mpf(x) for x in lam]
        proposition = _proposition_one if isinstance(problem, Problem) else _proposition_two
        pair = proposition(problem, ensemble, alpha, lam)
        total, nothing = mpmath.mpf(0), mpmath.mpf(10) ** (-digits // 2)
        for r in range(k):
            for s in range(k):
                bias, gamma = pair(r, s)
                top = bias + gamma * zeta**2 + (mpmath.mpf(eta[r]) ** 2 if r == s else 0)
                if abs(1 - gamma) >= nothing:
                    total += top / (1 - gamma)
                elif abs(top) > nothing:
                    return float("inf")
        return float(total / k**2)


def _proposition_one(problem: Any, ensemble: Ensemble, alpha: "mp.mpf", lam: "list[mp.mpf]") -> Pair:
    """B_rs and γ_rs of eq. 9 (GeneralErr), with R_r = (κ̄_r + Σ̃_rr)⁻¹ on the directions that have variance."""
    import mpmath

    M = problem.n_features
    S = mpmath.matrix(problem.signal_covariance.dense().tolist())
    total = S + mpmath.matrix(problem.noise_covariance.dense().tolist())
    w = mpmath.matrix([float(x) for x in problem.teacher_weights])
    A, R = [], []
    for r, given in enumerate(ensemble.plan.measurements):
        dense = mpmath.matrix((np.eye(M)[given] if given.ndim == 1 else given).tolist())
        A.append(dense / mpmath.sqrt(mpmath.mpf(dense.rows) / M))
        d, U = mpmath.eigsy(A[r] * total * A[r].T)
        least = max(d) * mpmath.mpf(10) ** (8 - mpmath.mp.dps)
        kept = [i for i in range(len(d)) if d[i] > least]
        kappa_bar = _effective_ridge([d[i] for i in kept], M, alpha, lam[r])
        R.append(sum((U[:, i] * U[:, i].T / (kappa_bar + d[i]) for i in kept), mpmath.zeros(dense.rows)))
    fitted = [A[r].T * (R[r] * (A[r] * (S * w))) for r in range(len(A))]

    def pair(r: int, s: int) -> "tuple[mp.mpf, mp.mpf]":
        cross = A[r] * total * A[s].T
        left, right = R[r] * cross, cross * R[s]
        trace = sum((left[i, j] * right[i, j] for i in range(left.rows) for j in range(left.cols)), mpmath.mpf(0))
        bias = (w.T * (S * (w - fitted[r] - fitted[s])) + fitted[r].T * (total * fitted[s]))[0]
        return bias / M, trace / (alpha * M)

    return pair


def _effective_ridge(d: "list[mp.mpf]", M: int, alpha: "mp.mpf", lam: "mp.mpf") -> "mp.mpf":
    """κ̄ on the physical branch of eq. 10 (saddle_point), by Newton's method from above, as λ(κ̄) is convex."""
    import mpmath

    if not d or (lam == 0 and alpha * M >= len(d)):
        return mpmath.mpf(0 if d else 1)
    kappa = (max(lam, mpmath.mpf(0)) + sum(d, mpmath.mpf(0)) / M) / alpha
    for _ in range(20 * mpmath.mp.prec):
        phi = [x / (kappa + x) for x in d]
        slope = alpha - sum((x**2 for x in phi), mpmath.mpf(0)) / M
        if slope <= 0 or kappa <= -min(d):
            raise RidgeError(f"ridge={float(lam):g} is too negative: the regression has no solution; raise the ridge")
        step = (kappa * (alpha - sum(phi, mpmath.mpf(0)) / M) - lam) / slope
        kappa -= step
        if abs(step) <= abs(kappa) * mpmath.mpf(10) ** (-mpmath.mp.dps * 3 // 4):
            return kappa
    raise ConvergenceError("no saddle point found in high precision; give more digits")


def _proposition_two(problem: Any, ensemble: Ensemble, alpha: "mp.mpf", lam: "list[mp.mpf]") -> Pair:
    """The bias and γ_rs of eq. 16 (EquiCorrGeneralizationError), as printed."""
    import mpmath

    nu, sigma = [[mpmath.mpf(float(x)) for x in row] for row in ensemble.fractions], []
    given = (problem.data_scale, problem.correlation, problem.feature_noise, problem.alignment)
    s, c, omega, rho = (mpmath.mpf(float(x)) for x in given)
    b, a = s * (1 - c), s * (1 - c) + omega**2
    for r, own in enumerate(nu[r][r] for r in range(len(nu))):
        B = alpha + own + (lam[r] * own / a if a else 0)
        inside = B**2 - 4 * alpha * own
        if inside < 0 or B <= 0:
            raise RidgeError(
                f"ridge={float(lam[r]):g} is too negative: the regression has no solution; raise the ridge"
            )
        sigma.append(2 * alpha / (B + mpmath.sqrt(inside)) if a else mpmath.mpf(0))

    def pair(r: int, q: int) -> "tuple[mp.mpf, mp.mpf]":
        both = nu[r][q] * sigma[r] * sigma[q]
        across = b - (b**2 / a if a else 0) * (nu[r][r] * sigma[r] + nu[q][q] * sigma[q] - both)
        along = a * nu[r][q] / (nu[r][r] * nu[q][q]) - b if c > 0 else across
        return (1 - rho**2) * across + rho**2 * along, both / alpha

    return pair
