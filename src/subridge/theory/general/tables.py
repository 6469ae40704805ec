"""Everything Prop. 1 needs to know of a problem, in whitened directions of its members.

A member's covariance Σ̃_rr has eigenvalues d_i; along direction i a sample ratio and a ridge fit the share
φ_i = d_i/(κ̄_r + d_i) and leave ψ_i = κ̄_r/(κ̄_r + d_i). With C_rs = Z_rᵀ Σ_rs Z_s, where Z_rᵀ Σ_rr Z_r = I,

    αM γ_rs = Σ_ij φ_i C_ij² φ_j,

and the bias is a form in either share. From the whole signal, with loadings a_r = Z_rᵀ A_r Σ_s w*,

    M B_rs = w*ᵀΣ_s w* - Σ φ_i a_i² - Σ φ_j a_j² + Σ_ij φ_i a_i C_ij a_j φ_j;

from what even infinite data leave, with residuals of product ρ_rs and projections μ of theirs,

    M B_rs = ρ_rs + Σ ψ_i a_i μ_i + Σ ψ_j a_j μ_j + Σ_ij ψ_i a_i C_ij a_j ψ_j,

for r = s a sum of squares. Coefficients are computed once, after which a grid point costs a row of a matrix product.
All carry the factor 1/M.
"""

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from subridge.arrays.types import FloatArray
from subridge.theory.general.decomposition import Doubt
from subridge.theory.general.spectrum import Spectrum


class Table(Protocol):
    """A matrix of shape (n_r, n_s), dense or sparse: all that is asked of it is a product from the left."""

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


@dataclass(frozen=True, eq=False)
class MemberTable:
    """A member by eigenvalues: squared loadings and what is uncertain about them, shape (n,) each.

    `whole` is a², as accurate as each can be by itself, `fitted` the same as coefficients of the fit to infinite data,
    which add up. `slip` and `solved`, in units of a, are the loadings' rounding and the part that was solved for;
    `drift` is the rounding of what the residual still projects on a direction, which is nothing in exact arithmetic.
    `theta` is the relative uncertainty of the eigenvalues, `size` that of the terms of the residual.
    """

    spectrum: Spectrum
    whole: FloatArray
    fitted: FloatArray
    slip: FloatArray
    solved: FloatArray
    drift: FloatArray
    theta: FloatArray
    doubt: Doubt
    is_plain: bool
    size: float

    @property
    def alignment(self) -> float:
        """How far the errors of different directions may add up: not at all after an orthogonal transformation."""
        return 1.0 if self.is_plain else float(np.sqrt(min(len(self.theta), 16)))


@dataclass(frozen=True, eq=False)
class PairTable:
    """Members r ≤ s together: C² summed over eigenspaces, a C a likewise, and what infinite data leave.

    `same` says that the two see the same features. `left_over_r`, shape (n_r,), is a_i μ_i, `left_over` is ρ_rs and
    `slip` its rounding.
    """

    same: bool
    trace: Table
    whole: Table
    fitted: Table
    left_over_r: FloatArray
    left_over_s: FloatArray
    left_over: float
    slip: float


PairTables: TypeAlias = dict[tuple[int, int], PairTable]


@dataclass(frozen=True, eq=False)
class Tables:
    """The members and pairs of a problem; `reach` is the size of the terms of the `signal_power` w*ᵀΣ_s w*/M.

    `may_be_refined` says that a slower decomposition would know small eigenvalues better.
    """

    n_features: int
    signal_power: float
    reach: float
    members: tuple[MemberTable, ...]
    pairs: PairTables
    may_be_refined: bool = False

    @property
    def n_members(self) -> int:
        return len(self.members)

    @property
    def spectra(self) -> tuple[Spectrum, ...]:
        return tuple(member.spectrum for member in self.members)

    def of_member(self, member: int) -> "Tables":
        """The tables of one member alone."""
        own = {(0, 0): self.pairs[member, member]}
        return Tables(self.n_features, self.signal_power, self.reach, (self.members[member],), own, self.may_be_refined)
