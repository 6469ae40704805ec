"""A page that walks through the derivation of Prop. 2, its formulas printed from the derived objects.

``python -m subridge.derivations.walkthrough`` writes the page to standard output.
"""

import sympy as sp

from subridge.derivations import equicorrelated as eq
from subridge.derivations.block_matrix import BlockMatrix, block_latex
from subridge.derivations.notation import nu_r, rho

_HEAD = """# How Proposition 2 follows from Proposition 1

This page is written by `subridge.derivations.walkthrough.page()`; every displayed formula is printed from a
SymPy object of the package, so the page changes when a derivation does. Notation: $b = s(1-c)$ is the variance
that a feature has to itself, $e = sc$ the variance that all features share, $a = b + \\omega^2$. The second
member is written $s$ where the paper writes $r'$.
"""


def _display(left: str, right: sp.Expr | BlockMatrix) -> str:
    written = block_latex(right) if isinstance(right, BlockMatrix) else sp.latex(right)
    return f"$$\n{left} = {written}\n$$\n"


def page() -> str:
    """Return the page as Markdown with LaTeX.

    >>> print(page().splitlines()[0])
    # How Proposition 2 follows from Proposition 1
    """
    pair, one = eq.member_pair(), eq.member()
    equation = eq.saddle_point()
    branches = {
        name.replace("alpha", r"\alpha").replace("nu", r"\nu"): branch
        for name, branch in eq.ridgeless_random_bias().items()
    }
    parts = [
        _HEAD,
        "## 1. Everything is a block matrix\n",
        "Features fall into four groups: seen by member $r$ only, by $s$ only, by both, by neither. "
        "The covariances and the measurement matrices of Prop. 1 are made of blocks "
        r"$x I + y \mathbf{1}\mathbf{1}^\top$:" + "\n",
        _display(r"\Sigma_s", pair.signal),
        _display("A_r", pair.first),
        _display("A_s", pair.second),
        r"With $C_{rr} = A_r(\Sigma_s+\Sigma_0)A_r^\top$ and $x_r = \nu_{rr}/\hat q_r$, the matrix that "
        r"Prop. 1 needs is $R_r = (x_r I + C_{rr})^{-1} = (\hat q_r/\nu_{rr})\, G_r^{-1}$. For a member on its "
        "own, with $n_r$ features, Sherman-Morrison gives\n",
        _display("R_r", one.resolvents[0]),
        "and for a pair the Schur complement gives the same over two groups:\n",
        _display("R_r", pair.resolvents[0]),
        "## 2. The saddle point\n",
        r"At finite size, $q_r = \frac1M \mathrm{tr}[G_r^{-1}\tilde\Sigma_{rr}]$ is" + "\n",
        _display("q_r", sp.factor(one.q)),
        r"and as $M \to \infty$ at fixed $\nu = n_r/M$ the shared variance drops out:" + "\n",
        _display(sp.latex(equation.lhs), equation.rhs),
        r"Together with $\hat q = \alpha/(\lambda+q)$ this is a quadratic in "
        r"$\sigma = aS = a\hat q/(\nu + a\hat q)$, with $t = \lambda\nu/a$:" + "\n",
        _display("0", eq.quadratic()),
        "Its smaller root is the solution; in a form that keeps its digits as the ridge vanishes:\n",
        _display(r"\sigma", eq.sigma_closed_form()),
        "Read the other way round, the ridge is rational in $\\sigma$:\n",
        _display(r"\lambda", eq.ridge_of_sigma()),
        "## 3. The variance factor\n",
        r"$\gamma_{rs} = \mathrm{tr}[R_r C_{rs} R_s C_{sr}]/(\alpha M)$ tends to" + "\n",
        _display(r"\gamma_{rs}", eq.gamma()),
        "## 4. Weights drawn at random\n",
        r"For $w^* = P_\perp g$ the error needs $\frac1M\mathrm{tr}[P_\perp \mathcal{B}_{rs} P_\perp]$, with "
        r"$\mathcal{B}_{rs} = \Sigma_s - \Sigma_s(A_r^\top R_r A_r + A_s^\top R_s A_s)\Sigma_s$ $+\, "
        r"\Sigma_s A_r^\top R_r C_{rs} R_s A_s\Sigma_s$. In the limit, and for a member with itself:" + "\n",
        _display("I^0_{rs}", eq.random_bias()),
        _display("I^0_{rr}", eq.on_the_diagonal(eq.random_bias())),
        "## 5. Weights along the shared direction\n",
        r"For $w^* = \mathbf{1}$ the error needs $\frac1M \mathbf{1}^\top\mathcal{B}_{rs}\mathbf{1}$, "
        "exactly\n",
        _display(r"\tfrac1M \mathbf{1}^\top\mathcal{B}_{rs}\mathbf{1}", sp.factor(pair.aligned_bias())),
        "whose leading terms of order $M$ cancel and leave\n",
        _display("I^1_{rs}", eq.aligned_bias()),
        _display("I^1_{rr}", eq.on_the_diagonal(eq.aligned_bias())),
        "With $T = scM$ held fixed instead of $c$, the same expression gives the form that joins $c = 0$ "
        "and $c > 0$:\n",
        _display("I^1_{rs}(T)", eq.uniform_aligned_bias()),
        "## 6. Consequences\n",
        r"The two parts mix with $1-\rho^2$ and $\rho^2$, noise is added, and all is divided by $1-\gamma$. "
        r"Without ridge $\sigma = \min(1, \alpha/\nu)$, so $I^0$ has three branches:" + "\n",
        *(f"$$\nF_0 = {sp.latex(branch)} \\qquad ({name})\n$$\n" for name, branch in branches.items()),
        r"The error of one member without ridge, at $\rho = 0$ and $\alpha > \nu_r$:" + "\n",
        _display("E_{rr}", sp.factor(eq.ridgeless_member_error(True).subs(rho, 0))),
        r"Its derivative in $\sigma$ at any ridge factors into a positive term times $\lambda^* - \lambda$, "
        "with\n",
        _display(r"\lambda^*", eq.optimal_ridge()),
        r"which does not contain $\alpha$: the best ridge of a member is the same at every sample size. With "
        r"infinitely many samples a pair of members is left with" + "\n",
        _display(r"E_{rs}(\alpha\to\infty)", eq.infinite_data_pair_error(same=False)),
        _display(r"E_{rr}(\alpha\to\infty)", sp.collect(eq.infinite_data_pair_error(same=True), nu_r)),
    ]
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(), end="")
