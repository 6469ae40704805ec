"""Whether an expression in positive symbols, their roots and trigonometric functions is identically zero."""

import random

import sympy as sp


def vanishes(expression: sp.Expr) -> bool:
    """True where the expression is zero for all values of its symbols, taken as positive.

    >>> a, b, x = sp.symbols("a b x", positive=True)
    >>> vanishes((1 / sp.sqrt(a * b)) ** 2 - 1 / (a * b)), vanishes(sp.sin(x) ** 2 + sp.cos(x) ** 2 - 1)
    (True, True)
    >>> vanishes(sp.sqrt(x) - x)
    False
    """
    numerator = sp.expand(sp.fraction(sp.together(tidied(expression)))[0])
    if numerator == 0:
        return True
    if _is_surely_not_zero(numerator):
        return False
    return bool(sp.simplify(sp.trigsimp(numerator)) == 0)


def tidied(expression: sp.Expr) -> sp.Expr:
    """The same with the roots of products as products of roots, symbols being positive.

    >>> x, y = sp.symbols("x y")
    >>> tidied(sp.sqrt(x * y) * sp.sqrt(x))
    x*sqrt(y)
    """
    return sp.powdenest(sp.expand_power_base(sp.sympify(expression), force=True), force=True)


def _is_surely_not_zero(expression: sp.Expr) -> bool:
    """A value at a random point that is clearly not rounding settles it."""
    draw = random.Random(0)
    at = {symbol: sp.Float(draw.uniform(0.5, 2), 60) for symbol in sorted(expression.free_symbols, key=str)}
    value = sp.N(expression.subs(at), 50)
    return bool(value.is_number and abs(value) > sp.Float(10) ** -40)
