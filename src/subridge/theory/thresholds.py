"""Sample ratios at which a learning curve is evaluated, so that a line through its points has no corners at peaks."""

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray

# Distances from a threshold, as shares of it: each 1.2 times the one before.
_ABOVE = np.geomspace(1e-4, 2, 55)
_BELOW = _ABOVE[_ABOVE < 1]


def around_thresholds(sample_ratios: ArrayLike, subset_fractions: ArrayLike) -> FloatArray:
    """Add points that approach the thresholds α = ν_r, between the first and the last of the sample ratios.

    The error of a member peaks where it has as many samples as features. The smaller its ridge, the sharper the peak;
    without a ridge it grows like 1/|α − ν_r|. Infinite ratios stay at the end.

    Parameters
    ----------
    sample_ratios : array_like
        α, at least two of them finite.
    subset_fractions : array_like
        ν_r of every member.

    Returns
    -------
    numpy.ndarray
        Ascending and distinct; contains the given ones, except those that equal a threshold up to rounding.

    Examples
    --------
    >>> ratios = around_thresholds([0.05, 0.5, 1.0, np.inf], [0.2])
    >>> bool((ratios == 0.2).any()), len(ratios), float(ratios[0]), float(ratios[-1])
    (True, 109, 0.05, inf)
    """
    given = np.unique(np.asarray(sample_ratios, dtype=float))
    finite = given[np.isfinite(given)]
    peaks = np.unique(np.asarray(subset_fractions, dtype=float))
    peaks = peaks[np.diff(peaks, prepend=-1.0) > 1e-9]
    close = np.concatenate([peaks, *np.outer(1 - _BELOW, peaks), *np.outer(1 + _ABOVE, peaks)])
    close = close[(close >= finite[0]) & (close <= finite[-1])]
    # A given ratio that equals a threshold up to rounding would be a point right beside the peak.
    apart = abs(given[:, None] - peaks).min(axis=1, initial=np.inf) > 1e-9
    return np.unique(np.concatenate([given[apart], close]))
