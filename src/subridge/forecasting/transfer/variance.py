"""How a pair's error splits into bias and variance, and what the variance becomes at another sample size.

Rows of real data differ in scale, x_i = s_i z_i, and with it in leverage h_i = 1 - R_ii. The deterministic equivalents
of Prop. 1 hold with two changes. A left-out error is ``e_i² = z + q_i ε`` with the odds of leverage ``q_i = h_i/R_ii ∝
s_i²``, and the variance of a pair is fed by rows in proportion to their leverages:

    ε_rr′ = b_rr′ + x_rr′ Σ_i h_ri h_r′i (ε_rr′ + z/√(q_ri q_r′i)),        γ_rr′ = x_rr′ Σ_i h_ri h_r′i,

where b and x = tr(Σ²…)/(df_r df_r′) depend on the effective ridges alone. At n′ the leverages are ``h′ = θq/(1 + θq)``
with θ such that they sum to the same degrees of freedom. x follows from the off-diagonal part of tr(R_r R_r′). With
equal leverages all this is ``(Ê + ζ²)(1 - γ)/(1 - γ n/n′)``, whatever z. On deep features the plain form errs by up to
13 % towards optimism where this errs by 5 %.

That rows of large leverage err in proportion to it is false of rows with rare entries or outliers: a row that alone has
a column teaches nothing but that column. Where few rows hold much of the sum of odds the plain form is taken, which
knows traces only; `steadiness` says to what share it is not.
"""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.forecasting.pilot.left_out import LeftOut

_TINY = float(np.finfo(np.float64).tiny)
_BELOW_ONE = 1 - 1e-9
# Near its threshold, at a distance of n (1 - γ) samples, a member's risk differs from theory by about this over that
# distance.
_FINITE_SIZE = 1.5
_ROWS = 1000  # in means over rows
_STEPS = 8  # of Newton's method for θ, from the solution for equal leverages
_ORDINARY = 10.0  # times the median: odds of rows that differ in scale and in nothing else
_EXPLAINED = 2.0  # times the median per power: odds that scale explains
_HALF = 0.05  # log of mean over capped mean odds at which both forms count the same


@dataclass(frozen=True, eq=False)
class VarianceSplit:
    """Variance of t rows of a table, for every pair of members; each array of shape (t, k, k)."""

    gamma_pilot: FloatArray  # γ_rr′ at the pilot's size
    gamma_new: FloatArray  # at the new one; 1 or more is infinite risk
    error_ratio: FloatArray  # (Ê(n′) + ζ²)/(Ê(n) + ζ²)
    gamma_n: FloatArray  # γ_rr′ n of rows with equal leverages, which depends on the effective ridges alone
    steadiness: FloatArray  # of every row of the table, in [0, 1]: 1 where no few rows dominate, shape (t,)


def variance_gain(gamma: FloatArray) -> FloatArray:
    """``1/(1 - γ)``, by which variance raises an error; infinite for γ ≥ 1."""
    return np.where(gamma < 1, 1 / np.where(gamma < 1, 1 - gamma, 1.0), np.inf)


def finite_size_error(pairs: FloatArray, variance: VarianceSplit, weights: FloatArray, n: int) -> FloatArray:
    """Standard error of a transferred error by what finite samples differ from theory; shape (t,).

    For pairs (t, k, k) and weights (t, k). The relative error of 1 - γ is about _FINITE_SIZE/(n (1 - γ)), and that of
    the quotient of errors follows.
    """
    gain_pilot, gain_new = 1 / (1 - variance.gamma_pilot), variance_gain(variance.gamma_new)
    change = np.abs(1 - variance.gamma_new / np.maximum(variance.gamma_pilot, 1e-12))
    relative = _FINITE_SIZE * gain_pilot / n * change * np.where(np.isfinite(gain_new), gain_new, 0.0)
    ratio = np.where(np.isfinite(variance.error_ratio), variance.error_ratio, 0.0)
    form = weights[:, :, None] * weights[:, None, :] * ratio
    return np.asarray((np.abs(form * pairs) * relative).sum(axis=(1, 2)))


def likeness_beside_intercept(variance: VarianceSplit) -> FloatArray:
    """``γ_rr′/√(γ_rr γ_r′r′)`` without what all pairs share, the γ of a silent member, the last; shape (t, k, k)."""
    apart = np.maximum(variance.gamma_pilot - variance.gamma_pilot[:, -1:, -1:], 0.0)
    own = np.sqrt(np.diagonal(apart, axis1=1, axis2=2))
    return np.asarray(np.minimum(apart / np.maximum(own[:, :, None] * own[:, None, :], _TINY), 1.0))


def split_variance(left_out: LeftOut, sizes: FloatArray) -> VarianceSplit:
    """Split the left-out errors of every pair, and take their variance to new sizes n′ of shape (t,)."""
    n, diagonals, leverages = left_out.pilot.n_samples, left_out.diagonals, left_out.leverages()
    usable = diagonals > 0  # a row that is interpolated whatever the ridge has no left-out error to speak of
    odds = np.where(usable, leverages / np.where(usable, diagonals, 1.0), 0.0)
    x = _pair_strengths(left_out, leverages, odds)
    together = _pairs(leverages, leverages)
    # What follows are means over rows, for which some rows do.
    some = slice(None) if n <= _ROWS else np.random.default_rng(0).choice(n, _ROWS, replace=False)
    h, q = leverages[:, :, some], odds[:, :, some]
    new_h = _new_leverages(h, q, sizes / n)
    growth = np.where(np.isinf(sizes), 0.0, sizes / n)[:, None, None]  # leverages vanish faster than sizes grow
    scale = np.sqrt(q)
    per_scale = np.where(scale > 0, 1 / np.where(scale > 0, scale, 1.0), 0.0)
    per_row = x * n / h.shape[2]
    # A left-out error is that of n - 1 rows; at the pilot's own size it is taken as it is.
    fewer = np.where(sizes == n, 1.0, n / (n - 1))[:, None, None]
    gamma_pilot = np.minimum(x * together * fewer, _BELOW_ONE)
    gamma_new = x * together * growth * _pairs(new_h, new_h) / np.maximum(_pairs(h, h), _TINY)
    # Variance that label noise feeds, per unit of z.
    from_noise_pilot = per_row * _pairs(h * per_scale, h * per_scale) * fewer
    from_noise_new = per_row * _pairs(new_h * per_scale, new_h * per_scale) * growth
    mean_scale = _pairs(scale, scale) / h.shape[2]
    # The noise may not feed more variance than there is.
    most = (1 - gamma_pilot) / np.maximum(1 - gamma_pilot + from_noise_pilot * mean_scale, _TINY)
    noise = np.minimum(_noise_share(left_out.errors[:, :, :, some], scale, usable[:, :, some]), most)
    # In units of Ê + ζ²: z is the share of noise, ε the rest over the mean scale.
    growing = (1 - noise) / np.where(mean_scale > 0, mean_scale, 1.0)
    bias = growing * (1 - gamma_pilot) - noise * from_noise_pilot
    growing_new = (bias + noise * from_noise_new) / np.where(gamma_new < 1, 1 - gamma_new, np.nan)
    error_ratio = np.where(gamma_new < 1, noise + growing_new * mean_scale, np.inf)
    freedom = leverages.sum(axis=2)
    by_leverage = VarianceSplit(
        gamma_pilot, gamma_new, error_ratio, x * freedom[:, :, None] * freedom[:, None, :], np.ones(len(sizes))
    )
    return _blended(by_leverage, left_out, sizes, _steadiness(odds, left_out.pilot.row_powers))


def _steadiness(odds: FloatArray, powers: FloatArray) -> FloatArray:
    """Share of every member for which leverages are to be trusted, from its odds (t, k, n); shape (t, k).

    Two signs must come together: few rows hold much of the sum of odds, and their odds are not explained by scale. Rows
    that differ in scale and in nothing else have odds in proportion to their powers ‖x_i‖², shape (k, n), whatever the
    ridge; odds far above that are of rows that point where few others do.
    """
    per_power = odds / np.maximum(powers, _TINY)
    dominant = _excess(odds, _ORDINARY * np.median(odds, axis=2, keepdims=True))
    astray = _excess(odds, _EXPLAINED * np.median(per_power, axis=2, keepdims=True) * powers)
    return np.asarray(1 / (1 + np.minimum(dominant / _HALF, astray / (0.5 * _HALF)) ** 2))


def _excess(odds: FloatArray, cap: FloatArray) -> FloatArray:
    """log of mean odds over mean capped odds; shape (t, k)."""
    means = odds.mean(axis=2), np.minimum(odds, cap).mean(axis=2)
    return np.asarray(np.log(np.maximum(means[0], _TINY)) - np.log(np.maximum(means[1], _TINY)))


def _blended(by_leverage: VarianceSplit, left_out: LeftOut, sizes: FloatArray, steady: FloatArray) -> VarianceSplit:
    """The split by leverages, and the plain one by traces where few rows dominate; steadiness of members (t, k)."""
    n, traces = left_out.pilot.n_samples, left_out.diagonals.sum(axis=2)
    gain = n * left_out.pair_traces / np.maximum(traces[:, :, None] * traces[:, None, :], _TINY)
    gamma = np.clip(1 - 1 / np.maximum(gain, _TINY), 0.0, _BELOW_ONE)
    gamma_new = gamma * (n / sizes)[:, None, None]
    plain_ratio = (1 - gamma) * variance_gain(gamma_new)
    share = np.sqrt(steady[:, :, None] * steady[:, None, :])
    speaking = np.array([member.spectrum.size > 0 for member in left_out.pilot.members])
    ratio = by_leverage.error_ratio
    usable = np.isfinite(ratio) & np.isfinite(plain_ratio) & (ratio > 0) & (plain_ratio > 0)
    logs = share * np.log(np.where(usable, ratio, 1.0)) + (1 - share) * np.log(np.where(usable, plain_ratio, 1.0))
    return VarianceSplit(
        share * by_leverage.gamma_pilot + (1 - share) * gamma,
        share * by_leverage.gamma_new + (1 - share) * gamma_new,
        np.where(usable, np.exp(logs), np.where(share > 0.5, ratio, plain_ratio)),
        by_leverage.gamma_n,
        steady[:, speaking].mean(axis=1),
    )


def _pair_strengths(left_out: LeftOut, leverages: FloatArray, odds: FloatArray) -> FloatArray:
    """x_rr′ from the off-diagonal part of tr(R_r R_r′), corrected by what diagonals say of x_rr; shape (t, k, k)."""
    diagonals = left_out.diagonals
    mixed, together = _pairs(leverages, diagonals), _pairs(leverages, leverages)
    off_diagonal = np.maximum(left_out.pair_traces - _pairs(diagonals, diagonals), 0.0)
    x = off_diagonal / np.maximum(mixed * np.swapaxes(mixed, 1, 2) + off_diagonal * together, _TINY)
    own = _own_strengths(left_out, leverages, odds)
    correction = np.sqrt(own / np.maximum(np.diagonal(x, axis1=1, axis2=2), _TINY))
    return np.minimum(x * correction[:, :, None] * correction[:, None, :], _BELOW_ONE / np.maximum(together, _TINY))


def _own_strengths(left_out: LeftOut, leverages: FloatArray, odds: FloatArray) -> FloatArray:
    """x_rr from the slope of the degrees of freedom, ``tr Σ²(Σ+κ̄)⁻² = df + d df/d log κ̄``; shape (t, k).

    With κ̄ = p δ/df and δ ∝ q this needs diagonals only. It was closer to the truth on deep features than the
    off-diagonal part of tr(R²), which correlations between rows of one class raise.
    """
    diagonals, squared, freedom = left_out.diagonals, left_out.squared_diagonals(), leverages.sum(axis=2)
    usable = diagonals > 0
    relative = np.where(usable, squared / np.where(usable, diagonals, 1.0) ** 2, 1.0).mean(axis=2) - 1
    # The scale of R is (1 - h_i)/R̃_i, the same for every row; tr(RH) in units of it.
    scale = (1 - leverages).sum(axis=2) / np.maximum(diagonals.sum(axis=2), _TINY)
    shrinking = diagonals.sum(axis=2) - scale * squared.sum(axis=2)
    slope = odds.mean(axis=2) * shrinking / np.maximum(freedom, _TINY)
    return np.asarray(np.maximum(relative, 0.0) / np.maximum((relative + slope) * freedom, _TINY))


def _pairs(one: FloatArray, other: FloatArray) -> FloatArray:
    """``Σ_i one_ri other_r′i``, shape (t, k, k)."""
    return np.asarray(one @ np.swapaxes(other, 1, 2))


def _new_leverages(leverages: FloatArray, odds: FloatArray, growth: FloatArray) -> FloatArray:
    """Leverages ``θq/(1+θq)`` of these rows in a sample `growth` times as large with the same sum; shape (t, k, m)."""
    finite = np.where(np.isinf(growth), 1.0, growth)[:, None]
    wanted = np.minimum(leverages.mean(axis=2) / finite, _BELOW_ONE)  # mean leverage
    mean = odds.mean(axis=2)
    log_theta = np.log(wanted / (1 - wanted) / np.where(mean > 0, mean, 1.0))
    new = leverages
    for _ in range(_STEPS):
        scaled = np.exp(log_theta)[:, :, None] * odds
        new = scaled / (1 + scaled)
        slope = (new * (1 - new)).mean(axis=2)
        step = (wanted - new.mean(axis=2)) / np.where(slope > 0, slope, 1.0)
        log_theta = log_theta + np.clip(step, -3.0, 3.0)
        if np.abs(step).max() < 1e-9:
            break
    return np.where(np.isinf(growth)[:, None, None], 0.0, new)


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
