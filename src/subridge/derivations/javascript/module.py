"""All formulas of the page as one file."""

from functools import lru_cache

from subridge.derivations.javascript.ensemble_sizes import size_formulas
from subridge.derivations.javascript.formula import Formula
from subridge.derivations.javascript.members import bias_formulas, error_formulas, saddle_point_formulas


@lru_cache
def formulas() -> tuple[Formula, ...]:
    """Every function of the page.

    Examples
    --------
    >>> print(next(formula for formula in formulas() if formula.name == "crossGamma").javascript())
    // γ_rs.
    function crossGamma(alpha, nu_rs, sigma_r, sigma_s) {
      return nu_rs*sigma_r*sigma_s/alpha;
    }
    <BLANKLINE>
    """
    return (*saddle_point_formulas(), *bias_formulas(), *error_formulas(), *size_formulas())


def javascript_module() -> str:
    """The text of ``formulas.js``.

    Raises
    ------
    ValueError
        A formula differs from what was derived.
    """
    for formula in formulas():
        formula.check()
    head = "// Printed by SymPy; do not edit, but run: python -m subridge.derivations.javascript FILE\n"
    return "\n".join([head, *(formula.javascript() for formula in formulas())])
