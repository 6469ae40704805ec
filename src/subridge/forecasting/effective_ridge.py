"""Which pilot penalty stands for a wanted sample size and ridge.

Degrees of freedom, bias and γ n of a member depend on data only through its effective ridge ``κ̄ = p/(n - df)``, where p
is the penalty on unscaled features and df the trace of the hat matrix, intercept included. The pilot at penalty p
therefore speaks for every (n′, p′) with ``p′/(n′ - df(p)) = p/(n - df(p))``.
"""

import numpy as np
from scipy.optimize.elementwise import find_root

from subridge.arrays.types import BoolArray, FloatArray
from subridge.spec.errors import ConvergenceError


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
    top, bottom = float(spectrum[-1]), float(spectrum[0])

    def excess(log_p: FloatArray, sizes: FloatArray, penalties: FloatArray) -> FloatArray:
        p = np.exp(log_p)[:, None]
        shares = 1 / (spectrum + p)
        return np.asarray(sizes - intercept - shares @ spectrum - penalties * (shares.sum(axis=1) + spare / p[:, 0]))

    # df(p) < Σd/p falls below n′ - intercept, and p′ n/p below what is left, for p beyond these.
    room = sizes - intercept
    high = np.log(4 * (spectrum.sum() + penalties * (len(spectrum) + spare)) / room + top)
    low = np.log(np.minimum(bottom, np.where(penalties > 0, penalties, bottom)) * 1e-9)
    below = excess(low, sizes, penalties) >= 0
    low = np.where(below, low - 40.0, low)
    lost = excess(low, sizes, penalties) >= 0  # a root this near to zero is zero
    found = np.full(len(sizes), -np.inf)
    if not lost.all():
        kept = ~lost
        result = find_root(excess, (low[kept], high[kept]), args=(sizes[kept], penalties[kept]))
        if not result.success.all():
            raise ConvergenceError("no pilot penalty was found for a wanted sample size; scale the features")
        found[kept] = result.x
    return np.exp(found)
