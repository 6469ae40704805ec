"""Predictions as datasets: learning curves and phase diagrams."""

from collections.abc import Callable
from dataclasses import asdict, replace

import numpy as np
import xarray as xr

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.aggregation import Aggregation, read_aggregation
from subridge.model.checks import real_array, refuse_beyond_memory
from subridge.model.ensemble import Ensemble
from subridge.model.errors import ParameterError
from subridge.model.problem import EquicorrelatedProblem
from subridge.results.schemas import result_attributes
from subridge.theory.predict import risk
from subridge.theory.reduced import is_optimal, optimal_n_members, phase_boundary, reduced_optimal_ridge, reduced_risk
from subridge.theory.ridge_search import optimal_ridge

_LONG_NAMES = {
    "sample_ratio": "sample ratio α",
    "alignment": "alignment ρ",
    "readout_nsr": "readout noise ratio H",
    "feature_nsr": "feature noise ratio W",
    "label_nsr": "label noise ratio Z",
}
# Steps of the bisection for the end of a boundary.
_HALVINGS = 50
_PER_POINT = 560  # bytes that a point of a diagram takes while it is computed, measured


def predicted_curves(
    problem: EquicorrelatedProblem,
    ensemble: Ensemble,
    sample_ratios: ArrayLike,
    ridges: ArrayLike,
    *,
    n_features: int | None = None,
    at_optimal_ridge: bool = False,
) -> xr.Dataset:
    """Predict the risk of an ensemble along its learning curve, for several ridges instead of its own.

    The dataset has ``risk`` (ridge, sample_ratio) and ``subset_fraction`` (member). With `at_optimal_ridge` it also has
    ``optimal_ridge`` (member), the best ridge of each member, and ``risk_at_optimal_ridge`` (sample_ratio).

    >>> curves = predicted_curves(EquicorrelatedProblem(), Ensemble([0.5, 0.5]), [0.2, 1.0], [0.1])
    >>> dict(curves.risk.sizes)
    {'ridge': 1, 'sample_ratio': 2}
    """
    lam = np.asarray(ridges, dtype=float)

    def total(ridge: FloatArray) -> FloatArray:
        return risk(problem, replace(ensemble, ridge=ridge), sample_ratios, n_features=n_features).total

    curves = xr.Dataset(
        {
            "risk": (("ridge", "sample_ratio"), total(lam[:, None, None])),
            "subset_fraction": ("member", ensemble.fractions.diagonal()),
        },
        {"ridge": lam, "sample_ratio": np.asarray(sample_ratios, dtype=float)},
        result_attributes(
            "learning_curves",
            1,
            "Predicted risk of a ridge ensemble on equicorrelated data.",
            n_features=float("inf") if n_features is None else n_features,
            readout_noise=ensemble.readout_noise.squeeze().tolist(),
            **{name: np.asarray(value).tolist() for name, value in asdict(problem).items()},
        ),
    )
    if at_optimal_ridge:
        best = optimal_ridge(problem, ensemble)
        curves = curves.assign(risk_at_optimal_ridge=("sample_ratio", total(best)), optimal_ridge=("member", best))
    return curves


def boundary_end(
    boundary: Callable[[FloatArray], FloatArray], lowest: float, highest: float, shape: tuple[int, ...]
) -> tuple[FloatArray, FloatArray]:
    """The noise at which the boundary of the noise-dominated phase becomes infinite, and the boundary just before it.

    Bisection finds it, so that it does not depend on the grid of a diagram.

    Parameters
    ----------
    boundary : callable
        A function from noises of a shape to sample ratios of that shape, which are infinite above some noise.
    lowest, highest : float
        The range of the noise.
    shape : tuple of int
        The shape of the noises.

    Returns
    -------
    noise, before : ndarray, of that shape
        The noise and the boundary, NaN where the boundary is finite over the whole range.

    Examples
    --------
    >>> noise, before = boundary_end(lambda H: np.where(H < 2, 0.0, np.inf), 0.0, 2.5, ())
    >>> float(noise.round(9)), float(before)
    (2.0, 0.0)
    """
    low = np.full(shape, lowest)
    high = np.full(shape, highest)
    ends = np.isinf(boundary(high))
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        beyond = np.isinf(boundary(middle))
        low = np.where(beyond, low, middle)
        high = np.where(beyond, middle, high)
    return np.where(ends, high, np.nan), np.where(ends, boundary(low), np.nan)


def phase_diagram(
    sample_ratio: ArrayLike,
    alignment: ArrayLike = 0.0,
    readout_nsr: ArrayLike = 0.0,
    feature_nsr: ArrayLike = 0.0,
    label_nsr: ArrayLike = 0.0,
    *,
    ridge: float | str = 0,
    aggregation: str | Aggregation = "mean",
) -> xr.Dataset:
    """Best ensemble size over two chosen axes (Fig. 4b-d).

    Parameters
    ----------
    sample_ratio, alignment, readout_nsr, feature_nsr, label_nsr : array_like, shape () or (n,)
        α, ρ, H, W, Z. Those given as one-dimensional arrays become the axes (usually two), the others stay fixed.
    ridge : 0 or "optimal"
        No ridge, or the best ridge of every member.
    aggregation : {"mean", "scaled", "simplex", "free"}
        How outputs combine, as in `subridge.reduced_risk`.

    Returns
    -------
    xarray.Dataset
        ``optimal_n_members`` (k*, inf in the noise-dominated phase), ``reduced_risk`` (𝓔 at k*), ``phase`` (0
        signal-dominated, 1 intermediate, 2 noise-dominated), and ``boundary`` (sample ratio of the analytic boundary,
        without the sample_ratio axis). With one axis of noise also ``boundary_end``, the noise at which the boundary
        becomes infinite (NaN where it does not), and ``boundary_before_end``, the boundary just before it.

    Raises
    ------
    BudgetError
        If it would not fit into memory.
    ParameterError
        If a ratio lies outside its range, is empty or has several axes, or there is no such ridge or aggregation.
    DataError
        If one is NaN.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> diagram = sr.phase_diagram(np.linspace(0, 3, 4), readout_nsr=np.array([0.0, 1.0, 2.5]))
    >>> diagram.optimal_n_members.dims
    ('readout_nsr', 'sample_ratio')
    """
    ratios = (sample_ratio, alignment, readout_nsr, feature_nsr, label_nsr)
    values = {name: real_array(name, value) for name, value in zip(_LONG_NAMES, ratios, strict=True)}
    for name, value in values.items():
        if value.ndim > 1 or not value.size:
            raise ParameterError(f"{name} must be a number or a one-dimensional array, got shape {value.shape}")
    # Noise on the rows and sample ratio on the columns, as in the paper.
    dims = [name for name in reversed(_LONG_NAMES) if values[name].ndim == 1]
    grid = {name: value.reshape([-1 if axis == name else 1 for axis in dims]) for name, value in values.items()}
    points = float(np.prod([float(value.size) for value in values.values()]))
    refuse_beyond_memory(f"a diagram of {points:,.0f} points", _PER_POINT * points, "take fewer values on its axes")
    alpha, rho, H, W, Z = grid.values()
    aggregation = read_aggregation(aggregation)
    k = optimal_n_members(alpha, rho, H, W, Z, ridge=ridge, aggregation=aggregation)
    Lam = np.zeros(())
    if is_optimal(ridge):
        # With no data or infinite data the reduced risk does not depend on the ridge.
        inner = np.where((alpha > 0) & np.isfinite(alpha), alpha, 1.0)
        best = reduced_optimal_ridge(k, rho, H, W, Z, aggregation=aggregation, sample_ratio=inner)
        Lam = np.where(np.isfinite(k) & ((inner == alpha) | (best >= 0)), best, 0.0)
    error = reduced_risk(k, alpha, rho, Lam, H, W, Z, aggregation=aggregation)
    phase = np.where(k == 1, 0, np.where(np.isinf(k), 2, 1)).astype(np.int8)
    rest = [name for name in dims if name != "sample_ratio"]
    fixed = {name: part for name, part in grid.items() if name != "sample_ratio"}

    def boundary_at(**noise: FloatArray) -> FloatArray:
        return phase_boundary(*(fixed | noise).values(), ridge=ridge, aggregation=aggregation)

    def along(names: list[str], part: FloatArray) -> tuple[list[str], FloatArray]:
        """A variable of the dataset over some of its dimensions, from an array whose other axes have length one."""
        return names, part.reshape([len(values[name]) for name in names])

    noises = [name for name in rest if name.endswith("_nsr")]
    ends = {}
    if len(noises) == 1:
        (noise,) = noises
        axis = values[noise]
        left = [name for name in rest if name != noise]
        where, before = boundary_end(
            lambda strengths: boundary_at(**{noise: strengths}),
            float(axis.min()),
            float(axis.max()),
            np.broadcast_shapes(*(part.shape for name, part in fixed.items() if name != noise)),
        )
        ends = {"boundary_end": along(left, where), "boundary_before_end": along(left, before)}
    return xr.Dataset(
        {
            "optimal_n_members": (dims, k, {"long_name": "best ensemble size k*"}),
            "reduced_risk": (dims, error, {"long_name": "reduced risk at k*"}),
            "phase": (dims, phase, {"flag_meanings": "signal-dominated intermediate noise-dominated"}),
            "boundary": (*along(rest, boundary_at()), {"long_name": "boundary sample ratio"}),
            **ends,
        },
        {name: (name, values[name], {"long_name": _LONG_NAMES[name]}) for name in dims},
        result_attributes(
            "phase_diagram",
            1,
            "Best number of equal disjoint members.",
            ridge=str(ridge),
            aggregation=aggregation.name,
            **{name: float(value) for name, value in values.items() if value.ndim == 0},
        ),
    )
