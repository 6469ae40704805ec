"""Prop. 2 in ball arithmetic, as printed."""

from flint import arb, ctx

from reference.aggregates import Wide, least_risk


class IllPosed(ValueError):
    pass


def proposition_two(s, c, omega, rho, zeta, alpha, nu, lam, eta, digits=None, n_features=None, aggregation="mean"):
    """The risk of two members: nu = (ν_1, ν_2, ν_12). Returns an arb, or "inf".

    At finite M the aligned part is what Prop. 1 says of a teacher along 1: of its power L = b + s c M a member explains
    L²/(s c M + κ̄ + a/ν), and two explain L² (s c M + a ν_12/(ν_1 ν_2)) over both denominators together.
    """
    kept = ctx.dps
    wide = not 1e-20 < alpha < 1e20
    for precision in [digits] if digits else [1400] if wide else [160, 480, 1400]:
        ctx.dps = precision
        try:
            total = _risk(s, c, omega, rho, zeta, alpha, nu, lam, eta, n_features, aggregation, precision)
        except Wide:
            continue
        finally:
            ctx.dps = kept
        if total == "inf" or aggregation == "mean" or total.rel_accuracy_bits() > 80:
            break
    return total


def _risk(s, c, omega, rho, zeta, alpha, nu, lam, eta, n_features, aggregation, digits):
    s, c, omega, rho, zeta, alpha = (arb(float(x)) for x in (s, c, omega, rho, zeta, alpha))
    n = [arb(float(x)) for x in nu]
    lam, eta = [arb(float(x)) for x in lam], [arb(float(x)) for x in eta]
    b = s * (1 - c)
    a = b + omega**2
    sig = []
    for r in range(2):
        if a == 0:
            sig.append(arb(0))
            continue
        t = lam[r] * n[r] / a
        B = alpha + n[r] + t
        inside = B * B - 4 * alpha * n[r]
        if bool(inside < 0) or not bool(B > 0):
            raise IllPosed
        if inside.contains(0):
            inside = arb(0)
        sig.append(2 * alpha / (B + inside.sqrt()))
    T = s * c * (n_features or 0)
    aligned = n_features is not None or not bool(c > 0)  # else the power of a teacher along 1 is infinite
    explained = []
    for r in range(2):
        own = b * b / a * n[r] * sig[r] if a != 0 else arb(0)
        along = (b + T) ** 2 / (T + a / (n[r] * sig[r])) if a != 0 and sig[r] != 0 else arb(0)
        explained.append((1 - rho**2) * own + rho**2 * (along if n_features is not None else own))
    power = b + rho**2 * T if aligned or rho == 0 else None
    pairs = [[arb(0), arb(0)], [arb(0), arb(0)]]
    for r in range(2):
        for q in range(2):
            v = n[r] if r == q else n[2]
            gamma = v * sig[r] * sig[q] / alpha
            zero = b * (1 - (b / a if a != 0 else 0) * (n[r] * sig[r] + n[q] * sig[q] - v * sig[r] * sig[q]))
            one = a * v / (n[r] * n[q]) - b if bool(c > 0) else zero
            if n_features is not None:
                one = _along(a, b, T, (n[r], n[q], v), (sig[r], sig[q]))
            top = (1 - rho**2) * zero + rho**2 * one + gamma * zeta**2 + (eta[r] ** 2 if r == q else 0)
            gap = 1 - gamma
            if not gap.contains(0):
                pairs[r][q] = top / gap
            elif not top.contains(0):
                pairs[r][q] = arb("inf")
    total = least_risk(aggregation, pairs, explained, power, digits)
    return "inf" if total is None else total


def _along(a, b, T, nu, sigma):
    """I¹ at finite M, as the difference that it is."""
    L = b + T
    if a == 0:
        return arb(0)
    below = [T + a / n * (1 - x) / x + a / n for n, x in zip(nu, sigma, strict=False)]
    both = L**2 * (T + a * nu[2] / (nu[0] * nu[1])) / (below[0] * below[1])
    return L - L**2 / below[0] - L**2 / below[1] + both
