"""Left-out errors with one more sample left out: what members would have said had that sample never been there.

With ``R = I - H`` and left-out errors e, leaving out samples i and j together gives sample j the error
``(e_j - R_ij/R_jj e_i)/(1 - R_ij²/(R_ii R_jj))``: the formula for sets of samples, written for two. It is exact.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from subridge.arrays.namespace import namespace_of, take_last
from subridge.arrays.types import Array, IntArray
from subridge.ridge.rows.decomposition import MemberDecomposition
from subridge.ridge.rows.design import DenseDesign, SelectedDesign

# Of the largest eigenvalue. Without any ridge two samples fewer may be the first that a member interpolates, where the
# formula is 0/0; this ridge is too small to be seen in the errors.
_LEAST_PENALTY = 1e-9

# Two samples that are alone in a direction determine each other; below this the second is not left out.
_LEAST_SLACK = 1e-10


def least_penalty(member: "MemberDecomposition | SlimMember") -> float:
    """The smallest penalty at which pairs can be left out."""
    return _LEAST_PENALTY * float(member.spectrum[-1]) if member.spectrum.shape[0] else 0.0


@dataclass(frozen=True, eq=False)
class SlimMember:
    """A member of fewer features than samples without its n ρ numbers Q, which its design gives again where needed.

    Kept for all members Q takes as much memory as the training rows, and filling that costs more time than the copy of
    the design does.
    """

    spectrum: Array  # d, shape (ρ,)
    right: Array  # Vᵀ, shape (ρ, N_r)
    design: Callable[[], DenseDesign | SelectedDesign]

    spans_samples: ClassVar[bool] = False

    def between(self, samples: IntArray, gains: Array) -> Array:
        """As `MemberDecomposition.between`, with Q = F V/√d."""
        design = self.design()
        scores = self.right @ design.at(samples)
        return design.onto_samples((self.right.T @ (scores * (gains / self.spectrum)[:, None])).T)


def leave_pairs_out(
    member: MemberDecomposition | SlimMember,
    single: tuple[Array, Array],
    penalty: float,
    direction: Array | float | None,
    left_out: IntArray,
) -> Array:
    """Errors in weighted units without sample i, for each i of `left_out`; shape (m, C, n).

    `single` is what `leave_one_out` gives at this penalty: errors (C, n) and diagonals (n,); `direction` is what the
    intercept fits, shape (n,), or one number where that is the same for all samples. Sample i itself keeps its plain
    left-out error. Costs m n ρ multiplications.
    """
    d = member.spectrum
    across = member.between(left_out, (1.0 if member.spans_samples else -d) / (d + penalty))
    if member.spans_samples or direction is None:
        pass
    elif isinstance(direction, float):
        across -= direction**2
    else:
        across -= take_last(direction, left_out)[:, None] * direction[None, :]
    return without_partner(*single, across, left_out)


def without_partner(errors: Array, diagonal: Array, across: Array, left_out: IntArray) -> Array:
    """The formula: errors (C, n), the residual operator's diagonal (n,) and rows R_i (m, n); shape (m, C, n).

    It is computed as ``(R_ij e_i - R_jj e_j)/(R_ij²/R_ii - R_jj)``, in place of R_i: all of it fits into a cache.
    """
    own = take_last(diagonal, left_out)
    if not float(diagonal.min()) > 0:  # an interpolated sample, which says nothing of others, nor they of it
        xp, solid = namespace_of(errors), diagonal > 0
        across = xp.where(solid & (own > 0)[:, None], across, xp.zeros_like(across))
        diagonal, own = (xp.where(each > 0, each, xp.ones_like(each)) for each in (diagonal, own))
    for place, i in enumerate(left_out.tolist()):
        across[place, i] = 0.0
    slack = across * across
    slack *= (1 / own)[:, None]
    slack -= diagonal
    if not float(slack.max()) < -_LEAST_SLACK * float(diagonal.max()):
        xp, usable = namespace_of(errors), slack < -_LEAST_SLACK * diagonal
        across = xp.where(usable, across, xp.zeros_like(across))
        slack = xp.where(usable, slack, xp.zeros_like(slack) - diagonal)
    partner, found = take_last(errors, left_out).T[:, :, None], across[:, None, :]
    if errors.shape[0] == 1:
        found *= partner
    else:
        found = found * partner
    found -= errors * diagonal
    found /= slack[:, None, :]
    return found
