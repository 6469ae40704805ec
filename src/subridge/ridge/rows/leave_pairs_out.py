"""Left-out errors with one more sample left out: what members would have said had that sample never been there.

With ``R = I - H`` and left-out errors e, leaving out samples i and j together gives sample j the error
``(e_j - R_ij/R_jj e_i)/(1 - R_ij²/(R_ii R_jj))``: the formula for sets of samples, written for two. It is exact.
"""

import numpy as np

from subridge.arrays.namespace import namespace_of, take_last
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.ridge.rows.decomposition import MemberDecomposition
from subridge.ridge.rows.leave_one_out import leave_one_out

# Of the largest eigenvalue. Without any ridge two samples fewer may be the first that a member interpolates, where the
# formula is 0/0; this ridge is too small to be seen in the errors.
_LEAST_PENALTY = 1e-9

# Two samples that are alone in a direction determine each other; below this the second is not left out.
_LEAST_SLACK = 1e-10


def leave_pairs_out(
    member: MemberDecomposition, targets: Array, penalty: FloatArray, intercept_leverage: Array, left_out: IntArray
) -> Array:
    """Errors in weighted units at one penalty, shape (1,), without sample i, for each i of `left_out`: (m, C, n).

    Other arguments are those of `leave_one_out`. Sample i itself has its plain left-out error. Costs m n ρ
    multiplications.
    """
    Qt, d = member.left, member.spectrum
    p = max(float(penalty[0]), _LEAST_PENALTY * float(d[-1]) if d.shape[0] else 0.0)
    errors, diagonals = leave_one_out(member, targets, np.array([p]), intercept_leverage)
    ours = take_last(Qt, left_out)
    if member.spans_samples:
        across = (ours / (d + p)[:, None]).T @ Qt
    else:
        root = intercept_leverage**0.5
        across = -((ours * (d / (d + p))[:, None]).T @ Qt) - take_last(root, left_out)[:, None] * root[None, :]
    return without_partner(errors[0, ...], across, diagonals[0, ...], left_out)


def without_partner(errors: Array, across: Array, diagonal: Array, left_out: IntArray) -> Array:
    """The formula: errors (C, n), rows R_i of the residual operator (m, n), its diagonal (n,); shape (m, C, n)."""
    xp = namespace_of(errors)
    solid = diagonal > 0
    inverse = xp.where(solid, 1 / xp.where(solid, diagonal, xp.ones_like(diagonal)), xp.zeros_like(diagonal))
    share = across * inverse
    slack = 1 - across * share * take_last(inverse, left_out)[:, None]
    usable = slack > _LEAST_SLACK
    for place, i in enumerate(left_out):
        usable[place, int(i)] = False
    share = xp.where(usable, share, xp.zeros_like(share))
    slack = xp.where(usable, slack, xp.ones_like(slack))
    partner = xp.permute_dims(take_last(errors, left_out), (1, 0))[:, :, None]
    return (errors[None, :, :] - share[:, None, :] * partner) / slack[:, None, :]
