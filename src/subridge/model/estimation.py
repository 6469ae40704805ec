"""Population moments, as Prop. 1 needs them, estimated from n rows of M features: `Problem.from_data`.

The eigenvalues of a sample covariance are spread (Marchenko & Pastur 1967), and a fitted teacher contains the noise of
its fit. Both are corrected by equations that hold at every ridge λ. With the eigenvalues l_i of the sample covariance,
the loadings b = Xᵀy/n in the basis of its eigenvectors, and y²/n = v,

    df(λ) = Σ l_i/(l_i + λ),        s = 1 - df/n,        κ = λ/s,
    df(λ) = Σ_i τ_i/(τ_i + κ),                                           (spectrum τ of the population)
    [v - Σ_i b_i²/(l_i + λ)]/s = ζ² + Σ_i p_i κ/(τ_i + κ)                (power p of the teacher, label noise ζ²)

in the limit of large n and M at any ratio (Silverstein 1995, J. Multivariate Anal. 55, 331; for the second, Hastie et
al. 2022, Ann. Stat. 50, 949). Both are linear in non-negative masses, so that non-negative least squares finds
them (El Karoui 2008, Ann. Stat. 36, 2757, for the first). Directions are those of the sample. Power in directions
with τ far below every κ cannot be distinguished from label noise.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.aggregation import quotient
from subridge.model.checks import finite_array, refuse_large_entries
from subridge.model.errors import DataError, counted

_RIDGES = 120  # values of λ at which the sample is compared with the population
_ATOMS = 300  # places of the spectrum's mass; a twentieth of a decade apart in a typical spectrum
_BINS = 24  # neighbouring eigenvalues in one bin share the correction of their power
_KNOWN = 10  # ridges of a path that carry independent information
_STEADY = 0.2  # typical difference between the corrections of neighbouring bins
_SURE = 30.0  # weight of the number of eigenvalues, which is known, against that of one ridge
_EXACT = 1e12  # rows whose moments are as good as exact
_NOTHING = 1e-10  # eigenvalues below this share of the largest are treated as zero


class SampleMoments(NamedTuple):
    """Centred second moments of n + 1 rows, or of a whole population for n = inf."""

    n: float  # degrees of freedom
    covariance: FloatArray  # (M, M)
    cross: FloatArray  # of features and targets, (M, C)
    power: FloatArray  # variances of the targets, (C,)
    several: bool  # whether the targets had an axis of columns


def moments_of_blocks(blocks: Iterable[tuple[ArrayLike, ArrayLike]]) -> SampleMoments:
    """Moments of rows that come in blocks (X, y), of which no two are held at once; y has shape (n,) or (n, C).

    Sums are taken about the means of the first block, which are close enough to those of all.
    """
    n = 0
    for number, block in enumerate(blocks):
        if not isinstance(block, tuple | list) or len(block) != 2:
            raise DataError(f"X must give blocks (X, y) where y is missing, got {block!r}")
        rows = finite_array("X", block[0])
        targets = finite_array("y", block[1])
        if (
            rows.ndim != 2
            or not rows.size
            or not targets.size
            or targets.ndim not in (1, 2)
            or len(targets) != len(rows)
        ):
            raise DataError(
                f"X must have shape (n, M) and y (n,) or (n, C) with equal n, got {rows.shape} and {targets.shape}"
            )
        refuse_large_entries("X", rows)
        refuse_large_entries("y", targets)
        both = np.hstack([rows, targets.reshape(len(rows), -1)])
        if not number:
            M = rows.shape[1]
            shift = both.mean(axis=0)
            products = np.zeros((len(shift), len(shift)))
            sums = np.zeros(len(shift))
        if both.shape[1] != len(shift) or rows.shape[1] != M:
            raise DataError(f"block {number} has {counted(rows.shape[1], 'feature')} but the first one has {M}")
        both -= shift
        products += both.T @ both
        sums += both.sum(axis=0)
        n += len(both)
    if n < 3:
        raise DataError(f"moments need at least 3 rows, got {n}")
    second = (products - np.outer(sums / n, sums)) / (n - 1)
    return SampleMoments(n - 1, second[:M, :M], second[:M, M:], second.diagonal()[M:], targets.ndim == 2)


def eigenbasis(moments: SampleMoments) -> tuple[FloatArray, ...]:
    """The sample in the eigenvectors of its covariance, at a path of ridges.

    These are the eigenvalues l (M,), ascending, their vectors (M, M), the loadings b (M, C), G ridges λ (G, 1) from
    below the least eigenvalue to above the largest, and s = 1 - df/n at each (G, 1).
    """
    l, U = np.linalg.eigh((moments.covariance + moments.covariance.T) / 2)
    if not l[-1] > 0:
        raise DataError("every feature of X is constant; nothing can be predicted from it")
    l = np.where(l > _NOTHING * l[-1], l, 0.0)
    ridges = np.geomspace(l[l > 0][0] / 10, 30 * l[-1], _RIDGES)[:, None]
    share = 1 - (l / (l + ridges)).sum(axis=1, keepdims=True) / moments.n
    return l, U, U.T @ moments.cross, ridges, np.maximum(share, 1e-12)


def spectrum(l: FloatArray, ridges: FloatArray, kappa: FloatArray) -> FloatArray:
    """Eigenvalues τ of the population, ascending, shape (M,)."""
    from scipy.optimize import nnls  # slow to import

    M = len(l)
    atoms = np.concatenate([[0.0], np.geomspace(l[l > 0][0] / 3, 1.1 * l[-1], _ATOMS)])
    df = (l / (l + ridges)).sum(axis=1, keepdims=True)
    shares = atoms / (atoms + kappa) / df
    mass = nnls(np.vstack([shares, np.full(len(atoms), _SURE / M)]), np.append(np.ones(len(df)), _SURE))[0]
    # Each eigenvalue is the mean over its share 1/M of the mass, so that it may lie between two atoms.
    reached = np.append(0.0, mass.cumsum())
    sums = np.append(0.0, (mass * atoms).cumsum())
    tau = np.diff(np.interp(np.linspace(0, reached[-1], M + 1), reached, sums))
    return np.asarray(tau * (l.sum() / tau.sum()))


def population(moments: SampleMoments) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Covariance (M, M), teachers (M, C) and standard deviations ζ of the label noise (C,) behind the moments."""
    from scipy.optimize import nnls

    l, U, b, ridges, share = eigenbasis(moments)
    kappa = ridges / share
    raw = quotient(b**2, l[:, None])  # power by direction, noise of the fit included
    if moments.n > _EXACT:
        noises = np.maximum(moments.power - raw.sum(axis=0), 0.0)
        return moments.covariance, U @ quotient(b, l[:, None]), np.sqrt(noises)
    tau = spectrum(l, ridges, kappa)
    left = (moments.power - (1 / (l + ridges)) @ b**2) / share
    bins = np.array_split(np.arange(len(l)), min(_BINS, len(l)))
    starts = [part[0] for part in bins]
    power = np.zeros(b.shape)
    noises = np.zeros(b.shape[1])
    smooth = np.diff(np.eye(len(bins) + 1), axis=0)[:-1] / _STEADY
    for c in np.flatnonzero(moments.power > 0):
        terms = np.add.reduceat(kappa / (tau + kappa) * raw[:, c], starts, axis=1)
        # The relative error of a sum of n - df squares is √(2/(n - df)). Neighbouring ridges are not independent.
        own = left[:, [c]]
        sure = np.sqrt(moments.n * share / 2 * _KNOWN / len(ridges)) / np.maximum(own, 1e-300)
        compared = np.column_stack([terms, np.ones(len(ridges))]) * sure
        wanted = np.append(own * sure, np.zeros(len(smooth)))
        *factors, noises[c] = nnls(np.vstack([compared, smooth]), wanted)[0]
        power[:, c] = np.repeat(factors, [len(part) for part in bins]) * raw[:, c]
    teachers = np.sign(b) * np.sqrt(quotient(power, tau[:, None]))
    return (U * tau) @ U.T, U @ teachers, np.sqrt(noises)


def left_out_excess(X: FloatArray, y: FloatArray, moments: SampleMoments) -> float:
    """Share by which the left-out error of one ridge exceeds that of rows with equal leverage.

    The ridge is that of least generalized cross-validation error (Golub, Heath & Wahba 1979). For Gaussian rows the
    ratio of this error to the exact left-out error is one.
    """
    if not moments.power.any():
        return 0.0
    l, U, b, ridges, share = eigenbasis(moments)
    explained = (l + 2 * ridges) / (l + ridges) ** 2 @ b**2
    residual = moments.power.sum() - explained.sum(axis=1, keepdims=True)
    best = (residual / share**2).argmin()
    R = 1 / (l + ridges[best])
    Z = (X - X.mean(axis=0)) @ U
    errors = ((y - y.mean(axis=0) - (Z * R) @ b) ** 2).sum(axis=1)
    leverage = (Z**2 @ R + 1) / len(X)
    mean = errors.mean() / (1 - leverage.mean()) ** 2
    return float((errors / (1 - leverage) ** 2).mean() / mean - 1)
