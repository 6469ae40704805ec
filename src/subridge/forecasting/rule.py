"""The rule of the forecasts: left-out errors of a pilot of n rows, taken to n′ rows by Prop. 1.

A member's degrees of freedom, its bias and γ n depend on the data only through its effective ridge ``κ̄ = p/(n - df)``,
where p = λ N_r is the penalty on unscaled features and df the trace of the hat matrix H, intercept included. So the
pilot at penalty p stands for every (n′, p′) with ``p′/(n′ - df) = p/(n - df)``. At equal effective ridges,

    1/(1 - γ_rr′) = n tr(R_r R_r′)/(tr R_r tr R_r′),        R = I - H,
    E_rr′(n′) + ζ² = (E_rr′ + ζ²)(1 - γ_rr′)/(1 - γ_rr′ n/n′),

where ``E_rr′ + ζ²`` is the mean product of the left-out errors of two members. A forecast above the pilot's own error
is not believed, because a larger sample does not raise the error of a tuned ridge.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.ridge.member import MemberFit, residual_pair_traces

TINY = float(np.finfo(np.float64).tiny)
_ENTRIES = 5_000_000  # of the largest table of residual operators held at once: 40 MB
_HALVINGS = 44  # of a bracket of about 100 in log p: ten digits


@dataclass(frozen=True)
class Rule:
    """All constants of forecasts and advice, each with its source."""

    finite_size: float = 1.5  # relative error of 1 - γ, times n(1 - γ): simulations of finite samples near thresholds
    vague: float = 0.4  # relative standard error above which a forecast is out of reach: decision 0010
    jackknife_power: float = 0.85  # of V_J/(V_J + V_2): ridges on Gaussian data, see jackknife.py
    # Chosen with the coverage on all sixty tables of the tournament in view (then 89 %), not confirmed on others.
    interval_stretch: float = 1.25  # of the logarithms of both bounds around the forecast
    most_group_gamma: float = 0.95  # γ of grouped rows beyond which nothing is known: decision 0014
    simulated_rows: int = 4000  # noisy rows for each dose of SIMEX (Cook & Stefanski 1994)
    path_steps: int = 3  # for each half decade of ridges: half decades make bounds rise with n
    sure: float = 2.0  # standard errors that a gain over one ridge must exceed: seven tables, decision 0023


RULE = Rule()


def matched_penalties(spectrum: FloatArray, n: int, room: int, sizes: FloatArray, penalties: FloatArray) -> FloatArray:
    """Penalties p at which the pilot has the effective ridge of sizes n′ and penalties p′.

    `spectrum` holds the positive eigenvalues d of the member's n × n kernel, `room` is n - 1 if the data were centred,
    else n. Sizes, penalties and the result have shape (T,). ``F(p) = n′ - df(p) - p′ (n - df(p))/p`` ascends in p;
    its root is found by bisection. It is 0 if κ̄(n′, p′) is no larger than κ̄(n, 0): out of reach, unless both are 0.

    Four times the rows with the same penalty have a smaller effective ridge; with none, the pilot cannot tell:

    >>> sizes, penalties = np.array([2.0, 8.0, 8.0]), np.array([1.0, 9.0, 0.0])
    >>> matched_penalties(np.array([1.0, 2.0]), 2, 2, sizes, penalties).round(3)
    array([1.   , 1.195, 0.   ])
    """
    if not len(spectrum):  # constant columns: the mean is predicted, whatever the penalty
        return penalties.astype(float)
    spare, finite = room - len(spectrum), np.isfinite(sizes)  # directions of the rows that the member cannot fit
    wanted = np.where(finite, sizes, n) - (n - room)

    def falls_short(log_p: FloatArray) -> BoolArray:
        p = np.exp(log_p)[:, None]
        shares = 1 / (spectrum + p)
        with np.errstate(over="ignore", divide="ignore"):  # penalties next to the smallest floats
            return np.asarray(wanted < shares @ spectrum + penalties * (shares.sum(axis=1) + spare / p[:, 0]))

    high = np.log(4 * (spectrum.sum() + penalties * (len(spectrum) + spare)) / wanted + spectrum[-1])
    low = np.log(np.minimum(spectrum[0], np.where(penalties > 0, penalties, spectrum[0]))) - 60.0
    has_root = finite & falls_short(low)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        short = falls_short(middle)
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    found = np.where(has_root, np.exp(0.5 * (low + high)), 0.0)
    return np.where(sizes == n, penalties, found)


def variance_shares(members: Sequence[MemberFit], penalties: FloatArray) -> FloatArray:
    """γ_rr′ of every pair of members at the pilot's n rows, shape (T, k, k), for penalties of shape (T, k)."""
    spare = [fit.rows.room - len(fit.spectrum) for fit in members]  # directions that the member cannot fit
    traces = [fit.residual_gains(penalties[:, r]).sum(axis=1) + spare[r] for r, fit in enumerate(members)]
    products = np.stack(traces, axis=1)[:, :, None] * np.stack(traces, axis=1)[:, None, :]
    n, T, rank = members[0].rows.n_samples, len(penalties), sum(len(fit.spectrum) for fit in members)
    few = 2 * T * n < rank  # then k products of n × n matrices take less time than k²/2 overlaps of members
    pairs = (
        np.stack([_pair_traces(members, row) for row in penalties]) if few else residual_pair_traces(members, penalties)
    )
    return np.asarray(np.clip(1 - products / np.maximum(n * pairs, TINY), 0.0, 1 - 1e-9))


def _pair_traces(members: Sequence[MemberFit], penalties: FloatArray) -> FloatArray:
    """``tr(R_r R_r′)`` at one row of penalties (k,), as inner products of the matrices R, in blocks of their rows."""
    n, k, intercept = members[0].rows.n_samples, len(members), float(members[0].rows.fit_intercept)
    gains = [
        fit.residual_gains(p[None])[0] - (not fit.spans_samples) for fit, p in zip(members, penalties, strict=True)
    ]
    traces = np.zeros((k, k))
    for own in np.array_split(np.arange(n), -(-k * n**2 // _ENTRIES)):
        unit = (np.arange(n) == own[:, None]) - intercept / n
        R = [
            (fit.left[:, own].T * gain) @ fit.left + (not fit.spans_samples) * unit
            for fit, gain in zip(members, gains, strict=True)
        ]
        flat = np.stack(R).reshape(k, -1)
        traces += flat @ flat.T
    return traces


def variance_gain(gamma: FloatArray) -> FloatArray:
    """``1/(1 - γ)``, the factor by which variance raises an error; infinite for γ ≥ 1."""
    return np.where(gamma < 1, 1 / np.where(gamma < 1, 1 - gamma, 1.0), np.inf)


def finite_size_error(pairs: FloatArray, before: FloatArray, after: FloatArray, n: int) -> FloatArray:
    """Standard error of transferred pairs because finite samples differ from theory; shape (t, k, k).

    The relative error of 1 - γ is about `Rule.finite_size`/(n (1 - γ)), and that of the quotient of errors follows.
    """
    gain = np.where(after < 1, variance_gain(after), 0.0)
    change = np.abs(1 - after / np.maximum(before, 1e-12))
    return np.asarray(np.abs(pairs) * gain**2 * change * RULE.finite_size / n)
