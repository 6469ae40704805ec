"""Gaussian projections averaged over their draw: the error of Prop. 1 from a spectrum alone, without any matrix.

Member r sees N_r projections A_r x with independent entries N(0, 1/M), drawn afresh. This is also an ensemble of linear
random features. With the eigenvalues d_i of Σ and φ_i = d_i/(d_i + μ_r), ψ_i = 1 - φ_i, the degrees of freedom
n_1 = Σφ_i, n_2 = Σφ_i² and x = n_1 - n_2 = Σφ_iψ_i, the ridge is renormalised twice, by the projections and by the
P_r rows (Atanasov, Zavatone-Veth and Pehlevan 2024, arXiv:2405.00592; Ruben et al. 2025, arXiv:2412.05418):

    κ_r (P_r - n_1) = λ_r N_r,    μ_r (N_r - n_1) = M κ_r,    so    μ_r (P_r - n_1)(N_r - n_1) = λ_r N_r M.

With e_i the power of the target that direction i explains and e_0 the rest, a = P_r - n_1 and b = N_r - n_1,

    B_rs = e_0 + Σ e_i ψ_i ψ_i′ + δ_rs x/(b + x) Σ e_i φ_i ψ_i,      αM γ_rs = Σ φ_i φ_i′ + δ_rs x²/(b + x),

and the rest is eq. 9 (GeneralErr). Here a and b come from their known difference and product, and every other quantity
is a sum of positive terms. So digits are lost only where x + ab/(a + b) is small beside n_1, which the bound includes.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import elementwise

from subridge.arrays.types import FloatArray
from subridge.model.aggregation import TINY, MemberMoments, Outputs, of_pairs, outer, quotient
from subridge.model.ensemble import Ensemble
from subridge.model.errors import ConvergenceError, RidgeError
from subridge.model.problem import Problem
from subridge.model.subsets import Projection
from subridge.theory.grid import GeneralGrid, output_products, row_factors
from subridge.theory.prop1 import pair_errors
from subridge.theory.saddle_point import EPS, VAST, quiet
from subridge.theory.tables import loads_of_features

_ROUNDING = 16.0  # of sums and products of a few factors, in eps; calibrated against high precision


class PowerSpectrum(NamedTuple):
    """Distinct positive eigenvalues of Σ, ascending, how often each occurs, and the target's power along them."""

    values: FloatArray  # d, shape (n,)
    counts: FloatArray
    power: FloatArray  # e_i, shape (n,)
    rest: float  # e_0
    is_exact: bool  # read from the diagonal, not from a decomposition


def power_spectrum(problem: Problem) -> PowerSpectrum:
    """The spectrum of a problem, without matrices if its features are independent."""
    M, w = problem.n_features, problem.teacher_weights
    parts = [each.diagonal_plus_low_rank() for each in (problem.signal_covariance, problem.noise_covariance)]
    is_exact = all(part is not None and not part[1].shape[1] for part in parts)
    if is_exact:
        total, power, left = loads_of_features(problem, *(part[0] for part in parts if part is not None))
        rest = float(left.sum())
    else:
        S = problem.signal_covariance
        total, U = np.linalg.eigh(S.dense() + problem.noise_covariance.dense())
        total = np.where(total > M * EPS * total[-1], total, 0.0)
        along = U.T @ S.apply(w)
        power = quotient(along**2, total * M)
        rest = max(float(w @ S.apply(w)) / M - float(power.sum()), 0.0)
    values, where = np.unique(total, return_inverse=True)
    first = int(values[0] == 0)
    counts, along = (np.bincount(where, weights)[first:].astype(float) for weights in (None, power))
    return PowerSpectrum(values[first:], counts, along, rest, is_exact)


def _renormalise(spectrum: PowerSpectrum, strength: FloatArray, N: int, P: FloatArray) -> tuple[FloatArray, ...]:
    """Members of one kind: solve min(P, N) = n_1 + min(a, b) for μ, given `strength` λNM and P, shape (G,).

    Returns φ and ψ, shape (G, n), and a = P - n_1, x = n_1 - n_2, x/(b + x), P (1 - γ_rr) = a + b x/(b + x) and the
    relative error, shape (G,) each.
    """
    d = spectrum.values
    counts = spectrum.counts
    rank = float(counts.sum())
    G = len(P)
    strength = np.where(np.isinf(P), 0.0, strength)  # with infinite data no ridge matters
    least = np.minimum(P, N)
    apart = abs(P - N)
    x = np.zeros(G)
    doubt = np.full(G, EPS)

    def smaller(mu: FloatArray, strength: FloatArray, apart: FloatArray) -> FloatArray:
        t = strength / mu  # a b
        return 2 * t / np.maximum(apart + np.sqrt(apart**2 + 4 * t), TINY)

    def defect(log_mu: FloatArray, least: FloatArray, strength: FloatArray, apart: FloatArray) -> FloatArray:
        mu = np.exp(log_mu)
        return least - (1 / (1 + mu[:, None] / d)) @ counts - smaller(mu, strength, apart)

    low = np.maximum(least - rank, 0.0)
    phi = np.sign(P)[:, None].repeat(len(d), axis=1)
    psi = 1 - phi
    inner = np.flatnonzero((P > 0) & (rank > 0) & ((strength > 0) | (least < rank)))
    if len(inner):
        given = n, pull, gap = least[inner], strength[inner], apart[inner]
        # Of the j = ⌊least⌋ + 1 largest eigenvalues none is below d_j, so that n_1 ≥ j d_j/(d_j + μ).
        j = np.floor(n) + 1
        by_rank = np.append(d[::-1], 0.0)[np.cumsum(counts[::-1]).searchsorted(j)] * (j - n) / n
        bottom = np.maximum(by_rank, pull / (n * (n + gap)))
        top = np.maximum(2 * (counts @ d) / n, 4 * pull / n**2)
        root = elementwise.find_root(defect, (np.log(bottom) - 1e-9, np.log(top) + 1e-9), args=given)
        if not root.success.all():
            raise ConvergenceError("no saddle point of the projections found; check the scale of the covariance")
        mu = np.exp(root.x)
        off = np.zeros(len(inner))
        for _ in range(2):  # a step of Newton's method, as the logarithm of a large μ has fewer digits than μ
            mu = mu * np.exp(-off)
            phi[inner] = 1 / (1 + mu[:, None] / d)
            psi[inner] = 1 / (1 + d / mu[:, None])
            low[inner] = smaller(mu, pull, gap)
            x[inner] = (phi[inner] * psi[inner]) @ counts
            slope = np.maximum(x[inner] + pull / mu / np.maximum(2 * low[inner] + gap, TINY), TINY)
            off = (n - phi[inner] @ counts - low[inner]) / slope
        doubt[inner] += EPS * n / slope
    high = low + apart
    a = np.where(P < N, low, high)
    b = np.where(P < N, high, low)
    back = quotient(x, b + x)
    # at a threshold a + b is small
    doubt += EPS * np.where(np.isfinite(P), P / np.maximum(a + b, TINY), 0.0)
    return phi, psi, a, x, back, a + b * back, np.minimum(_ROUNDING * doubt, 1.0)


@quiet
def projected_moments(
    problem: Problem, ensemble: Ensemble, grid: GeneralGrid
) -> tuple[MemberMoments, FloatArray | None]:
    """Moments of members and target on the grid's shape, and the bound of the pairs' rounding, shape (..., k, k).

    The bound is None unless the features are independent, as it does not include the rounding of a decomposition.
    """
    if (grid.lam < 0).any():
        raise RidgeError(f"ridge must be at least 0 for projections that are averaged over, got {grid.lam.min():g}")
    spectrum = power_spectrum(problem)
    per_point = 4 * ensemble.n_members * len(spectrum.values)
    E, c, F, doubt = grid.in_blocks(lambda part: _block(problem.n_features, spectrum, ensemble, part), per_point)
    power = np.full(grid.shape, spectrum.rest + float(spectrum.power.sum()))
    twice = np.maximum(*of_pairs(doubt))
    known = Outputs(c, F, doubt * c, twice * F, _ROUNDING * EPS * power)
    finite = np.where(np.isfinite(E), E, 0.0)
    return MemberMoments(E, power[..., None] - c, power, known), twice * finite if spectrum.is_exact else None


def _block(M: int, spectrum: PowerSpectrum, ensemble: Ensemble, grid: GeneralGrid) -> tuple[FloatArray, ...]:
    """E_rs, (G, k, k), c_r, (G, k), F_rs, (G, k, k), and the relative error of each member, (G, k)."""
    assert isinstance(ensemble.subsets, Projection)
    sizes = ensemble.subsets.subset_sizes
    f = grid.rows
    own = f.diagonal()
    e, counts = spectrum.power, spectrum.counts
    lam = np.minimum(grid.lam, VAST * spectrum.values.max(initial=1.0))
    # Members of one kind are solved once.
    traits = np.column_stack([sizes, own, lam.T])
    _, firsts, which = np.unique(traits, axis=0, return_index=True, return_inverse=True)
    kinds = [_renormalise(spectrum, lam[:, r] * sizes[r] * M, sizes[r], grid.alpha * M * own[r]) for r in firsts]
    phi, psi = (np.stack(part, axis=1) for part in zip(*(U[:2] for U in kinds), strict=True))  # (G, kinds, n)
    x = phi / np.sqrt(own[firsts])[:, None]
    apart = np.stack([(x[:, [u]] - x) ** 2 @ counts for u in range(x.shape[1])], axis=1)  # kind by kind, for memory
    sums = (psi * e) @ psi.mT, (phi * e) @ phi.mT, (phi * counts) @ phi.mT, apart
    bias, mean, trace, unlike = (each[:, which][:, :, which] for each in sums)
    spare, mixed, back, gap, doubt = np.transpose([U[2:] for U in kinds], (1, 2, 0))[..., which]
    left = ((phi * psi) @ e)[:, which]
    c = (phi @ e)[:, which]
    one = np.eye(len(f), dtype=bool)
    shared = f / np.sqrt(outer(own))
    returned = np.where(one, (back * left)[..., None], 0.0)  # the variance of a member over its projections
    # αMγ_rs, and αM(1 - γ_rs) from those of the members and from where they differ.
    product = np.where(one, trace + (mixed * back)[..., None], trace) * row_factors(f)
    squares = np.linalg.diagonal(trace) / own
    room = np.add(*of_pairs((spare + mixed) / own)) + (1 - shared) * np.add(*of_pairs(squares))
    room = np.where(one, (gap / own)[..., None], (room + shared * unlike) / 2)
    E, gamma, *_ = pair_errors(grid, M, spectrum.rest + bias + returned, product, room)
    return E, c, output_products(grid, mean + returned, gamma, E), doubt
