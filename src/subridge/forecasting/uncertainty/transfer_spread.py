"""The stage that says how uncertain a transferred error is."""

import numpy as np

from subridge.forecasting.pilot.left_out import LeftOut
from subridge.forecasting.transfer.transfer import Transfer
from subridge.forecasting.transfer.variance import variance_gain
from subridge.forecasting.uncertainty.jackknife import jackknife
from subridge.forecasting.uncertainty.spread import Spread

# Near its threshold, at a distance of n (1 - γ) samples, a member's risk differs from theory by about this over that
# distance.
_FINITE_SIZE = 1.5


def transfer_spread(left_out: LeftOut, moved: Transfer) -> Spread:
    """Spread of a transferred error over pilots."""
    variance, weights, n = moved.variance, moved.weights, left_out.pilot.n_samples
    ratio = np.where(np.isfinite(variance.error_ratio), variance.error_ratio, 0.0)
    form = weights[:, :, None] * weights[:, None, :] * ratio
    gain_pilot, gain_new = 1 / (1 - variance.gamma_pilot), variance_gain(variance.gamma_new)
    # The relative error of the ratio of errors follows from that of 1 - γ, which is _FINITE_SIZE/(n (1 - γ)).
    change = np.abs(1 - variance.gamma_new / np.maximum(variance.gamma_pilot, 1e-12))
    relative = _FINITE_SIZE * gain_pilot / n * change * np.where(np.isfinite(gain_new), gain_new, 0.0)
    allowance = (np.abs(form * left_out.pairs) * relative).sum(axis=(1, 2))
    return jackknife(left_out, form, gain_pilot, allowance)
