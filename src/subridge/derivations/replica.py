"""The replica calculation as a check of Prop. 1: both effective actions, their saddle points, their errors.

**Sums over eigenvalues.** In the eigenbases of Σ̃_rr (eigenvalues d_i) and Σ̃_r′r′ (eigenvalues f_j) every trace of the
calculation is a sum over i, over j, or over both with the overlaps B_ij. Two expressions are equal for every spectrum
if their coefficients agree once all sums are brought to one form; :func:`canonical` does that.

**Actions.** Both are written for arbitrary covariances. The saddle point is *solved* from the derivatives, so
that a wrong action would give a wrong error. Corrections to the paper that matter here: (λ+q)² in eq. 55 (qhat0sp),
1/M in the γ of the off-diagonal terms, η_r² in the rr entries of the off-diagonal action, and a ridge for each member.

The off-diagonal action is kept to first order in ĉ, which is exact for its use: the saddle point has ĉ = 0,
so only the value and the first derivative there are needed. To that order, with 𝐠 = 1/(1+q̂d), 𝐡 = 1/(1+r̂f),

    log det G = Σ log(1+q̂ d_i) + Σ log(1+r̂ f_j) + O(ĉ²)
    G⁻¹ = [[𝐠_i, −ĉ 𝐠_i B_ij 𝐡_j], [−ĉ 𝐡_j B_ij 𝐠_i, 𝐡_j]] + O(ĉ²).

**Effective ridge.** In κ̄ = 1/q̂ Prop. 1 is explicit: solving the saddle point for λ instead of q̂ needs no root finding.
λ(κ̄) is a sum over eigenvalues, and it increases with κ̄ wherever γ_rr < 1, which makes bracketed root finding safe.
"""

from functools import lru_cache

import sympy as sp

from subridge.derivations.notation import M, alpha, q, q_hat, zeta

i, j = sp.symbols("i j", integer=True, positive=True)
n_first, n_second = sp.symbols("N_r N_s", integer=True, positive=True)
# Eigenvalues of members r and r′, and A_rΣ_s w*/√ν_rr of both in the eigenbases.
d = sp.IndexedBase("d", positive=True)
f = sp.IndexedBase("f", positive=True)
t = sp.IndexedBase("t", real=True)
u = sp.IndexedBase("u", real=True)
B = sp.IndexedBase("B", real=True)  # Σ̃_rr′ between the two eigenbases


def averaged(term: sp.Expr) -> sp.Expr:
    """Return (1/M) Σ term, over those of the indices i and j that the term has.

    Parameters
    ----------
    term : sympy.Expr
        In the eigenvalues d_i of the first member, f_j of the second, or both.

    Returns
    -------
    sympy.Expr
        With a sum over all eigenvalues, or all pairs of them.

    Examples
    --------
    >>> averaged(d[i]), averaged(B[i, j] ** 2)
    (Sum(d[i], (i, 1, N_r))/M, Sum(B[i, j]**2, (i, 1, N_r), (j, 1, N_s))/M)
    """
    limits = [(index, 1, size) for index, size in ((i, n_first), (j, n_second)) if term.has(index)]
    return sp.Sum(term, *limits) / M


def _canonical_sum(total: sp.Sum) -> sp.Expr:
    """Split a sum into partial fractions of its eigenvalues, constants in front."""
    term = total.function
    for eigenvalue in (d[i], f[j]):
        if term.has(eigenvalue) and not term.has(sp.log):
            term = sp.Add(*[sp.apart(part, eigenvalue) for part in sp.Add.make_args(sp.expand(term))])
    pieces = []
    for part in sp.Add.make_args(sp.expand(term)):
        # Factored first: partial fractions leave constants multiplied into the denominators.
        constant, dependent = sp.factor(part).as_independent(i, j, as_Add=False)
        size = sp.Mul(*[upper - lower + 1 for _, lower, upper in total.limits])
        pieces.append(constant * (size if dependent == 1 else sp.Sum(dependent, *total.limits)))
    return sp.Add(*pieces)


def canonical(expression: sp.Expr) -> sp.Expr:
    """Bring every sum to partial fractions with the constants outside.

    Parameters
    ----------
    expression : sympy.Expr
        With sums over eigenvalues.

    Returns
    -------
    sympy.Expr
        Equal to it; equal sums look equal in it.

    Examples
    --------
    >>> x = sp.Symbol("x", positive=True)
    >>> canonical(averaged(d[i] / (x + d[i])))
    (N_r - x*Sum(1/(x + d[i]), (i, 1, N_r)))/M
    """
    return sp.sympify(expression).replace(lambda part: isinstance(part, sp.Sum), _canonical_sum)


def is_identically_zero(expression: sp.Expr) -> bool:
    """Whether an expression in sums vanishes for every spectrum.

    Parameters
    ----------
    expression : sympy.Expr
        With sums over eigenvalues.

    Returns
    -------
    bool
        True if it is proved.

    Examples
    --------
    >>> x = sp.Symbol("x", positive=True)
    >>> left = sp.diff(averaged(sp.log(1 + x * d[i])), x)
    >>> is_identically_zero(left - averaged(d[i] / (1 + x * d[i])))
    True
    """
    return bool(sp.factor(canonical(expression)) == 0)


def solve_linear(equation: sp.Expr, unknown: sp.Symbol) -> sp.Expr:
    """Solve an equation that is linear in one unknown, with sums as coefficients.

    Parameters
    ----------
    equation : sympy.Expr
        What is to be zero.
    unknown : sympy.Symbol
        What to solve for.

    Returns
    -------
    sympy.Expr
        The unknown, in everything else.

    Raises
    ------
    ValueError
        If the equation is not linear in the unknown.

    Examples
    --------
    >>> y = sp.Symbol("y")
    >>> solve_linear(2 * y - averaged(d[i]), y)
    Sum(d[i], (i, 1, N_r))/(2*M)
    """
    slope = sp.diff(equation, unknown)
    if slope.has(unknown):
        raise ValueError(f"the equation is not linear in {unknown}")
    return sp.factor(-equation.subs(unknown, 0) / slope)


# Both actions.
beta = sp.Symbol("beta", positive=True)
J = sp.Symbol("J", real=True)
signal_power = sp.Symbol("p_s", positive=True)  # w*ᵀΣ_s w*/M
lam_r, lam_s = sp.symbols("lambda_r lambda_s", positive=True)
eta_r, eta_s = sp.symbols("eta_r eta_s", nonnegative=True)
q0, q0_hat = sp.symbols("q_0 qhat_0", real=True)
r, r_hat = sp.symbols("r rhat", positive=True)
Q, R, C, c = sp.symbols("Q R C c", real=True)
Q_hat, R_hat, C_hat, c_hat = sp.symbols("Qhat Rhat Chat chat", real=True)

_g = 1 / (1 + q_hat * d[i])
_h = 1 / (1 + r_hat * f[j])
# Overlaps of the target with each member and with both, and of the members with each other.
_target_r = averaged(t[i] ** 2 * _g)
_target_s = averaged(u[j] ** 2 * _h)
_target_both = averaged(t[i] * _g * B[i, j] * _h * u[j])
_shared = averaged(_g * B[i, j] ** 2 * _h)
MEMBER_PARAMETERS = (q, q0, q_hat, q0_hat)
PAIR_PARAMETERS = (q, Q, r, R, c, C, q_hat, Q_hat, r_hat, R_hat, c_hat, C_hat)


def _conjugate(x: sp.Symbol, x_hat: sp.Symbol, x0: sp.Symbol, x0_hat: sp.Symbol) -> sp.Expr:
    """The terms that couple two order parameters and their conjugates."""
    return x * x_hat + beta * x0 * x_hat + beta * x * x0_hat


def _response(action: sp.Expr) -> sp.Expr:
    """Return lim (1/β) ∂𝔤/∂J of an action."""
    return sp.limit(sp.expand(sp.diff(action, J) / beta), beta, sp.oo)


@lru_cache
def member_action() -> sp.Expr:
    r"""Return the effective action of one member, with source J (eq. 52).

    >>> sp.diff(member_action(), q0).subs(J, 0)
    -\hat{q}*beta + alpha*beta/(lambda_r + q)
    """
    data = alpha * (sp.log(1 + q / lam_r) + beta * q0 / (lam_r + q))
    conjugate = -_conjugate(q, q_hat, q0, q0_hat)
    source = J * (q + beta * q0 - beta * zeta**2)
    weights = -beta * q_hat**2 * _target_r
    volume = averaged(sp.log(1 / _g)) + beta * q0_hat * averaged(d[i] * _g)
    return data + conjugate + source + weights + volume + beta * q_hat * (zeta**2 + eta_r**2 + signal_power)


def member_saddle() -> dict[sp.Symbol, sp.Expr]:
    r"""Return q, λ, q̂_0 and q_0 at the saddle point (eqs. 53 to 57), solved from the derivatives at J = 0, in q̂.

    Solving for λ instead of q̂ keeps everything explicit.

    >>> member_saddle()[q]
    Sum(d[i]/(\hat{q}*d[i] + 1), (i, 1, N_r))/M
    """
    action = member_action().subs(J, 0)
    q_value = solve_linear(sp.diff(action, q0_hat), q)
    ridge = solve_linear(sp.numer(sp.together(sp.diff(action, q0))), lam_r)
    # eq. 55 (qhat0sp), with (λ+q)²: at the saddle λ + q = α/q̂, which also holds the term α/(λ+q) − q̂ at zero.
    q0_hat_value = solve_linear(sp.diff(action, q).subs(lam_r, ridge), q0_hat)
    equation = sp.diff(action, q_hat).subs({q0_hat: q0_hat_value, q: q_value})
    q0_value = solve_linear(canonical(equation), q0)
    return {q: q_value, lam_r: ridge.subs(q, q_value), q0_hat: q0_hat_value.subs(q0, q0_value), q0: q0_value}


def member_gamma() -> sp.Expr:
    """Return γ_rr of Prop. 1 in the eigenbasis, with κ = α/q̂.

    >>> member_gamma().subs(q_hat, 0)
    0
    """
    return q_hat**2 / alpha * averaged((d[i] * _g) ** 2)


def member_error() -> sp.Expr:
    """Return E_rr = lim (1/β) ∂𝔤/∂J = q_0 − ζ² at the saddle point (eqs. 58 to 60).

    Examples
    --------
    It is Prop. 1 (eq. 9 (GeneralErr) with r = r′):

    >>> g = member_gamma()
    >>> bias = (signal_power - 2*q_hat*averaged(t[i]**2*_g) + q_hat**2*averaged(t[i]**2*d[i]*_g**2))
    >>> is_identically_zero(member_error() - (g*zeta**2 + eta_r**2 + bias) / (1 - g))
    True
    """
    return _response(member_action()).subs(q0, member_saddle()[q0])


@lru_cache
def pair_action() -> sp.Expr:
    """Return the effective action of two members to first order in ĉ, with source J (eqs. 98 to 104).

    >>> sp.factor(sp.diff(pair_action(), C).subs({c: 0, c_hat: 0, J: 0}))
    0
    """
    kappa_r = lam_r + q
    kappa_s = lam_s + r
    determinant = kappa_r * kappa_s - c**2
    data = alpha * (sp.log(determinant) + beta * (kappa_r * R + kappa_s * Q - 2 * c * C) / determinant)
    conjugate = -(_conjugate(q, q_hat, Q, Q_hat) + _conjugate(r, r_hat, R, R_hat) + 2 * _conjugate(c, c_hat, C, C_hat))
    source = J * (c + beta * C - beta * zeta**2)
    first = q_hat + c_hat
    second = r_hat + c_hat
    labels = beta * ((first + second) * (signal_power + zeta**2) + q_hat * eta_r**2 + r_hat * eta_s**2)
    explained = first**2 * _target_r + second**2 * _target_s - 2 * c_hat * first * second * _target_both
    spread = Q_hat * averaged(d[i] * _g) + R_hat * averaged(f[j] * _h) - 2 * c_hat * C_hat * _shared
    volume = averaged(sp.log(1 / _g)) + averaged(sp.log(1 / _h)) + beta * spread
    return data + conjugate + source + labels - beta * explained + volume


def _for_second(expression: sp.Expr) -> sp.Expr:
    """Replace the symbols of member r by those of member r′."""
    names = {q: r, q_hat: r_hat, lam_r: lam_s, eta_r: eta_s, n_first: n_second}
    swapped = expression.replace(
        lambda part: isinstance(part, sp.Sum), lambda part: averaged(part.function.subs({d[i]: f[j], t[i]: u[j]})) * M
    )
    return swapped.subs(names)


def pair_saddle() -> dict[sp.Symbol, sp.Expr]:
    """Return all parameters of the pair at J = 0 (eqs. 105 to 117): two member saddles, c = ĉ = 0, and C, Ĉ.

    >>> pair_saddle()[c], pair_saddle()[c_hat]
    (0, 0)
    """
    saddle = {c: sp.S.Zero, c_hat: sp.S.Zero}
    names = {q: (q, r), lam_r: (lam_r, lam_s), q0: (Q, R), q0_hat: (Q_hat, R_hat)}
    for name, value in member_saddle().items():
        first, second = names[name]
        saddle |= {first: value, second: _for_second(value)}
    action = pair_action().subs(J, 0)
    # λ + q = α/q̂ and λ′ + r = α/r̂ at the saddle
    ridges = {lam_r: alpha / q_hat - q, lam_s: alpha / r_hat - r}
    C_hat_value = solve_linear(sp.diff(action, c).subs({c: 0, c_hat: 0}).subs(ridges), C_hat)
    equation = sp.diff(action, c_hat).subs({c: 0, c_hat: 0, C_hat: C_hat_value})
    saddle[C] = solve_linear(equation, C)
    saddle[C_hat] = C_hat_value.subs(C, saddle[C])
    return saddle


def gradient(pair: bool) -> list[sp.Expr]:
    """Return the derivatives of an action at its saddle point; each is identically zero.

    Parameters
    ----------
    pair : bool
        Whether of the action of two members, with twelve parameters, or of one, with four.

    Returns
    -------
    list of sympy.Expr
        One derivative for each parameter.

    Examples
    --------
    >>> [all(is_identically_zero(slope) for slope in gradient(pair)) for pair in (False, True)]
    [True, True]
    """
    action, saddle, parameters = (
        (pair_action(), pair_saddle(), PAIR_PARAMETERS)
        if pair
        else (member_action(), member_saddle(), MEMBER_PARAMETERS)
    )
    return [sp.diff(action.subs(J, 0), parameter).subs(saddle) for parameter in parameters]


def crossed_gamma() -> sp.Expr:
    """Return γ_rr′ of Prop. 1 (eqs. 8 and 118) in the eigenbases, with κ = α/q̂ and κ′ = α/r̂.

    >>> crossed_gamma().subs(r_hat, 0)
    0
    """
    return q_hat * r_hat / alpha * _shared


def crossed_error() -> sp.Expr:
    """Return E_rr′ of Prop. 1 (eq. 9 (GeneralErr), r ≠ r′) in the eigenbases.

    Examples
    --------
    At q̂ = r̂ = 0, without data, the error is the power of the target:

    >>> crossed_error().subs({q_hat: 0, r_hat: 0})
    p_s
    """
    g = crossed_gamma()
    explained = q_hat * _target_r + r_hat * _target_s
    bias = signal_power - explained + q_hat * r_hat * _target_both
    return (g * zeta**2 + bias) / (1 - g)


def pair_error() -> sp.Expr:
    """Return E_rr′ = lim (1/β) ∂𝔤/∂J = C − ζ² at the saddle point (eqs. 119, 120).

    >>> is_identically_zero(pair_error() - crossed_error())
    True
    """
    return _response(pair_action()).subs(C, pair_saddle()[C])


# The effective ridge.
effective_ridge = sp.Symbol(r"\bar\kappa", positive=True)


def gamma() -> sp.Expr:
    """Return γ_rr = (1/(αM)) Σ_i (d_i/(κ̄ + d_i))².

    >>> gamma().subs(effective_ridge, 0).doit()
    N_r/(M*alpha)
    """
    return averaged((d[i] / (effective_ridge + d[i])) ** 2) / alpha


def ridge() -> sp.Expr:
    """Return λ = α κ̄ − (κ̄/M) Σ_i d_i/(κ̄ + d_i).

    >>> ridge().subs(effective_ridge, 0)
    0
    """
    # λ = α/q̂ − q with q̂ = 1/κ̄ and q = (1/M) Σ_i d_i/(1 + q̂ d_i), eq. 10 (saddle_point) in the eigenbasis of Σ̃_rr.
    return alpha * effective_ridge - effective_ridge * averaged(d[i] / (effective_ridge + d[i]))


def ridge_slope() -> sp.Expr:
    """Return dλ/dκ̄, which equals α(1 − γ_rr).

    >>> is_identically_zero(ridge_slope() - alpha * (1 - gamma()))
    True
    """
    return canonical(sp.diff(ridge(), effective_ridge))
