"""One point of the theory in high precision, for anyone who doubts a digit: plain formulas, as many digits as asked."""

from typing import TYPE_CHECKING, Any

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.model.aggregation import Mean
from subridge.model.ensemble import Ensemble
from subridge.model.errors import ConvergenceError, ParameterError, RidgeError
from subridge.model.problem import EquicorrelatedProblem, Problem

if TYPE_CHECKING:
    import mpmath as mp


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

    if not isinstance(ensemble.aggregation, Mean):
        raise ParameterError('precise_risk knows the mean of the members; give aggregation="mean"')
    k = ensemble.n_members
    if problem.label_noise.ndim or ensemble.ridge.ndim > 1 or ensemble.readout_noise.ndim > 1:
        raise ParameterError("precise_risk takes one point: give scalars, and one ridge and readout noise per member")
    if not (np.isfinite(sample_ratio) and sample_ratio > 0):
        raise ParameterError(f"sample_ratio must be positive and finite, got {sample_ratio!r}")
    ridges = np.broadcast_to(ensemble.ridge, (k,))
    with mpmath.workdps(digits):
        alpha = mpmath.mpf(float(sample_ratio))
        if isinstance(problem, Problem):
            bias, gamma = _general(problem, ensemble, alpha, ridges)
        else:
            bias, gamma = _equicorrelated(problem, ensemble, alpha, ridges)
        total, zeta = mpmath.mpf(0), mpmath.mpf(float(problem.label_noise))
        eta = np.broadcast_to(ensemble.readout_noise, (k,))
        for r in range(k):
            for s in range(k):
                top = bias[r][s] + gamma[r][s] * zeta**2 + (mpmath.mpf(float(eta[r])) ** 2 if r == s else 0)
                gap = 1 - gamma[r][s]
                if abs(gap) < mpmath.mpf(10) ** (-digits // 2):
                    if abs(top) > mpmath.mpf(10) ** (-digits // 2):
                        return float("inf")
                    continue
                total += top / gap
        return float(total / k**2)


Pieces = tuple[list[list["mp.mpf"]], list[list["mp.mpf"]]]


def _general(problem: Problem, ensemble: Ensemble, alpha: "mp.mpf", ridges: FloatArray) -> Pieces:
    """Bias and γ of every pair, Prop. 1."""
    import mpmath

    plan, M, k = ensemble.plan, problem.n_features, ensemble.n_members
    S = mpmath.matrix(problem.signal_covariance.dense().tolist())
    total = S + mpmath.matrix(problem.noise_covariance.dense().tolist())
    w = mpmath.matrix([float(x) for x in problem.teacher_weights])
    v = S * w
    A = [mpmath.matrix((np.eye(M)[A] if A.ndim == 1 else A).tolist()) for A in plan.measurements]
    A = [matrix / mpmath.sqrt(mpmath.mpf(matrix.rows) / M) for matrix in A]
    solved = []
    for r in range(k):
        d, U = mpmath.eigsy(A[r] * total * A[r].T)
        least = max(d) * mpmath.mpf(10) ** (8 - mpmath.mp.dps)
        kept = [i for i in range(len(d)) if d[i] > least]
        kappa = _effective_ridge([d[i] for i in kept], M, alpha, mpmath.mpf(float(ridges[r])))
        Z = mpmath.matrix(len(kept), M)
        for row, i in enumerate(kept):
            direction = U[:, i].T * A[r]
            for j in range(M):
                Z[row, j] = direction[j] / mpmath.sqrt(d[i])
        solved.append((Z, [d[i] / (kappa + d[i]) for i in kept]))
    power = (w.T * v)[0] / M
    loads = [Z * v for Z, _ in solved]
    bias = [[mpmath.mpf(0)] * k for _ in range(k)]
    gamma = [[mpmath.mpf(0)] * k for _ in range(k)]
    explained = [
        sum((f * x**2 for f, x in zip(phi, loads[r], strict=True)), mpmath.mpf(0)) for r, (_, phi) in enumerate(solved)
    ]
    for r, (Z_r, phi_r) in enumerate(solved):
        for s, (Z_s, phi_s) in enumerate(solved):
            C = Z_r * total * Z_s.T
            indices = [(i, j) for i in range(len(phi_r)) for j in range(len(phi_s))]
            product = sum((phi_r[i] * C[i, j] ** 2 * phi_s[j] for i, j in indices), mpmath.mpf(0))
            both = sum((phi_r[i] * loads[r][i] * C[i, j] * loads[s][j] * phi_s[j] for i, j in indices), mpmath.mpf(0))
            gamma[r][s] = product / (alpha * M)
            bias[r][s] = power - (explained[r] + explained[s] - both) / M
    return bias, gamma


def _effective_ridge(d: "list[mp.mpf]", M: int, alpha: "mp.mpf", lam: "mp.mpf") -> "mp.mpf":
    """κ̄ on the physical branch, by halving an interval and Newton's method from its upper end, where λ is convex."""
    import mpmath

    if not d or (lam == 0 and alpha * M >= len(d)):
        return mpmath.mpf(0 if d else 1)

    def ridge(kappa: Any) -> Any:
        return kappa * (alpha - sum((x / (kappa + x) for x in d), mpmath.mpf(0)) / M)

    kappa = (max(lam, mpmath.mpf(0)) + sum(d, mpmath.mpf(0)) / M) / alpha
    for _ in range(20 * mpmath.mp.prec):
        slope = alpha - sum(((x / (kappa + x)) ** 2 for x in d), mpmath.mpf(0)) / M
        if slope <= 0 or kappa <= -min(d):
            raise RidgeError(f"ridge={float(lam):g} is too negative: the regression has no solution; raise the ridge")
        step = (ridge(kappa) - lam) / slope
        kappa -= step
        if abs(step) <= abs(kappa) * mpmath.mpf(10) ** (-mpmath.mp.dps * 3 // 4):
            return kappa
    raise ConvergenceError("no saddle point found in high precision; give more digits")


def _equicorrelated(problem: EquicorrelatedProblem, ensemble: Ensemble, alpha: "mp.mpf", ridges: FloatArray) -> Pieces:
    """Bias and γ of every pair, Prop. 2, as printed."""
    import mpmath

    k, nu = ensemble.n_members, [[mpmath.mpf(float(x)) for x in row] for row in ensemble.fractions]
    s, c, omega, rho = (
        mpmath.mpf(float(x))
        for x in (problem.data_scale, problem.correlation, problem.feature_noise, problem.alignment)
    )
    b = s * (1 - c)
    a = b + omega**2
    sigma = []
    for r in range(k):
        B = alpha + nu[r][r] + (mpmath.mpf(float(ridges[r])) * nu[r][r] / a if a else 0)
        inside = B**2 - 4 * alpha * nu[r][r]
        if inside < 0 or B <= 0:
            raise RidgeError(f"ridge={ridges[r]:g} is too negative: the regression has no solution; raise the ridge")
        sigma.append(2 * alpha / (B + mpmath.sqrt(inside)) if a else mpmath.mpf(0))
    bias = [[mpmath.mpf(0)] * k for _ in range(k)]
    gamma = [[mpmath.mpf(0)] * k for _ in range(k)]
    for r in range(k):
        for q in range(k):
            both = nu[r][q] * sigma[r] * sigma[q]
            gamma[r][q] = both / alpha
            across = b - (b**2 / a if a else 0) * (nu[r][r] * sigma[r] + nu[q][q] * sigma[q] - both)
            along = a * nu[r][q] / (nu[r][r] * nu[q][q]) - b if c > 0 else across
            bias[r][q] = (1 - rho**2) * across + rho**2 * along
    return bias, gamma
