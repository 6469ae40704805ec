"""What Prop. 1 needs to know of a problem, in whitened directions of its members.

A member's covariance Σ̃_rr has eigenvalues d_i. Along direction i a sample ratio and a ridge fit the share
φ_i = d_i/(κ̄_r + d_i) and leave ψ_i = κ̄_r/(κ̄_r + d_i). With C_rs = Z_rᵀ Σ_rs Z_s, where Z_rᵀ Σ_rr Z_r = I,

    αM γ_rs = Σ_ij φ_i C_ij² φ_j,

and the bias is a form in either share. From the whole signal, with loadings a_r = Z_rᵀ A_r Σ_s w*,

    M B_rs = w*ᵀΣ_s w* - Σ φ_i a_i² - Σ φ_j a_j² + Σ_ij φ_i a_i C_ij a_j φ_j;

from what even infinite data leave, with residuals of product ρ_rs that project μ on the directions,

    M B_rs = ρ_rs + Σ ψ_i a_i μ_i + Σ ψ_j a_j μ_j + Σ_ij ψ_i a_i C_ij a_j ψ_j,

for r = s a sum of squares. The coefficients are computed once, by `dense` or `structured`. A grid point then costs a row
of a matrix product. All coefficients carry the factor 1/M.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.theory.saddle_point import Spectrum


class Table(Protocol):
    """A matrix of shape (n_r, n_s), dense or sparse, used only in products from the left."""

    def __rmatmul__(self, left: FloatArray, /) -> FloatArray: ...


@dataclass(frozen=True, eq=False)
class Weighted:
    """``diag(left) C diag(right)``, never formed; C = None is the identity."""

    left: FloatArray
    C: FloatArray | None
    right: FloatArray

    __array_ufunc__ = None  # so that NumPy leaves the product to this class

    def __rmatmul__(self, x: FloatArray, /) -> FloatArray:
        scaled = x * self.left
        return np.asarray((scaled if self.C is None else scaled @ self.C) * self.right)


class TableDoubt(NamedTuple):
    """What rounding may have done to a member's table; `slip`, `solved` and `drift` are in units of the loadings a."""

    theta: FloatArray  # relative error of each eigenvalue
    slip: FloatArray  # error of each loading
    solved: FloatArray  # part of each loading that comes from a linear system
    drift: FloatArray  # error of μ, which is zero for the member itself in exact arithmetic
    size: float  # root of the size of the terms of ρ_rr
    alignment: float = 1.0  # how far the errors of different directions may add up
    dropped: int = 0  # directions below rounding error, treated as zero
    dropped_size: float = 0.0  # eigenvalue that each of them may have
    blurred: float = 0.0  # eigenvalue below which kept directions mix with dropped ones


class MemberTable(NamedTuple):
    """A member by eigenvalues, shape (n,).

    `whole` is a_i², each as accurate as it can be by itself; `fitted` is the same from the fit to infinite data, whose
    coefficients add up.
    """

    spectrum: Spectrum
    whole: FloatArray
    fitted: FloatArray
    doubt: TableDoubt


class PairTable(NamedTuple):
    """Members r ≤ s together; `same` says that both see the same features."""

    same: bool
    trace: Table  # C_ij², summed over eigenspaces
    whole: Table  # a_i C_ij a_j
    fitted: Table  # the same from the fits to infinite data
    left_over_r: FloatArray  # a_i μ_i, shape (n_r,)
    left_over_s: FloatArray  # a_j μ_j, shape (n_s,)
    left_over: float  # ρ_rs
    slip: float  # error of ρ_rs


class Tables(NamedTuple):
    """The members and pairs r ≤ s of a problem.

    `signal_power` is w*ᵀΣ_s w*/M and `reach` the root of the size of its terms. `may_be_refined` says that a slower
    decomposition would know small eigenvalues better.
    """

    n_features: int
    signal_power: float
    reach: float
    members: tuple[MemberTable, ...]
    pairs: dict[tuple[int, int], PairTable]
    may_be_refined: bool = False

    def of_member(self, member: int) -> "Tables":
        """The tables of one member alone."""
        return self._replace(members=(self.members[member],), pairs={(0, 0): self.pairs[member, member]})


def product(table: Table, left: FloatArray, right: FloatArray) -> FloatArray:
    """``leftᵀ T right`` at every grid point, shape (G,)."""
    return np.asarray(np.sum((left @ table) * right, axis=1))
