"""How a pair's error splits into bias and variance, and what the variance becomes at another sample size.

Rows of real data differ in scale, x_i = s_i z_i, and with it in leverage h_i = 1 - R_ii. The deterministic equivalents
of Prop. 1 hold with two changes. A left-out error is ``e_i² = z + q_i ε`` with the odds of leverage ``q_i = h_i/R_ii ∝
s_i²``, and the variance of a pair is fed by rows in proportion to their leverages:

    ε_rr′ = b_rr′ + x_rr′ Σ_i h_ri h_r′i (ε_rr′ + z/√(q_ri q_r′i)),        γ_rr′ = x_rr′ Σ_i h_ri h_r′i,

where b and x = tr(Σ²…)/(df_r df_r′) depend on the effective ridges alone. At n′ the leverages are ``h′ = θq/(1 + θq)``
with θ such that they sum to the same degrees of freedom. x follows from the off-diagonal part of tr(R_r R_r′). With
equal leverages all this is ``(Ê + ζ²)(1 - γ)/(1 - γ n/n′)``, whatever z. On deep features the plain form errs by up to
13 % towards optimism where this errs by 5 %.
"""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray

_TINY = float(np.finfo(np.float64).tiny)
_BELOW_ONE = 1 - 1e-9
_ROWS = 1000  # in means over rows
_STEPS = 8  # of Newton's method for θ, from the solution for equal leverages


@dataclass(frozen=True, eq=False)
class Variance:
    """Variance of t rows of a table, for every pair of members.

    Attributes
    ----------
    now, then : ndarray, shape (t, k, k)
        γ_rr′ at the pilot's size and at the wanted one, where infinite risk is γ ≥ 1.
    carry : ndarray, shape (t, k, k)
        ``(Ê(n′) + ζ²)/(Ê(n) + ζ²)``.
    occupied : ndarray, shape (t, k, k)
        γ_rr′ n of rows with equal leverages.
    """

    now: FloatArray
    then: FloatArray
    carry: FloatArray
    occupied: FloatArray


def split_variance(
    errors: FloatArray,
    diagonals: FloatArray,
    leverages: FloatArray,
    squared_diagonals: FloatArray,
    pair_traces: FloatArray,
    sizes: FloatArray,
) -> Variance:
    """Split the errors of every pair and carry their variance to other sizes.

    Parameters
    ----------
    errors : ndarray, shape (t, k, C, n)
        Left-out errors.
    diagonals : ndarray, shape (t, k, n)
        R_ii, in the scale of `leave_one_out`.
    leverages : ndarray, shape (t, k, n)
        h_i, intercept included.
    squared_diagonals : ndarray, shape (t, k, n)
        (R²)_ii in the scale of the diagonals.
    pair_traces : ndarray, shape (t, k, k)
        ``tr(R_r R_r′)`` in that scale.
    sizes : ndarray, shape (t,)
        n′; may be infinite.

    Returns
    -------
    Variance
    """
    n = errors.shape[-1]
    usable = diagonals > 0  # a row that is interpolated whatever the ridge has no left-out error to speak of
    odds = np.where(usable, leverages / np.where(usable, diagonals, 1.0), 0.0)
    mixed = _pairs(leverages, diagonals)
    off_diagonal = np.maximum(pair_traces - _pairs(diagonals, diagonals), 0.0)
    strength = mixed * np.swapaxes(mixed, 1, 2)
    together = _pairs(leverages, leverages)
    x = off_diagonal / np.maximum(strength + off_diagonal * together, _TINY)
    alone = _own_strength(diagonals, squared_diagonals, leverages, odds, usable)
    correction = np.sqrt(alone / np.maximum(np.diagonal(x, axis1=1, axis2=2), _TINY))
    x = np.minimum(x * correction[:, :, None] * correction[:, None, :], _BELOW_ONE / np.maximum(together, _TINY))
    # What follows are means over rows, for which some rows do.
    some = slice(None) if n <= _ROWS else np.random.default_rng(0).choice(n, _ROWS, replace=False)
    h, q, seen = leverages[:, :, some], odds[:, :, some], usable[:, :, some]
    later = _later_leverages(h, q, sizes / n)
    growth = np.where(np.isinf(sizes), 0.0, sizes / n)[:, None, None]  # leverages vanish faster than sizes grow
    scale = np.sqrt(q)
    per_scale = np.where(scale > 0, 1 / np.where(scale > 0, scale, 1.0), 0.0)
    per_row = x * n / h.shape[2]
    # A left-out error is that of n - 1 rows; at the pilot's own size it is taken as it is.
    fewer = np.where(sizes == n, 1.0, n / (n - 1))[:, None, None]
    now = np.minimum(x * together * fewer, _BELOW_ONE)
    then = x * together * growth * _pairs(later, later) / np.maximum(_pairs(h, h), _TINY)
    fed_now = per_row * _pairs(h * per_scale, h * per_scale) * fewer
    fed_then = per_row * _pairs(later * per_scale, later * per_scale) * growth
    mean_scale = _pairs(scale, scale) / h.shape[2]
    # The noise may not feed more variance than there is.
    most = (1 - now) / np.maximum(1 - now + fed_now * mean_scale, _TINY)
    share = np.minimum(_noise_share(errors[:, :, :, some], scale, seen), most)
    # In units of Ê + ζ²: z is the share, ε the rest over the mean scale.
    spread = (1 - share) / np.where(mean_scale > 0, mean_scale, 1.0)
    bias = spread * (1 - now) - share * fed_now
    grown = (bias + share * fed_then) / np.where(then < 1, 1 - then, np.nan)
    carry = np.where(then < 1, share + grown * mean_scale, np.inf)
    freedom = leverages.sum(axis=2)
    return Variance(now, then, carry, x * freedom[:, :, None] * freedom[:, None, :])


def _own_strength(
    diagonals: FloatArray,
    squared_diagonals: FloatArray,
    leverages: FloatArray,
    odds: FloatArray,
    usable: BoolArray,
) -> FloatArray:
    """x_rr from the slope of the degrees of freedom, ``tr Σ²(Σ+κ̄)⁻² = df + d df/d log κ̄``; shape (t, k).

    With κ̄ = p δ/df and δ ∝ q this needs diagonals only. It was closer to the truth on deep features than the
    off-diagonal part of tr(R²), which correlations between rows of one class raise.
    """
    freedom = leverages.sum(axis=2)
    relative = np.where(usable, squared_diagonals / np.where(usable, diagonals, 1.0) ** 2, 1.0).mean(axis=2) - 1
    # The scale of R is (1 - h_i)/R̃_i, the same for every row; tr(RH) in units of it.
    scale = (1 - leverages).sum(axis=2) / np.maximum(diagonals.sum(axis=2), _TINY)
    shrinking = diagonals.sum(axis=2) - scale * squared_diagonals.sum(axis=2)
    slope = odds.mean(axis=2) * shrinking / np.maximum(freedom, _TINY)
    return np.asarray(np.maximum(relative, 0.0) / np.maximum((relative + slope) * freedom, _TINY))


def _pairs(one: FloatArray, other: FloatArray) -> FloatArray:
    """``Σ_i one_ri other_r′i``, shape (t, k, k)."""
    return np.asarray(one @ np.swapaxes(other, 1, 2))


def _later_leverages(leverages: FloatArray, odds: FloatArray, growth: FloatArray) -> FloatArray:
    """Leverages ``θq/(1+θq)`` of these rows in a sample `growth` times as large with the same sum; shape (t, k, m)."""
    finite = np.where(np.isinf(growth), 1.0, growth)[:, None]
    wanted = np.minimum(leverages.mean(axis=2) / finite, _BELOW_ONE)  # mean leverage
    mean = odds.mean(axis=2)
    log_theta = np.log(wanted / (1 - wanted) / np.where(mean > 0, mean, 1.0))
    later = leverages
    for _ in range(_STEPS):
        scaled = np.exp(log_theta)[:, :, None] * odds
        later = scaled / (1 + scaled)
        slope = (later * (1 - later)).mean(axis=2)
        step = (wanted - later.mean(axis=2)) / np.where(slope > 0, slope, 1.0)
        log_theta = log_theta + np.clip(step, -3.0, 3.0)
        if np.abs(step).max() < 1e-9:
            break
    return np.where(np.isinf(growth)[:, None, None], 0.0, later)


def _noise_share(errors: FloatArray, scale: FloatArray, usable: BoolArray) -> FloatArray:
    """Share of every pair's error that does not grow with the rows' scale, in [0, 1]; shape (t, k, k).

    Weighted least squares of e_ri·e_r′i on a constant and on the scale √(q_ri q_r′i), neither negative. Rows of large
    scale err much, so they count less.
    """
    t, k, C, n = errors.shape
    odds = scale**2
    mean = odds.mean(axis=2, keepdims=True)
    weight = usable / (1 + odds / np.where(mean > 0, mean, 1.0))

    def moment(factor: FloatArray) -> FloatArray:
        flat = (errors * factor[:, :, None, :]).reshape(t, k, C * n)
        return np.asarray(flat @ flat.transpose(0, 2, 1))

    s0, s1, s2 = (_pairs(weight * scale**power, weight * scale**power) for power in (0, 1, 2))
    y0, y1 = moment(weight), moment(weight * scale)
    determinant = s0 * s2 - s1**2
    settled = determinant > 1e-6 * s0 * s2
    safe = np.where(settled, determinant, 1.0)
    constant = (y0 * s2 - y1 * s1) / safe
    growing = (y1 * s0 - y0 * s1) / safe * _pairs(scale, scale) / n
    total = constant + growing
    share = np.where(settled & (total != 0), constant / np.where(total != 0, total, 1.0), 0.0)
    return np.asarray(np.clip(share, 0.0, 1.0))
