"""Misclassification by majority vote: exact on left-out rows at the pilot's size, carried to others by noise.

At the effective ridge of the wanted size, a member's score for a left-out row has the right mean over training sets but
the fluctuation of the pilot's size. The two differ by a Gaussian vector over members and classes with covariance

    Δ = Ê_(rc)(r′c′) (γ_rr′ - γ′_rr′)/(1 - γ′_rr′),        γ at n and γ′ at n′.

For n′ < n noise of covariance -Δ is added. For n′ > n there is too much of it: noise of covariance s Δ is added for
several s ≥ 0 and the share of wrong votes is continued along a line to s = -1 (simulation and extrapolation, Cook &
Stefanski 1994). On mixtures of Gaussians that is accurate, on deep features too high, where the share at n times the
quotient of squared errors at n′ and n does better; both err upwards, and the smaller is taken. docs/forecasting.md has
the figures.
"""

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.ensemble.aggregation.ties import most_votes, vote_counts
from subridge.forecasting.pilot import Pilot
from subridge.forecasting.transfer import equal_weights, transfer
from subridge.forecasting.variance import split_variance

_LEVELS = np.array([0.0, 0.5, 1.0, 1.5, 2.0])  # s
_DRAWS = 4000  # noisy rows per level, at least


def vote_errors(
    pilot: Pilot, ridges: FloatArray, penalties: FloatArray, sizes: FloatArray, one_hot: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Forecast the share of wrong majority votes.

    Parameters
    ----------
    pilot : Pilot
        Its targets are one-hot labels, centred or not.
    ridges : ndarray, shape (T, k)
        λ_r at the wanted sizes.
    penalties : ndarray, shape (T, k)
        Of the pilot, at the effective ridges of the wanted sizes.
    sizes : ndarray, shape (T,)
        n′.
    one_hot : ndarray, shape (C, n)

    Returns
    -------
    share, standard_error : ndarray, shape (T,)
        At n′ = n the share is the exact leave-one-out one. The standard error is that of n independent rows, and half
        of what the two ways to continue differ by.
    """
    truth = np.argmax(one_hot, axis=0)
    shares, spreads = np.empty(len(sizes)), np.empty(len(sizes))
    traces = pilot.pair_traces(penalties)
    for rows, errors, diagonals in pilot.left_out(penalties):
        leverages = pilot.leverages(penalties[rows], diagonals)
        squares = pilot.squared_diagonals(penalties[rows])
        variance = split_variance(errors, diagonals, leverages, squares, traces[rows], sizes[rows])
        surplus = (variance.now - variance.then) / np.maximum(1 - variance.then, 1e-12)
        for t, e in enumerate(errors):
            size = sizes[rows.start + t]
            # The same noise for every size: a curve without the noise of its own making.
            rng = np.random.default_rng(0)
            wrong = _wrong(one_hot - e, truth, e, surplus[t], int(np.sign(size - pilot.n)), rng)
            shares[rows.start + t] = np.clip(wrong.mean(), 0.0, 1.0)
            spreads[rows.start + t] = wrong.std() / np.sqrt(pilot.n - 1)
    proportional = _in_proportion(pilot, ridges, penalties, sizes, one_hot)
    smaller = np.where(sizes > pilot.n, np.minimum(shares, proportional), shares)
    gap = np.where(sizes > pilot.n, 0.5 * np.abs(shares - proportional), 0.0)
    return smaller, np.hypot(spreads, gap)


def _in_proportion(
    pilot: Pilot, ridges: FloatArray, penalties: FloatArray, sizes: FloatArray, one_hot: FloatArray
) -> FloatArray:
    """The share of wrong votes at n and the wanted ridge, times the quotient of squared errors at n′ and n."""
    truth = np.argmax(one_hot, axis=0)
    wrong, now = np.empty(len(sizes)), np.empty(len(sizes))
    for rows, errors, _ in pilot.left_out(ridges * pilot.subset_sizes):
        now[rows] = (errors.mean(axis=1) ** 2).sum(axis=(1, 2)) / pilot.n
        wrong[rows] = [_is_wrong(one_hot - e, truth).mean() for e in errors]
    quiet = np.zeros(pilot.n_members)
    then = transfer(pilot, penalties, sizes, weights_of=equal_weights, readout_noise=quiet, with_spread=False).error
    return np.minimum(wrong * then / now, 1.0)


def _wrong(
    scores: FloatArray,
    truth: FloatArray,
    errors: FloatArray,
    surplus: FloatArray,
    direction: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Expected wrongness of every row's vote, which extrapolation may put outside of [0, 1]; shape (n,)."""
    plain = _is_wrong(scores, truth)
    if direction == 0:
        return plain
    k, C, n = errors.shape
    flat = errors.reshape(k * C, n)
    covariance = (flat @ flat.T / n) * np.kron(surplus, np.ones((C, C)))
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2 * direction)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    levels = _LEVELS if direction > 0 else np.array([0.0, 1.0])
    shares = [plain]
    for level in levels[1:]:
        repeats = -(-_DRAWS // n)
        total = np.zeros(n)
        for _ in range(repeats):
            noise = (root @ rng.standard_normal((k * C, n))).reshape(errors.shape)
            total += _is_wrong(scores + np.sqrt(level) * noise, truth)
        shares.append(total / repeats)
    if direction < 0:
        return shares[-1]
    # The value at s = -1 of the least-squares line, as weights on the levels.
    centred = levels - levels.mean()
    weights = 1 / len(levels) + (-1 - levels.mean()) * centred / (centred @ centred)
    return np.asarray(np.tensordot(weights, np.array(shares), axes=1))


def _is_wrong(scores: FloatArray, truth: FloatArray) -> FloatArray:
    return np.asarray(most_votes(vote_counts(scores), scores.sum(axis=0)) != truth, dtype=np.float64)
