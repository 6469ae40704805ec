"""One member at one ridge, solved without a decomposition.

With ``K = (FᵀF + p)⁻¹ Fᵀ``, shape (N_r, n), the weights are Kg, the hat matrix is ``uuᵀ + F K``, and what the member
says of a new row x - x̄ is ``(x - x̄)ᵀ K g``. Its cost is that of FᵀF, of an inverse and of one product, N_r² (1.5 n +
N_r) multiplications; eigenvectors would cost 9 N_r³ more. It serves where the penalty keeps the condition small;
elsewhere `decompose` does.
"""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.cholesky import solve_definite
from subridge.arrays.namespace import device_of, namespace_of
from subridge.arrays.types import Array
from subridge.ridge.rows.design import DenseDesign, Design

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class SolvedMember:
    """A member at one penalty: its smoother K, shape (N_r, n), and what leave-one-out divides by, shape (n,)."""

    smoother: Array
    diagonal: Array

    def coefficients(self, targets: Array) -> Array:
        """Weights on the unscaled features from centred and weighted labels g, shape (C, n); shape (C, N_r)."""
        return targets @ self.smoother.T

    def errors(self, design: Design, targets: Array, coefficients: Array) -> Array:
        """``√w_i (y_i - f^(-i)(x_i))`` from g, both of shape (C, n), and the weights."""
        return (targets - design.onto_samples(coefficients)) / self.diagonal


def solve_member(design: Design, penalty: float, intercept_leverage: Array, accuracy: float) -> SolvedMember | None:
    """Solve a member with fewer features than rows, or None where relative errors could exceed `accuracy`.

    >>> F = np.array([[3.0, 0.0, -3.0]])
    >>> solve_member(DenseDesign(F), 2.0, np.full(3, 1 / 3), 1e-9)
    SolvedMember(smoother=array([[ 0.15,  0.  , -0.15]]), diagonal=array([0.21666667, 0.66666667, 0.21666667]))
    >>> solve_member(DenseDesign(F), 0.0, np.full(3, 1 / 3), 1e-9) is None
    True
    """
    N = design.n_features
    if not isinstance(design, DenseDesign) or design.n_samples <= N + 1 or not penalty > 0:
        return None
    gram = design.gram()
    xp = namespace_of(gram)
    noise = 4 * _EPS * (float(abs(gram).sum(axis=0).max()) + penalty) / penalty
    if not noise < accuracy:
        return None
    shifted = gram + penalty * xp.eye(N, dtype=gram.dtype, device=device_of(gram))
    smoother = solve_definite(shifted, design.transposed)
    diagonal = 1 - intercept_leverage - (design.transposed * smoother).sum(axis=0)
    return SolvedMember(smoother, diagonal) if noise < accuracy * float(diagonal.min()) else None
