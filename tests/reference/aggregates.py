"""The least risk of members under an aggregation, in ball arithmetic, from moments that are balls themselves.

The minimum over w ≥ 0 is that of some of the members with all their weights positive, and of members that are linearly
independent: every part of them is tried.
"""

from itertools import combinations

from flint import arb, arb_mat

_SILENT = 2.0**-1022  # power that doubles hold without all of its digits: such outputs are zero


class Wide(ArithmeticError):
    """The balls are too wide to say; more digits are needed."""


def least_risk(aggregation, pairs, explained, power, digits):
    """The risk as a ball, or None if it is infinite.

    Parameters
    ----------
    aggregation : {"mean", "scaled", "simplex", "free"}
    pairs : list of lists of arb
        E_rr′, infinite where a member is at its threshold.
    explained : list of arb
        c_r.
    power : arb or None
        v; None if it is infinite.
    digits : int
        Precision of the balls. Twins are singular at any: so are parts of the members that are at 240 digits, and
        single members at 960, whose outputs may be as small as 1e-200.
    """
    k = len(pairs)
    if power is None:
        aggregation = {"scaled": "mean", "free": "simplex"}.get(aggregation, aggregation)
    if aggregation in ("mean", "scaled"):
        mean = sum((each for row in pairs for each in row), arb(0)) / k**2
        if aggregation == "mean":
            return mean if mean.is_finite() else None
        if not mean.is_finite():
            return power
        c = sum(explained, arb(0)) / k
        F = mean - power + 2 * c
        return power if bool(F < _SILENT) else _minimum([[F]], [c], power, digits)
    usable = [r for r in range(k) if pairs[r][r].is_finite()]
    if aggregation == "simplex":
        # min wᵀEw over Σw = 1 is 1/(1ᵀE⁻¹1).
        if any(pairs[r][r] == 0 for r in usable):
            return arb(0)
        E = [[pairs[r][s] for s in usable] for r in usable]
        return 1 / -_minimum(E, [arb(1)] * len(usable), arb(0), digits) if usable else None
    F = [[pairs[r][s] - power + explained[r] + explained[s] for s in usable] for r in usable]
    heard = [i for i in range(len(usable)) if not bool(F[i][i] < _SILENT)]
    return _minimum([[F[i][j] for j in heard] for i in heard], [explained[usable[i]] for i in heard], power, digits)


def _minimum(A, b, start, digits):
    """The least ``start - bᵀw`` over parts of the members with ``A w = b`` and w ≥ 0."""
    found = [start]
    for size in range(1, len(b) + 1):
        for part in combinations(range(len(b)), size):
            try:
                w = arb_mat([[A[r][s] for s in part] for r in part]).solve(arb_mat([[b[r]] for r in part]))
            except ZeroDivisionError:
                if digits < (960 if size == 1 else 240):
                    raise Wide from None
                continue
            if all(not bool(w[i, 0] < 0) for i in range(size)):
                found.append(start - sum((b[r] * w[i, 0] for i, r in enumerate(part)), arb(0)))
    return min(found, key=lambda ball: ball.mid())
