"""Prop. 1 in ball arithmetic, written from the paper and sharing no line with the package.

Every input is taken as the exact double it is. Matrices are plain: no spectra, no eigenvectors, no special cases beyond
those of the mathematics (a ridgeless member above its threshold has an effective ridge of zero).
"""

from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat, arb_poly, ctx, fmpq, fmpq_mat

from reference.aggregates import Wide, least_risk

_DIGITS = (60, 120, 240, 480, 960)


class IllPosed(ValueError):
    """A negative ridge below the floor of the physical branch."""


class Unresolved(ArithmeticError):
    """The balls stayed too wide at the highest precision."""


@dataclass(frozen=True)
class Reference:
    """Pairs (k, k) and total as exact-enough numbers; `total` is an arb ball, `infinite` marks a threshold."""

    pairs: list
    total: arb
    infinite: bool
    kappa_bar: list

    def relative_error(self, value: float) -> float:
        """|value - exact|/|exact|; 0 for two infinities or two zeros."""
        if self.infinite:
            return 0.0 if np.isinf(value) else float("inf")
        if not np.isfinite(value):
            return float("inf")
        if self.total == 0:
            return 0.0 if value == 0 else float("inf")
        return float(abs((_ball(value) - self.total) / self.total).mid())


def proposition_one(
    signal, noise, teacher, measurements, alpha, ridges, readout, label_noise, aggregation="mean"
) -> Reference:
    """Eq. GeneralErr at one point.

    Parameters
    ----------
    signal, noise : ndarray (M, M), or functions that make arb_mat of them; noise may be None
    teacher : ndarray (M,)
    measurements : list of index arrays (N_r,) or matrices (N_r, M)
    alpha, label_noise : float
    ridges, readout : sequences of float, one per member
    aggregation : {"mean", "scaled", "simplex", "free"}
    """
    for digits in _DIGITS:
        try:
            with ctx_digits(digits):
                found = _one(
                    signal, noise, teacher, measurements, alpha, ridges, readout, label_noise, digits, aggregation
                )
        except Wide:
            continue
        if found is not None:
            return found
    raise Unresolved


class ctx_digits:
    def __init__(self, digits):
        self.digits = digits

    def __enter__(self):
        self.kept = ctx.dps
        ctx.dps = self.digits

    def __exit__(self, *_):
        ctx.dps = self.kept


def _ball(x) -> arb:
    return arb(float(x))


def _matrix(array) -> arb_mat:
    if isinstance(array, arb_mat):
        return array
    array = np.atleast_2d(np.asarray(array, dtype=float))
    return arb_mat(array.shape[0], array.shape[1], [float(x) for x in array.ravel()])


def _mid(matrix: arb_mat) -> arb_mat:
    return arb_mat(matrix.nrows(), matrix.ncols(), [x.mid() for x in matrix.entries()])


def _one(signal, noise, teacher, measurements, alpha, ridges, readout, label_noise, digits, aggregation):
    M = len(teacher)
    S = _matrix(signal() if callable(signal) else signal)
    total = S if noise is None else S + _matrix(noise() if callable(noise) else noise)
    w = arb_mat(M, 1, [float(x) for x in teacher])
    v = S * w
    a = _ball(alpha)
    A = [_as_matrix(m, M) for m in measurements]
    k = len(A)
    nu = [arb(fmpq(m.nrows(), M)) for m in A]
    B = [[A[r] * total * A[s].transpose() for s in range(k)] for r in range(k)]
    R, kappas, _gaps = [], [], []
    for r in range(k):
        H = B[r][r] / nu[r]
        kappa = _effective_ridge(H, B[r][r], a, _ball(ridges[r]), M, digits)
        if kappa is None:
            return None
        kappas.append(kappa)
        G = _resolvent(H, kappa)
        if G is None:
            return None
        R.append(G)
    g = [A[r] * v for r in range(k)]
    power = (w.transpose() * v)[0, 0]
    explained = [arb(0) if kappas[r] == "inf" else (g[r].transpose() * R[r] * g[r])[0, 0] / nu[r] for r in range(k)]
    pairs = [[None] * k for _ in range(k)]
    for r in range(k):
        for s in range(r, k):
            if kappas[r] == "inf" or kappas[s] == "inf":  # α = 0: nothing is fitted
                bias, gamma = power, arb(0)
                if kappas[r] != kappas[s]:
                    raise ValueError("mixed α")
            else:
                X = R[r] * B[r][s]  # all carry 1/ν: put in below
                Y = R[s] * B[r][s].transpose()
                trace = _trace(X * Y) / (nu[r] * nu[s])
                gamma = trace / (a * M)
                left, right = R[r] * g[r], R[s] * g[s]
                bias = power - (g[r].transpose() * left)[0, 0] / nu[r] - (g[s].transpose() * right)[0, 0] / nu[s]
                bias += (left.transpose() * B[r][s] * right)[0, 0] / (nu[r] * nu[s])
            bias = bias / M
            gap = 1 - gamma
            z2 = _ball(label_noise) ** 2
            numerator = bias + gamma * z2
            if r == s:
                numerator += _ball(readout[r]) ** 2
            if gap.contains(0) and _at_threshold(gap, digits):
                if numerator.contains(0) and _at_threshold(numerator, digits, power / M + z2):
                    value = arb(0)
                else:
                    value = arb("inf")
            else:
                value = numerator / gap
                if value.contains(0) and not _at_threshold(value, digits, power / M + z2):
                    return None
                if value.contains(0):
                    value = arb(0)
                elif not value.rel_accuracy_bits() > 80:
                    return None
            pairs[r][s] = pairs[s][r] = value
    total = least_risk(aggregation, pairs, [c / M for c in explained], power / M, digits)
    if total is None:
        return Reference(pairs, arb("inf"), True, kappas)
    if total.contains(0):
        if not _at_threshold(total, digits, power / M):
            return None
        total = arb(0)
    elif total.rel_accuracy_bits() < 80:
        return None
    return Reference(pairs, total, False, kappas)


def _at_threshold(ball, digits, scale=1) -> bool:
    """A ball about zero whose radius is far below what inputs in double precision could make: taken as zero."""
    return digits == _DIGITS[-1] or bool(abs(ball).upper() < arb(10) ** -min(400, digits // 2) * abs(scale))


def _as_matrix(measurement, M) -> arb_mat:
    measurement = np.asarray(measurement)
    if measurement.ndim == 1:
        measurement = np.eye(M)[measurement]
    return _matrix(measurement)


def _trace(X: arb_mat) -> arb:
    return sum((X[i, i] for i in range(X.nrows())), arb(0))


def _symmetric_functions(H: arb_mat):
    """Coefficients of Π (x + d_i), all non-negative: for x > 0 nothing cancels. Zeros at the low end are exact."""
    coefficients = list((-H).charpoly())
    low = 0
    if not bool(coefficients[0] > 0):  # certainly regular otherwise
        n = H.nrows()
        exact = fmpq_mat(n, n, [_rational(x) for x in H.entries()])
        low = n - exact.rank()
        if any(not bool(c > 0) for c in coefficients[low:]):
            return None
    return low, coefficients


def _rational(x: arb):
    man, exp = x.mid().man_exp()
    man, exp = int(man), int(exp)
    return fmpq(man) * fmpq(2) ** exp if exp >= 0 else fmpq(man, 1 << -exp)


def _resolvent(H: arb_mat, kappa):
    if kappa == "inf":
        return arb_mat(H.nrows(), H.nrows())
    n = H.nrows()
    shifted = H + arb_mat(n, n, [kappa if i == j else 0 for i in range(n) for j in range(n)])
    try:
        return shifted.inv()
    except ZeroDivisionError:
        # κ̄ = 0 on a singular H: the pseudo-inverse, the limit of κ̄ → 0 on the range; a tiny exact κ̄ stands in.
        if ctx.dps < 400:
            return None
        tiny = abs(_trace(H)).mid() * arb(10) ** (-ctx.dps // 3)
        shifted = H + arb_mat(n, n, [tiny if i == j else 0 for i in range(n) for j in range(n)])
        try:
            return shifted.inv()
        except ZeroDivisionError:
            return None


def _effective_ridge(H: arb_mat, exact: arb_mat, a: arb, lam: arb, M: int, digits: int):
    """κ̄ from the right by Newton: λ(κ̄) is convex and increasing on the physical branch."""
    if a == 0:
        return "inf"
    if not bool(abs(_trace(H)) > 0):
        return arb(1)
    found = _symmetric_functions(exact)
    if found is None:
        return None
    low, _ = found
    n = H.nrows() - low
    balls = list((-H).charpoly())[low:]
    if any(x.rel_accuracy_bits() < 130 for x in balls):
        return None
    c = [x.mid() for x in balls]
    if lam == 0 and not bool(a * M - n < 0):
        return arb(0)
    p = arb_poly(c)
    top = arb_poly([(n - j) * c[j] for j in range(n + 1)])
    dp, dtop = p.derivative(), top.derivative()
    kappa = (((lam if bool(lam > 0) else arb(0)) + _trace(H) / M) / a).mid()
    tolerance = arb(10) ** -(digits * 3 // 5)
    for _ in range(600):
        at = p(kappa)
        u = (top(kappa) / at).mid()
        du = ((dtop(kappa) - u * dp(kappa)) / at).mid()
        value = kappa * (a - u / M) - lam
        slope = a - (u + kappa * du) / M
        if not bool(at > 0) or not bool(slope > 0):
            if bool(lam < 0) and digits >= 240:
                raise IllPosed
            return None
        move = (value / slope).mid()
        new = (kappa - move).mid()
        if bool(lam >= 0) and not bool(new > 0):  # rounding far from the root
            new = kappa / 2**20
        elif bool(abs(move) <= abs(new) * tolerance):
            if bool(new < 0) and not all(bool(x > 0) for x in p(arb_poly([new, 1]))):
                if digits < 240:
                    return None
                raise IllPosed  # beyond the smallest eigenvalue: another branch
            return new
        kappa = new
    if bool(lam < 0) and digits >= 240:
        raise IllPosed
    return None
