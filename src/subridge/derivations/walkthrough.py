"""A page that walks through the derivation of Prop. 2, its formulas printed from the derived objects.

``python -m subridge.derivations.walkthrough`` writes the page to standard output.
"""

import re

import sympy as sp

from subridge.derivations import equicorrelated as eq
from subridge.derivations.block_matrix import BlockMatrix, block_latex
from subridge.derivations.notation import nu_r, rho

# <name> is replaced by the formula of that name.
_PAGE = r"""# How Proposition 2 follows from Proposition 1

This page is written by `subridge.derivations.walkthrough.page()`; every displayed formula is printed from a
SymPy object of the package, so the page changes when a derivation does. Notation: $b = s(1-c)$ is the variance
that a feature has to itself, $e = sc$ the variance that all features share, $a = b + \omega^2$. The second
member is written $s$ where the paper writes $r'$.

## 1. Everything is a block matrix

Features fall into four groups: seen by member $r$ only, by $s$ only, by both, by neither. The covariances and the
measurement matrices of Prop. 1 are made of blocks $x I + y \mathbf{1}\mathbf{1}^\top$:

$$
\Sigma_s = <signal>
$$

$$
A_r = <first>
$$

$$
A_s = <second>
$$

With $C_{rr} = A_r(\Sigma_s+\Sigma_0)A_r^\top$ and $x_r = \nu_{rr}/\hat q_r$, the matrix that Prop. 1 needs is
$R_r = (x_r I + C_{rr})^{-1} = (\hat q_r/\nu_{rr})\, G_r^{-1}$. For a member on its own, with $n_r$ features,
Sherman-Morrison gives

$$
R_r = <own_resolvent>
$$

and for a pair the Schur complement gives the same over two groups:

$$
R_r = <pair_resolvent>
$$

## 2. The saddle point

At finite size, $q_r = \frac1M \mathrm{tr}[G_r^{-1}\tilde\Sigma_{rr}]$ is

$$
q_r = <finite_q>
$$

and as $M \to \infty$ at fixed $\nu = n_r/M$ the shared variance drops out:

$$
q = <limiting_q>
$$

Together with $\hat q = \alpha/(\lambda+q)$ this is a quadratic in $\sigma = aS = a\hat q/(\nu + a\hat q)$, with
$t = \lambda\nu/a$:

$$
0 = <quadratic>
$$

Its smaller root is the solution; in a form that keeps its digits as the ridge vanishes:

$$
\sigma = <sigma>
$$

Read the other way round, the ridge is rational in $\sigma$:

$$
\lambda = <ridge>
$$

## 3. The variance factor

$\gamma_{rs} = \mathrm{tr}[R_r C_{rs} R_s C_{sr}]/(\alpha M)$ tends to

$$
\gamma_{rs} = <gamma>
$$

## 4. Weights drawn at random

For $w^* = P_\perp g$ the error needs $\frac1M\mathrm{tr}[P_\perp \mathcal{B}_{rs} P_\perp]$, with
$\mathcal{B}_{rs} = \Sigma_s - \Sigma_s(A_r^\top R_r A_r + A_s^\top R_s A_s)\Sigma_s$
$+\, \Sigma_s A_r^\top R_r C_{rs} R_s A_s\Sigma_s$. In the limit, and for a member with itself:

$$
I^0_{rs} = <random_bias>
$$

$$
I^0_{rr} = <own_random_bias>
$$

## 5. Weights along the shared direction

For $w^* = \mathbf{1}$ the error needs $\frac1M \mathbf{1}^\top\mathcal{B}_{rs}\mathbf{1}$, exactly

$$
\tfrac1M \mathbf{1}^\top\mathcal{B}_{rs}\mathbf{1} = <finite_aligned_bias>
$$

whose leading terms of order $M$ cancel and leave

$$
I^1_{rs} = <aligned_bias>
$$

$$
I^1_{rr} = <own_aligned_bias>
$$

With $T = scM$ held fixed instead of $c$, the same expression gives the form that joins $c = 0$ and $c > 0$:

$$
I^1_{rs}(T) = <uniform_aligned_bias>
$$

## 6. Consequences

The two parts mix with $1-\rho^2$ and $\rho^2$, noise is added, and all is divided by $1-\gamma$. Without ridge
$\sigma = \min(1, \alpha/\nu)$, so $I^0$ has three branches:

$$
F_0 = <few_samples> \qquad (\alpha < \nu_r < \nu_s)
$$

$$
F_0 = <more_samples> \qquad (\nu_r < \alpha < \nu_s)
$$

$$
F_0 = <many_samples> \qquad (\nu_r < \nu_s < \alpha)
$$

The error of one member without ridge, at $\rho = 0$ and $\alpha > \nu_r$:

$$
E_{rr} = <ridgeless_error>
$$

Its derivative in $\sigma$ at any ridge factors into a positive term times $\lambda^* - \lambda$, with

$$
\lambda^* = <optimal_ridge>
$$

which does not contain $\alpha$: the best ridge of a member is the same at every sample size. With infinitely many
samples a pair of members is left with

$$
E_{rs}(\alpha\to\infty) = <infinite_data_error>
$$

$$
E_{rr}(\alpha\to\infty) = <own_infinite_data_error>
$$
"""


def page() -> str:
    """Return the page as Markdown with LaTeX.

    >>> print(page().splitlines()[0])
    # How Proposition 2 follows from Proposition 1
    """
    pair = eq.member_pair()
    one = eq.member()
    few_samples, more_samples, many_samples = eq.ridgeless_random_bias().values()
    formulas = {
        "signal": pair.signal,
        "first": pair.first,
        "second": pair.second,
        "own_resolvent": one.resolvents[0],
        "pair_resolvent": pair.resolvents[0],
        "finite_q": sp.factor(one.q),
        "limiting_q": eq.saddle_point().rhs,
        "quadratic": eq.quadratic(),
        "sigma": eq.sigma_closed_form(),
        "ridge": eq.ridge_of_sigma(),
        "gamma": eq.gamma(),
        "random_bias": eq.random_bias(),
        "own_random_bias": eq.on_the_diagonal(eq.random_bias()),
        "finite_aligned_bias": sp.factor(pair.aligned_bias()),
        "aligned_bias": eq.aligned_bias(),
        "own_aligned_bias": eq.on_the_diagonal(eq.aligned_bias()),
        "uniform_aligned_bias": eq.uniform_aligned_bias(),
        "few_samples": few_samples,
        "more_samples": more_samples,
        "many_samples": many_samples,
        "ridgeless_error": sp.factor(eq.ridgeless_member_error(True).subs(rho, 0)),
        "optimal_ridge": eq.optimal_ridge(),
        "infinite_data_error": eq.infinite_data_pair_error(same=False),
        "own_infinite_data_error": sp.collect(eq.infinite_data_pair_error(same=True), nu_r),
    }
    return re.sub(r"<(\w+)>", lambda name: _latex(formulas[name[1]]), _PAGE)


def _latex(formula: sp.Expr | BlockMatrix) -> str:
    return block_latex(formula) if isinstance(formula, BlockMatrix) else str(sp.latex(formula))


if __name__ == "__main__":
    print(page(), end="")
