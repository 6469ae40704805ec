"""A derived expression in an arrangement fit for numbers, and how it is printed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy as sp
from sympy.printing.jscode import JavascriptCodePrinter

from subridge.derivations.notation import a, b, lam, nu, rho, sigma
from subridge.derivations.saddle_point import without_radical

# What the page knows in place of the paper's letters: scaled ridge t = λν/a, shares b/a and ω²/a of the bulk variance,
# 1 - σ, ρ², and inverses that are finite where the letters are not.
t, fitted, noisy, rest, rho2, noise, omega2, zeta2, eta2, x, y = sp.symbols(
    "t fitted noisy rest rho2 noise omega2 zeta2 eta2 x y", nonnegative=True
)
v, c, mean, bias, own, cross, g, gap, along, excess_r, excess_s, R, h, unseen = sp.symbols(
    "v c mean bias own cross gamma gap along excess_r excess_s R h unseen", real=True
)
_MEANINGS = {fitted: b / a, noisy: (a - b) / a, omega2: a - b, rho2: rho**2, rest: 1 - sigma, unseen: 1 - nu}


@dataclass(frozen=True, eq=False)
class Formula:
    """One function of the page.

    Attributes
    ----------
    name, says : str
        Its name in JavaScript, and what it returns.
    arguments : tuple of Symbol
    arrangement, derived : Expr
        The form that is printed, and the one that was proved.
    where : mapping
        What stands for arguments of the printed form in the derived one.
    """

    name: str
    says: str
    arguments: tuple[sp.Symbol, ...]
    arrangement: sp.Expr
    derived: sp.Expr
    where: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)

    def check(self) -> None:
        """Raise unless the printed form equals the derived one for every value of its arguments."""
        difference = self.arrangement.subs(dict(self.where)).subs(_MEANINGS) - self.derived
        if difference.has(t):
            difference = without_radical(difference.subs(t, lam * nu / a))
        if sp.factor(sp.together(difference)) != 0:
            raise ValueError(f"{self.name} is not what was derived: they differ by {difference}")

    def javascript(self) -> str:
        """The function, common parts shared."""
        shared, (value,) = sp.cse(self.arrangement, symbols=sp.numbered_symbols("_"))
        printer = _Printer()
        lines = [f"  const {name} = {printer.doprint(part)};" for name, part in shared]
        names = ", ".join(map(str, self.arguments))
        body = "\n".join([*lines, f"  return {printer.doprint(value)};"])
        return f"// {self.says}\nfunction {self.name}({names}) {{\n{body}\n}}\n"


class _Printer(JavascriptCodePrinter):  # type: ignore[misc]
    """SymPy's printer, with small powers as products: exact, and faster than Math.pow."""

    def _print_Pow(self, expr: sp.Pow) -> str:
        if expr.exp in (2, 3):
            factor = self._print(expr.base) if expr.base.is_Symbol else f"({self._print(expr.base)})"
            return f"({'*'.join([factor] * int(expr.exp))})"
        return str(super()._print_Pow(expr))
