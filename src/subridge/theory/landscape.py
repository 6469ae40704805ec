"""The ensemble's error as a function of its members' effective ridges, with its derivative along any direction.

Effective ridges κ̄_r, not ridges, are the natural coordinates: E_g is an explicit function of them, the physical branch
is the open half-line above a floor, and λ_r(κ̄_r) is explicit and increasing, negative ridges included.

The formulas are rational, so they are evaluated at κ̄ + ih·direction with a tiny h. The imaginary part divided by h is
the derivative, to as many digits as the value (complex step).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from subridge.arrays.types import FloatArray, IntArray
from subridge.model.aggregation import LinearAggregation, MemberMoments, Outputs, of_pairs, outer, quotient
from subridge.theory.dead import dead_errors
from subridge.theory.grid import EquicorrelatedGrid, GeneralGrid, readout, row_factors
from subridge.theory.prop2 import aligned_bias, bulk_of_members, unaligned_bias
from subridge.theory.saddle_point import TwoArrays, effective_ridges, floor, quiet
from subridge.theory.shifted import ShiftedTables, errors_on_test
from subridge.theory.tables import Tables

ComplexArray: TypeAlias = NDArray[Any]
OnTest: TypeAlias = Callable[[ComplexArray, IntArray, ComplexArray, ComplexArray, ComplexArray], ComplexArray]

STEP = 2.0**-100  # h: its square is below rounding in every sum


@dataclass(frozen=True, eq=False)
class Landscape:
    """E_g over G grid points and k members, everywhere differentiable on the physical branch.

    The weights of `aggregation` are constant or minimise the error over a fixed set, so that they may be held fixed in
    its derivative. Callables take κ̄ or λ, shape (n, k), of the n grid points `rows`.
    """

    grid: GeneralGrid | EquicorrelatedGrid  # flat
    aggregation: LinearAggregation
    signal: FloatArray  # power of the signal orthogonal to 1, shape (G,)
    power: FloatArray  # of the whole target, shape (G,)
    floor: FloatArray  # lower end of the branch, shape (G, k)
    scales: FloatArray  # all eigenvalues: the error changes near these values of κ̄
    ridge: Callable[[Any, IntArray | slice], Any]  # λ_r(κ̄_r)
    kappa_bar: Callable[[FloatArray, IntArray], FloatArray]  # its inverse; a λ below the lowest is raised to it
    # Bias and γ of every pair (n, k, k), and of the mean outputs c_r (n, k) and D_rs/(c_r c_s) (n, k, k).
    forms: Callable[[ComplexArray, IntArray], tuple[ComplexArray, ...]]
    # E_rs (n, k, k) at κ̄ on other test data, from κ̄, the points, E_rs on data like those of training, the products of
    # outputs without readout noise, and c_r; None if the test data are like those of training.
    on_test: OnTest | None = None

    @quiet
    def error(self, kappa_bar: FloatArray, direction: FloatArray, rows: IntArray) -> TwoArrays:
        """E_g at κ̄ (n, k), infinite where rounding left the branch, and its derivative along `direction`, (n,) each."""
        moved = kappa_bar + 1j * STEP * direction
        bias, gamma, c, alike = self.forms(moved, rows)
        z2 = self.grid.zeta[rows, None, None] ** 2
        power = self.power[rows]
        eta2 = np.eye(kappa_bar.shape[1]) * self.grid.eta[rows, :, None] ** 2
        pairs, both = (bias + gamma * z2 + eta2) / (1.0 - gamma), outer(c)  # eq. 9 (GeneralErr)
        if self.on_test is not None:
            pairs = self.on_test(moved, rows, pairs, alike * both + gamma * (pairs + z2), c)
        inside = np.all(np.linalg.diagonal(gamma.real) < 1, axis=-1)
        pairs = np.where(inside[:, None, None], pairs, np.eye(kappa_bar.shape[1]))
        moments = MemberMoments(pairs.real)
        if not self.aggregation.sums_to_one:
            added = gamma * (pairs + z2) + eta2
            F = alike.real * both.real + added.real
            outputs = Outputs(c.real, F, 0 * c.real, 0 * F, np.zeros(power.shape))
            moments = MemberMoments(pairs.real, power[:, None] - c.real, power, outputs)
        w = self.aggregation.weights(moments)
        slope = (outer(w) * pairs.imag).sum(axis=(-2, -1))
        if not self.aggregation.sums_to_one:
            # With best weights Σ_r w_r (Σ_s F_rs w_s - c_r) = 0. The derivatives of c and F nearly cancel where most
            # is fitted. The rest is the derivative of F_rs/(c_r c_s), and that of log c_r where members differ.
            ratio = alike + np.where(both.real > 0, added / both, 0.0)
            defect = (F * w[:, None, :]).sum(axis=-1) - c.real
            total = w.sum(axis=-1, keepdims=True)
            defect = defect - quotient((w * defect).sum(axis=-1, keepdims=True), total)
            rate = quotient(c.imag, c.real)
            free = (outer(w) * both.real * ratio.imag).sum(axis=(-2, -1))
            free = free + 2 * (w * defect * rate).sum(axis=-1)
            slope = np.where(np.isinf(power), slope, free)  # weights sum to one where the power is infinite
        return np.where(inside, moments.risk_of(w), np.inf), slope / STEP


def general_landscape(
    tables: Tables, grid: GeneralGrid, aggregation: LinearAggregation, test: ShiftedTables | None = None
) -> Landscape:
    """Prop. 1 on a flat grid."""
    spectra = [member.spectrum for member in tables.members]
    k = len(spectra)
    samples = grid.alpha * tables.n_features
    seen = grid.alpha[:, None] * grid.rows.diagonal()
    shared = row_factors(grid.rows)

    def ridge(kappa_bar: ComplexArray, rows: IntArray | slice) -> ComplexArray:
        return np.column_stack([s.ridge(seen[rows, r], kappa_bar[:, r]) for r, s in enumerate(spectra)])

    def inverse(lam: FloatArray, rows: IntArray) -> FloatArray:
        return effective_ridges(spectra, seen[rows], lam, clip=True)[0]

    def forms(kappa_bar: ComplexArray, rows: IntArray) -> tuple[ComplexArray, ...]:
        """The bias is from what infinite data leave at every point: a change of form would make a step in the error."""
        shares = [s.shares(kappa_bar[:, r]) for r, s in enumerate(spectra)]
        c = np.column_stack([phi @ member.squares for (phi, _), member in zip(shares, tables.members, strict=True)])
        found = np.zeros((3, len(rows), k, k), dtype=kappa_bar.dtype)
        for (r, s), pair in tables.pairs.items():
            phi_r, psi_r = shares[r]
            phi_s, psi_s = shares[s]
            bias, gamma, D = found[:, :, r, s]
            bias += pair.left_over + psi_r @ pair.left_over_r + psi_s @ pair.left_over_s + pair.cross(psi_r, psi_s)
            gamma += pair.trace(phi_r, phi_s) * shared[r, s] / samples[rows]
            if not aggregation.sums_to_one:
                D += pair.cross(phi_r, phi_s)
            found[:, :, s, r] = found[:, :, r, s]
        bias, gamma, D = found
        return bias, gamma, c, quotient(D, outer(c))

    power = np.full(grid.alpha.shape, tables.signal_power)
    values = np.concatenate([spectrum.values for spectrum in spectra])
    return Landscape(
        grid,
        aggregation,
        power,
        power,
        np.column_stack([floor(spectrum, seen[:, r])[0] for r, spectrum in enumerate(spectra)]),
        values if len(values) else np.ones(1),
        ridge,
        inverse,
        forms,
        None if test is None else partial(_general_on_test, test, grid),
    )


def _general_on_test(
    test: ShiftedTables, grid: GeneralGrid, kappa_bar: ComplexArray, rows: IntArray, pairs: ComplexArray, *_: Any
) -> ComplexArray:
    here = grid.part(rows)
    factors = row_factors(here.rows) / here.alpha[:, None, None]
    return errors_on_test(test, kappa_bar, factors, pairs, here.zeta**2, readout(here))[0]


def equicorrelated_landscape(
    grid: EquicorrelatedGrid, aggregation: LinearAggregation, failing: float = 0.0
) -> Landscape:
    """Prop. 2 on a flat grid, in σ_r = d_r/(κ̄_r + d_r), where d_r = a/ν_rr is the one eigenvalue of a member.

    `failing` is the probability that a feature fails at test time; the target is then not aligned.
    """
    alpha = grid.alpha[:, None] * grid.seen
    d = grid.a[:, None] / grid.own
    shared = row_factors(grid.rows)
    lowest = d * (np.sqrt(grid.own / alpha) - 1.0)

    def ridge(kappa_bar: ComplexArray, rows: IntArray | slice) -> ComplexArray:
        return kappa_bar * (alpha[rows] - grid.own[rows] * d[rows] / (kappa_bar + d[rows]))

    least = ridge(lowest, slice(None))

    def inverse(lam: FloatArray, rows: IntArray) -> FloatArray:
        return bulk_of_members(grid.take(rows)._replace(lam=np.maximum(lam, least[rows])))[1]

    def forms(kappa_bar: ComplexArray, rows: IntArray) -> tuple[ComplexArray, ...]:
        here = grid.take(rows)
        d_here = d[rows]
        b, a, omega2, rho2 = (x[:, None, None] for x in (here.b, here.a, here.omega2, here.rho2))
        sigma = d_here / (kappa_bar + d_here)
        free = kappa_bar / (kappa_bar + d_here)
        nu = *of_pairs(here.own), here.nu
        gamma = here.nu * outer(sigma) * shared[rows] / here.alpha[:, None, None]
        gain = b**2 / a
        across = sum(unaligned_bias(b, b / a, omega2 / a, nu, of_pairs(free)))
        along = sum(aligned_bias(b, omega2, nu, np.eye(kappa_bar.shape[1], dtype=bool)))
        bias = (1 - rho2) * across + rho2 * along
        # Every output is proportional to σ, so that D_rs/(c_r c_s) is constant.
        alike = quotient(here.nu / (nu[0] * nu[1]), gain)
        return bias, gamma, gain[:, 0] * (here.own * sigma), alike

    def on_test(
        _: ComplexArray, rows: IntArray, pairs: ComplexArray, products: ComplexArray, c: ComplexArray
    ) -> ComplexArray:
        here = grid.take(rows)
        weights = products * ((here.a + here.spike) / here.a)[:, None, None]  # of a target that is not aligned
        return dead_errors(failing, pairs, readout(here), weights, here.b, here.b[:, None] - c)

    power = np.where(grid.rho2 > 0, np.inf, grid.b)
    return Landscape(grid, aggregation, grid.b, power, lowest, d, ridge, inverse, forms, on_test if failing else None)
