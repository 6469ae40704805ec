"""Where the error comes from: bias and variance of a ridge ensemble over data, subsets and noises.

The mean weights of a member over training sets have as their error the bias B_rs of eq. 9 (GeneralErr). The rest of

    E_rs = B_rs + γ_rs/(1 - γ_rs) · (B_rs + ζ² + δ_rs η_r²) + δ_rs η_r²

is its variance: over the features of the samples, the noise of their labels, and the readout noise in training and
afterwards. The noises enter linearly, so that their parts add up. For two ensembles with independently drawn subsets on
the same data, B′_rs and γ′_rs are those of the overlaps of independent draws. By the law of total variance

    bias B′,    subsets B - B′,    data B′γ′/(1 - γ′),    data and subsets together: the rest of Bγ/(1 - γ).

This is the analysis of variance of Adlam & Pehlevan (2020, NeurIPS 33) and Lin & Dobriban (2021, JMLR 22, 155).
"""

from dataclasses import replace

import numpy as np
import xarray as xr

from subridge.arrays.types import ArrayLike, FloatArray, Seed
from subridge.model.aggregation import Mean, MemberMoments, outer, quadratic, weighted
from subridge.model.checks import checked_seed, extended_non_negative, positive_integer, stream
from subridge.model.ensemble import Ensemble, Strategy, SubsetPlan, refuse_row_fractions
from subridge.model.errors import ParameterError
from subridge.model.problem import EquicorrelatedProblem, Problem
from subridge.results.schemas import result_attributes
from subridge.theory.grid import check_description
from subridge.theory.predict import order_parameters, risk

SOURCES = ("bias", "subsets", "data", "data and subsets", "label noise", "readout noise in training", "readout noise")
_BESIDE = 1e-9  # relative distance from a threshold at which the bias is computed; it is continuous there


def error_sources(
    problem: Problem | EquicorrelatedProblem,
    ensemble: Ensemble,
    sample_ratio: ArrayLike,
    *,
    n_draws: int = 8,
    seed: Seed = 0,
) -> xr.Dataset:
    """Split the typical risk of an ensemble into bias and parts of its variance.

    Parameters
    ----------
    problem : Problem or EquicorrelatedProblem
        The distribution of the data; its fields must be numbers.
    ensemble : Ensemble
        A plan fixes the subsets, and their part is zero. With a strategy on a `Problem`, or with any subsets on an
        `EquicorrelatedProblem`, they are drawn at random with the given sizes and overlaps.
    sample_ratio : array_like, shape (n,)
        α = P/M ≥ 0; ``inf`` is infinite data.
    n_draws : int
        Number of draws of a strategy, at least two, over which the parts are averaged.
    seed : int
        Seed of these draws.

    Returns
    -------
    xarray.Dataset
        ``risk`` (source, sample_ratio): the bias of the mean predictor; the variance over subsets, over data (features
        of the training samples), and over both together; over label noise; over readout noise in training; and the
        readout noise of new samples. ``total`` (sample_ratio) is their sum.

    Raises
    ------
    ParameterError
        If a parameter lies outside its range or holds several values, or the aggregation is not a weighted sum.
    SubsetError
        If the ensemble of a `Problem` holds fractions only.

    See Also
    --------
    subridge.risk : the total.
    subridge.figures.plot_sources : a stacked picture.

    Notes
    -----
    Weights of a fitted aggregation are those of theory, held fixed over draws.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> problem = sr.EquicorrelatedProblem(label_noise=0.5)
    >>> found = sr.error_sources(problem, sr.Ensemble([0.5, 0.5], readout_noise=0.1), [0.25, 2.0])
    >>> found.risk.sel(source=["bias", "label noise"]).values.round(3)
    array([[0.562, 0.25 ],
           [0.125, 0.042]])
    """
    check_description(problem, ensemble)
    refuse_row_fractions(ensemble, "error_sources")
    alpha = np.atleast_1d(extended_non_negative("sample_ratio", sample_ratio))
    n_draws = positive_integer("n_draws", n_draws)
    members = _with_other_draws(problem, ensemble, n_draws, checked_seed("seed", seed))
    k = ensemble.n_members
    if alpha.ndim != 1 or not alpha.size or risk(problem, members, np.inf).total.shape:
        raise ParameterError(
            "sample_ratio must be the only axis and have shape (n,): give the fields of the problem as numbers, and "
            "ridge and readout noise as numbers or one value per member"
        )
    found = risk(problem, members, alpha)
    gamma, B = _of_pairs(problem, members, alpha)
    with np.errstate(divide="ignore", invalid="ignore"):
        amplified = np.where(gamma > 0, gamma / np.maximum(1 - gamma, 0.0), 0.0)  # γ/(1 - γ)
        spread = np.where(B == 0, 0.0, B * amplified)
    (bias, other_bias), (data, other_data), (noise, _), (pairs, _) = (
        _over_draws(each, k) for each in (B, spread, amplified, found.pairs)
    )
    missed, v = found.moments.with_target()
    target = missed.reshape(*alpha.shape, -1, k).mean(axis=1), v
    w = ensemble.aggregation.weights(MemberMoments(pairs, *target))
    zeta2 = problem.label_noise.item() ** 2
    eta2 = np.broadcast_to(ensemble.readout_noise, k) ** 2

    # Without noise the amplified noise is zero, even if the amplification is infinite.
    label_noise = np.multiply(zeta2, noise, out=np.zeros(noise.shape), where=zeta2 > 0)
    own_noise = np.multiply(eta2, np.linalg.diagonal(noise), out=np.zeros(noise.shape[:-1]), where=eta2 > 0)
    parts = [
        MemberMoments(other_bias, *target).risk_of(w),
        quadratic(w, bias - other_bias),
        quadratic(w, other_data),
        quadratic(w, np.where(np.isinf(data), np.inf, data - other_data)),
        quadratic(w, label_noise),
        weighted(w**2, own_noise).sum(axis=-1),
        (w**2 * eta2).sum(axis=-1),
    ]
    return xr.Dataset(
        {
            "risk": (("source", "sample_ratio"), np.stack(parts), {"long_name": "part of the risk"}),
            "total": ("sample_ratio", np.sum(parts, axis=0), {"long_name": "risk"}),
        },
        {"source": list(SOURCES), "sample_ratio": ("sample_ratio", alpha, {"long_name": "sample ratio α"})},
        result_attributes("error_sources", 1, "Bias of a ridge ensemble and parts of its variance.", n_members=k),
    )


def _with_other_draws(
    problem: Problem | EquicorrelatedProblem, ensemble: Ensemble, n_draws: int, seed: Seed
) -> Ensemble:
    """The mean of the ensemble's members, followed by those of other draws of its subsets."""
    if isinstance(problem, EquicorrelatedProblem):
        nu = ensemble.fractions
        met = outer(np.linalg.diagonal(nu))  # overlaps of independent draws
        subsets: SubsetPlan | FloatArray = np.block([[nu, met], [met, nu]])
    elif isinstance(ensemble.subsets, Strategy):
        if n_draws < 2:
            raise ParameterError(f"n_draws must be at least 2 to estimate the part of the subsets, got {n_draws}")
        plans = [ensemble.subsets.draw(problem.n_features, stream(seed, draw)) for draw in range(n_draws)]
        subsets = SubsetPlan(tuple(A for plan in plans for A in plan.measurements), problem.n_features)
    else:
        subsets = ensemble.plan
    copies = (len(subsets) if isinstance(subsets, np.ndarray) else subsets.n_members) // ensemble.n_members
    ridge, noise = (
        np.tile(each, copies) if each.shape[-1] > 1 else each for each in (ensemble.ridge, ensemble.readout_noise)
    )
    return replace(ensemble, subsets=subsets, ridge=ridge, readout_noise=noise, aggregation=Mean())


def _of_pairs(
    problem: Problem | EquicorrelatedProblem, members: Ensemble, alpha: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """γ_rs and B_rs = (1 - γ_rs) E_rs without noises, shape (n, K, K) each."""
    gamma = order_parameters(problem, members, alpha).gamma
    at_threshold = np.linalg.diagonal(gamma).max(axis=-1) > 1 - _BESIDE
    beside = np.where(at_threshold, alpha * (1 + 4 * _BESIDE), alpha)
    quiet = replace(problem, label_noise=np.zeros(())), replace(members, readout_noise=np.zeros(1))
    nearby = order_parameters(*quiet, beside).gamma if at_threshold.any() else gamma
    return gamma, risk(*quiet, beside).pairs * (1 - nearby)


def _over_draws(pairs: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """Means over members of the same draw and over members of different draws, shape (n, k, k) each."""
    draws = pairs.shape[-1] // k
    blocks = pairs.reshape(-1, draws, k, draws, k).transpose(1, 3, 0, 2, 4)
    alike = np.eye(draws, dtype=bool)
    same = blocks[alike].mean(axis=0)
    return same, blocks[~alike].mean(axis=0) if draws > 1 else same
