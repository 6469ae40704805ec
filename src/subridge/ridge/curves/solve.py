"""Weights of one member along a whole learning curve: one factorisation per ridge serves every training-set size."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from subridge.arrays.namespace import device_of, dtype_name, is_numpy, namespace_of
from subridge.arrays.types import Array
from subridge.model.errors import DataError, ParameterError, RidgeError
from subridge.ridge.curves.batched import solve_batched
from subridge.ridge.curves.lapack import solve_with_lapack
from subridge.ridge.curves.plan import CurvePlan, plan_curve


def weights_along_curve(
    F: Array, targets: Array, n_samples: Sequence[int], ridges: Sequence[float], *, scale: float = 1.0
) -> Array:
    """Train one member on the first P samples, for every P and every ridge; shape (B, n_ridges, n_sizes, n_rhs, N).

    Minimises ``Σ_μ (w·F_μ - t_μ)² + λ |w|²`` over the first P rows; λ = 0 gives the minimum-norm solution. F, shape (B,
    P_max, N), holds the features of the member in B trials, scaled by 1/√N: a NumPy array is solved trial by trial with
    LAPACK, an array of another library in one batch on its device. Targets, shape (B, n_rhs, P_max), are labels of one
    or several targets, or labels and readout noise. Sizes ascend strictly; `scale` is the mean square of the features
    before they were scaled, the unit in which a ridge counts as small.

    With ``K = F Fᵀ`` over all samples and ``L Lᵀ = K + λ I``, the factor of any prefix is the leading block of L. So
    ``z = L⁻¹ t`` serves all P, and ``L⁻ᵀ`` applied to z masked to its first P entries gives every dual solution. Where
    the N × N side is cheaper or more accurate it is used instead; `plan_curve` counts the operations.
    """
    sizes = _checked_sizes(n_samples, F.shape[1])
    if targets.shape[0] != F.shape[0] or targets.shape[2] != F.shape[1]:
        raise DataError(f"targets must have shape (B, n_rhs, P_max) to fit F {tuple(F.shape)}, got {targets.shape}")
    if min(ridges) < 0:
        raise RidgeError(f"ridges must be at least 0 to train, got {min(ridges):g}")
    xp = namespace_of(F)
    shape = (F.shape[0], len(ridges), len(sizes), targets.shape[1], F.shape[2])
    weights = xp.empty(shape, dtype=F.dtype, device=device_of(F))
    for plan in plan_curve(sizes, F.shape[2], ridges, scale=scale, dtype=dtype_name(F)):
        part = weights if len(plan.which) == len(ridges) else xp.empty_like(weights[:, : len(plan.which), ...])
        _solve(F, targets, plan, part)
        if part is not weights:
            for source, place in enumerate(plan.which):
                weights[:, place, ...] = part[:, source, ...]
    return weights


def _solve(F: Array, targets: Array, plan: CurvePlan, into: Array) -> None:
    if not is_numpy(F):
        solve_batched(F, targets, plan, into)
        return
    for b in range(len(F)):
        solve_with_lapack(np.ascontiguousarray(F[b]), np.ascontiguousarray(targets[b]), plan, into[b])


def _checked_sizes(n_samples: Sequence[int], available: int) -> tuple[int, ...]:
    sizes = tuple(int(P) for P in n_samples)
    if not sizes or sizes[0] < 1 or any(b <= a for a, b in pairwise(sizes)):
        raise ParameterError(f"n_samples must be positive and strictly ascending, got {list(sizes)}")
    if sizes[-1] > available:
        raise ParameterError(f"n_samples asks for {sizes[-1]} samples but only {available} are given")
    return sizes
