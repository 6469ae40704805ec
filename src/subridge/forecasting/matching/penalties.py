"""Which pilot penalty stands for a wanted sample size and ridge.

Degrees of freedom, bias and γ n of a member depend on data only through its effective ridge ``κ̄ = p/(n - df)``, where p
is the penalty on unscaled features and df the trace of the hat matrix, intercept included. The pilot at penalty p
therefore speaks for every (n′, p′) with ``p′/(n′ - df(p)) = p/(n - df(p))``.
"""

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray

_HALVINGS = 44  # from some 100 in log p to ten digits


def pilot_penalties(
    spectrum: FloatArray, n: int, intercept: int, sizes: FloatArray, penalties: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Penalties at which the pilot has the effective ridge of the wanted sizes and penalties.

    Parameters
    ----------
    spectrum : ndarray, shape (ρ,)
        Positive eigenvalues d of the member's n × n kernel.
    n : int
        Rows of the pilot.
    intercept : int
        1 if the data were centred, which takes one degree of freedom, else 0.
    sizes, penalties : ndarray, shape (T,)
        n′, which may be infinite, and p′ ≥ 0.

    Returns
    -------
    pilot : ndarray, shape (T,)
        p; 0 where the wanted effective ridge is out of reach.
    in_reach : ndarray of bool, shape (T,)
        ``κ̄(n′, p′) ≥ κ̄(n, 0)``. A member with fewer features than rows has κ̄(n, 0) = 0: no limit.

    Notes
    -----
    ``F(p) = n′ - df(p) - p′ (n - df(p))/p`` ascends in p; its root is the answer. At p → 0 the last factor is Σ 1/d for
    a member that spans all samples and infinite for any other.

    Examples
    --------
    Four times the samples with the same penalty have a smaller effective ridge; with none, the pilot cannot tell:

    >>> pilot, in_reach = pilot_penalties(np.array([1.0, 2.0]), 2, 0, np.array([2.0, 8.0, 8.0]), np.array([1, 9.0, 0]))
    >>> pilot.round(3), in_reach
    (array([1.   , 1.195, 0.   ]), array([ True,  True, False]))
    """
    spare = n - intercept - len(spectrum)  # directions of the samples that the member cannot reach
    edge = sizes - intercept - len(spectrum)  # F at p → 0, but for its last term
    if spare:
        in_reach = np.ones(len(sizes), dtype=bool)
        interior = np.isfinite(sizes) & ((penalties > 0) | (edge < 0))
    else:
        at_zero = edge - penalties * (1 / spectrum).sum()
        in_reach = at_zero <= 0
        interior = at_zero < 0
    pilot = np.zeros(len(sizes))
    if interior.any():
        pilot[interior] = _roots(spectrum, intercept, spare, sizes[interior], penalties[interior])
    return pilot, in_reach


def _roots(spectrum: FloatArray, intercept: int, spare: int, sizes: FloatArray, penalties: FloatArray) -> FloatArray:
    """Bisection in log p for all sizes at once: with few sizes and many members a general solver is mostly overhead."""

    def below(log_p: FloatArray) -> BoolArray:
        p = np.exp(log_p)[:, None]
        shares = 1 / (spectrum + p)
        taken = shares @ spectrum + penalties * (shares.sum(axis=1) + spare / p[:, 0])
        return np.asarray(sizes - intercept < taken)

    # df(p) < Σd/p falls below n′ - intercept, and p′ n/p below what is left, for p beyond `high`. At `low` a root is
    # zero for all purposes.
    room = sizes - intercept
    high = np.log(4 * (spectrum.sum() + penalties * (len(spectrum) + spare)) / room + spectrum[-1])
    low = np.log(np.minimum(spectrum[0], np.where(penalties > 0, penalties, spectrum[0]))) - 60.0
    lost = ~below(low)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        under = below(middle)
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    return np.where(lost, 0.0, np.exp(0.5 * (low + high)))
