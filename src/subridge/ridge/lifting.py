"""A member's weights as weights on all features, in any array library."""

from typing import Any

import array_api_compat
import numpy as np

from subridge.arrays.namespace import like
from subridge.spec.plan import SubsetPlan

Array = Any


def lift(plan: SubsetPlan, r: int, weights: Array) -> Array:
    """``w A_r``: weights of member r on all features, shape (C, N_r) to (C, M).

    Examples
    --------
    >>> lift(SubsetPlan.from_indices([[0, 2]], 3), 0, np.array([[1.0, 2.0]]))
    array([[1., 0., 2.]])
    """
    A = plan.measurements[r]
    if A.ndim == 2:
        return weights @ like(A, weights)
    xp = array_api_compat.array_namespace(weights)
    device = array_api_compat.device(weights)
    lifted = xp.zeros((weights.shape[0], plan.n_features), dtype=weights.dtype, device=device)
    lifted[:, A if isinstance(weights, np.ndarray) else xp.asarray(np.array(A), device=device)] = weights
    return lifted
