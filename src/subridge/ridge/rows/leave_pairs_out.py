"""Left-out errors with one more sample left out: what members would have said had that sample never been there.

With ``R = I - H`` and left-out errors e, leaving out samples i and j together gives sample j the error
``(e_j - R_ij/R_jj e_i)/(1 - R_ij²/(R_ii R_jj))``: the formula for sets of samples, written for two. It is exact.
"""

from subridge.arrays.namespace import namespace_of, take_last
from subridge.arrays.types import Array, IntArray
from subridge.ridge.rows.decomposition import MemberDecomposition

# Of the largest eigenvalue. Without any ridge two samples fewer may be the first that a member interpolates, where the
# formula is 0/0; this ridge is too small to be seen in the errors.
_LEAST_PENALTY = 1e-9

# Two samples that are alone in a direction determine each other; below this the second is not left out.
_LEAST_SLACK = 1e-10


def least_penalty(member: MemberDecomposition) -> float:
    """The smallest penalty at which pairs can be left out."""
    return _LEAST_PENALTY * float(member.spectrum[-1]) if member.spectrum.shape[0] else 0.0


def leave_pairs_out(
    member: MemberDecomposition, single: tuple[Array, Array], penalty: float, leverage: Array, left_out: IntArray
) -> Array:
    """Errors in weighted units without sample i, for each i of `left_out`; shape (m, C, n).

    `single` is what `leave_one_out` gives at this penalty: errors (C, n) and diagonals (n,); `leverage` that of the
    intercept. Sample i itself keeps its plain left-out error. Costs m n ρ multiplications.
    """
    Qt, d = member.left, member.spectrum
    gains = (1.0 if member.spans_samples else d) / (d + penalty)
    across = (take_last(Qt, left_out) * gains[:, None]).T @ Qt
    if not member.spans_samples:
        root = leverage**0.5
        across = -across - take_last(root, left_out)[:, None] * root[None, :]
    return without_partner(*single, across, left_out)


def without_partner(errors: Array, diagonal: Array, across: Array, left_out: IntArray) -> Array:
    """The formula: errors (C, n), the residual operator's diagonal (n,) and rows R_i (m, n); shape (m, C, n)."""
    xp = namespace_of(errors)
    solid = diagonal > 0
    if not bool(xp.all(solid)):  # an interpolated sample, which says nothing of others
        diagonal = xp.where(solid, diagonal, xp.full_like(diagonal, float("inf")))
    share = across / diagonal
    slack = 1 - share * across / take_last(diagonal, left_out)[:, None]
    for place, i in enumerate(left_out):
        share[place, int(i)], slack[place, int(i)] = 0.0, 1.0
    if not bool(xp.all(slack > _LEAST_SLACK)):
        usable = slack > _LEAST_SLACK
        share = xp.where(usable, share, xp.zeros_like(share))
        slack = xp.where(usable, slack, xp.ones_like(slack))
    partner = xp.permute_dims(take_last(errors, left_out), (1, 0))[:, :, None]
    return (errors[None, :, :] - share[:, None, :] * partner) / slack[:, None, :]
