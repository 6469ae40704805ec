"""The one place where estimators ask theory for member weights."""

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.theory.member_weights import member_weights


def simplex_weights(pairs: FloatArray) -> FloatArray:
    """Weights that minimise ``wᵀÊw`` with w ≥ 0 and Σw = 1, shape (k,)."""
    return np.asarray(member_weights(pairs, simplex=True))
