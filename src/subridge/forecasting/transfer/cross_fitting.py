"""The error of fitted weights on rows they were not fitted to.

Weights that are fitted to errors look better on them than on others, so every part of the rows is judged by weights
from the rest.
"""

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.ensemble.moments import MemberMoments
from subridge.forecasting.inputs.request import DrawnEnsemble
from subridge.forecasting.pilot.left_out import LeftOut
from subridge.forecasting.transfer.any_sum import OfAnySum
from subridge.forecasting.transfer.transfer import Transfer, transferred_pairs

_FOLDS = 20


def honest_error(left_out: LeftOut, moved: Transfer, ensemble: DrawnEnsemble) -> FloatArray:
    """The transferred error, or that of cross-fitted weights where it is larger; shape (t,)."""
    if not ensemble.fits_weights or isinstance(ensemble.aggregation, OfAnySum):  # these know what noise gave them
        return moved.error
    # Few rows and much transfer can make cross-fitted weights look better than those on their own rows.
    return np.maximum(moved.error, _cross_fitted_error(left_out.errors, moved, ensemble))


def _cross_fitted_error(errors: FloatArray, moved: Transfer, ensemble: DrawnEnsemble) -> FloatArray:
    t, k, _, n = errors.shape
    folds = min(_FOLDS, n)
    fold = np.random.default_rng(0).permutation(n) % folds
    products = []
    for number in range(folds):
        flat = errors[:, :, :, fold == number].reshape(t, k, -1)
        products.append(flat @ flat.transpose(0, 2, 1))
    whole, total = np.sum(products, axis=0), np.zeros(t)
    for number, part in enumerate(products):
        rows = np.count_nonzero(fold == number)
        rest = transferred_pairs((whole - part) / (n - rows), moved.variance) + moved.readout_pairs
        weights = ensemble.aggregation.weights(MemberMoments(rest))
        judged = MemberMoments(part / rows * moved.variance.error_ratio + moved.readout_pairs)
        total += rows / n * judged.risk_of(weights)
    return total
