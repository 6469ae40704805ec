"""Left-out errors by refits in ball arithmetic: weighted ridge, unpenalised intercept; ridge 0 is least norm."""

import numpy as np
import pytest

flint = pytest.importorskip("flint")  # absent in an install without extras
arb, arb_mat, ctx = flint.arb, flint.arb_mat, flint.ctx


def refit_errors(X, y, penalty, weights=None, intercept=True, groups=None, digits=80):
    """y_i - f^(-s)(x_i) for every i as floats, s its group or itself; penalty on the unscaled features (λ N_r)."""
    labels = np.arange(len(y)) if groups is None else np.asarray(groups)
    for more in (1, 3, 9):
        found = _refits(X, y, penalty, weights, intercept, labels, digits * more)
        if found is not None:
            return found
    raise ArithmeticError("unresolved")


def _refits(X, y, penalty, weights, intercept, labels, digits):
    n, N = X.shape
    w = np.ones(n) if weights is None else np.asarray(weights, float)
    zero = penalty == 0
    kept = ctx.dps
    ctx.dps = 16 * digits if zero else 2 * digits
    try:
        Xa = arb_mat(n, N, [float(v) for v in X.ravel()])
        ya = [arb(float(v)) for v in y]
        wa = [arb(float(v)) for v in w]
        size = sum((v * v for v in Xa.entries()), arb(0)).mid()
        p = arb(float(penalty))
        if zero:
            p = (size if bool(size > 0) else arb(1)) * arb(10) ** -120
        out = np.empty(n)
        for label in np.unique(labels):
            rest = [int(j) for j in np.flatnonzero(labels != label)]
            m = len(rest)
            total = sum((wa[j] for j in rest), arb(0))
            if intercept:
                mean = [sum((wa[j] * Xa[j, c] for j in rest), arb(0)) / total for c in range(N)]
                ybar = sum((wa[j] * ya[j] for j in rest), arb(0)) / total
            else:
                mean, ybar = [arb(0)] * N, arb(0)
            root = [wa[j].sqrt() for j in rest]
            F = arb_mat(m, N, [((Xa[j, c] - mean[c]) * root[a]).mid() for a, j in enumerate(rest) for c in range(N)])
            g = arb_mat(m, 1, [((ya[j] - ybar) * root[a]).mid() for a, j in enumerate(rest)])
            if m > N:
                G = F.transpose() * F + arb_mat(N, N, [p if a == b else 0 for a in range(N) for b in range(N)])
                beta = G.solve(F.transpose() * g)
            else:
                K = F * F.transpose() + arb_mat(m, m, [p if a == b else 0 for a in range(m) for b in range(m)])
                beta = F.transpose() * K.solve(g)
            for i in map(int, np.flatnonzero(labels == label)):
                x = arb_mat(1, N, [(Xa[i, c] - mean[c]).mid() for c in range(N)])
                error = ya[i] - ybar - (x * beta)[0, 0]
                if not bool(error.rad() < (abs(error.mid()) + abs(ya[i])) * arb(10) ** -25):
                    return None
                out[i] = float(error.mid())
        return out
    finally:
        ctx.dps = kept
