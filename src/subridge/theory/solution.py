"""The order parameters of the saddle point, per member and per pair."""

from dataclasses import dataclass, replace

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class OrderParameters:
    """Solution of eq. 10 (saddle_point).

    Attributes
    ----------
    kappa : ndarray, shape (..., k)
        κ_r = λ_r + q_r.
    q, q_hat : ndarray, shape (..., k)
        q_r and q̂_r; q̂_r is inf for a ridgeless member above its interpolation threshold, and at infinite data.
    S : ndarray, shape (..., k), or None
        S_r of Prop. 2; None for a general problem, where it has no counterpart.
    gamma : ndarray, shape (..., k, k)
        γ_rr′.
    status : ndarray of bool, shape (..., k)
        True where the root was found.
    residual : ndarray, shape (..., k)
        Relative defect of the saddle-point equation at the solution.

    See Also
    --------
    subridge.order_parameters : solves for them.

    Examples
    --------
    A ridgeless member that sees half of the features, with half as many samples as those:

    >>> import subridge as sr
    >>> found = sr.order_parameters(sr.EquicorrelatedProblem(), sr.Ensemble([0.5]), 0.25)
    >>> isinstance(found, OrderParameters), found.kappa, found.effective_ridge
    (True, array([0.5]), array([2.]))
    """

    kappa: FloatArray
    q: FloatArray
    q_hat: FloatArray
    S: FloatArray | None
    gamma: FloatArray
    status: BoolArray
    residual: FloatArray

    @property
    def effective_ridge(self) -> FloatArray:
        """Effective ridge κ̄_r = 1/q̂_r = κ_r/α, shape (..., k)."""
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / self.q_hat)


def reshaped(flat: OrderParameters, shape: tuple[int, ...]) -> OrderParameters:
    """The same on a grid of another shape, given on a flat one."""
    fields = {name: field for name, field in vars(flat).items() if field is not None}
    return replace(flat, **{name: field.reshape(*shape, *field.shape[1:]) for name, field in fields.items()})
