"""Everything Prop. 1 needs to know of a problem, on the spectra of its members.

With projectors Π_i on the eigenspaces of Σ̃_rr, R_r = (κ̄_r + Σ̃_rr)⁻¹ = Σ_i Π_i/(κ̄_r + d_i), so every trace and
quadratic form of Prop. 1 is linear in each member's resolvent. The coefficients are computed once, after which a
grid point costs one row of a matrix product.
"""

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from subridge.arrays.types import FloatArray
from subridge.theory.general.spectrum import Spectrum


class Table(Protocol):
    """A matrix of shape (n_r, n_s), dense or sparse: all that is asked of it is a product from the left."""

    def __rmatmul__(self, left: FloatArray, /) -> FloatArray: ...


PairTables: TypeAlias = dict[tuple[int, int], Table]


@dataclass(frozen=True, eq=False)
class Tables:
    """Coefficients of Prop. 1 in the members' resolvents; v = Σ_s w*, `signal_power` is w*ᵀ Σ_s w*/M.

    `explained` is ``vᵀ A_rᵀ Π_i A_r v / (M ν_rr)`` of every member r, shape (n_r,). By pairs (r, s) with r ≤ s, of
    shape (n_r, n_s), `trace` is ``tr[Π_i Σ̃_rs Π_j Σ̃_sr]/M`` and `cross` is ``vᵀ A_rᵀ Π_i Σ̃_rs Π_j A_s v / (M √(ν_rr
    ν_ss))``.
    """

    n_features: int
    signal_power: float
    spectra: tuple[Spectrum, ...]
    explained: tuple[FloatArray, ...]
    trace: PairTables
    cross: PairTables

    @property
    def n_members(self) -> int:
        return len(self.spectra)

    def resolvents(self, kappa_bar: FloatArray) -> list[FloatArray]:
        """``1/(κ̄_r + d_i)`` of every member at effective ridges (G, k), shape (G, n_r) each."""
        return [spectrum.resolvent(kappa_bar[:, r]) for r, spectrum in enumerate(self.spectra)]

    def of_member(self, member: int) -> "Tables":
        """The tables of one member alone."""
        own = (member, member)
        return Tables(
            self.n_features,
            self.signal_power,
            (self.spectra[member],),
            (self.explained[member],),
            {(0, 0): self.trace[own]},
            {(0, 0): self.cross[own]},
        )
