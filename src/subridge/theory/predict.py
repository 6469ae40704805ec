"""The two questions a theorist asks first: what is the typical risk, and what are the order parameters."""

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.ensemble.ensemble import Ensemble
from subridge.ensemble.risk import Risk
from subridge.spec.checks import extended_non_negative, positive_integer
from subridge.spec.errors import ParameterError
from subridge.spec.plan import SubsetPlan
from subridge.spec.problem import EquicorrelatedProblem, Problem
from subridge.theory.equicorrelated import Grid, equicorrelated_order_parameters, equicorrelated_pairs
from subridge.theory.general import general_order_parameters, general_pairs
from subridge.theory.order_parameters import OrderParameters
from subridge.theory.tabulate import tabulate


def risk(
    problem: Problem | EquicorrelatedProblem,
    ensemble: Ensemble,
    sample_ratio: ArrayLike,
    *,
    n_features: int | None = None,
) -> Risk:
    """Typical generalization error of a ridge ensemble (Prop. 1, eq. GeneralErr; Prop. 2 for equicorrelated data).

    Parameters
    ----------
    problem : Problem or EquicorrelatedProblem
    ensemble : Ensemble
        From a `SubsetPlan` for a `Problem`; for an `EquicorrelatedProblem` fractions are enough.
    sample_ratio : array_like
        α = P/M ≥ 0; ``inf`` is infinite data.
    n_features : int, optional
        For an `EquicorrelatedProblem`: M at which the aligned part of the teacher is taken, by the form uniform in
        s c M; None is M → ∞.

    Returns
    -------
    Risk
        ``total`` has the shape that sample_ratio, the problem's fields and the leading axes of fractions, ridge and
        readout noise broadcast to; ``pairs`` has two more axes of length k.

    Warns
    -----
    InfiniteRiskWarning
        A ridgeless member is exactly at its interpolation threshold; the risk there is inf.

    Notes
    -----
    The bias is a difference of terms of the signal's size, so risks far below it (no noise, tiny ridge) are accurate to
    about 1e-15 of the signal in absolute terms.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> problem = sr.EquicorrelatedProblem(correlation=0.4, feature_noise=0.3, alignment=0.3, label_noise=0.1)
    >>> ensemble = sr.Ensemble([0.1, 0.3, 0.5], ridge=1e-3, readout_noise=0.1)
    >>> sr.risk(problem, ensemble, np.array([0.2, 0.6, 1.0])).total.round(4)
    array([0.7437, 0.6567, 0.4488])
    """
    alpha = extended_non_negative("sample_ratio", sample_ratio)
    if isinstance(problem, EquicorrelatedProblem):
        M = None if n_features is None else positive_integer("n_features", n_features)
        if M is not None and isinstance(ensemble.subsets, SubsetPlan) and ensemble.subsets.n_features != M:
            raise ParameterError(f"n_features={M} differs from the plan's {ensemble.subsets.n_features}")
        pairs = equicorrelated_pairs(broadcast_equicorrelated(problem, ensemble, alpha), M)
        return Risk.of_pairs(pairs, ensemble.aggregation)
    if n_features is not None:
        raise ParameterError("n_features belongs to an EquicorrelatedProblem; a Problem knows its own size")
    shape, (a, lam, eta, zeta) = broadcast_general(problem, ensemble, alpha)
    k = ensemble.n_members
    pairs = general_pairs(tabulate(problem, ensemble.plan), a, lam, eta, zeta)
    return Risk.of_pairs(pairs.reshape(*shape, k, k), ensemble.aggregation)


def order_parameters(
    problem: Problem | EquicorrelatedProblem, ensemble: Ensemble, sample_ratio: ArrayLike, *, throw: bool = True
) -> OrderParameters:
    """Order parameters of the ensemble, eq. saddle_point.

    Parameters
    ----------
    problem : Problem or EquicorrelatedProblem
    ensemble : Ensemble
    sample_ratio : array_like
        α.
    throw : bool
        Raise where a root was not found; False reports it in ``status``. A ridge too negative to be well posed
        raises in either case.

    Returns
    -------
    OrderParameters

    Examples
    --------
    >>> import subridge as sr
    >>> found = sr.order_parameters(sr.EquicorrelatedProblem(), sr.Ensemble([0.5]), 0.25)
    >>> found.kappa, found.gamma
    (array([0.5]), array([[0.5]]))
    """
    alpha = extended_non_negative("sample_ratio", sample_ratio)
    if isinstance(problem, EquicorrelatedProblem):
        return equicorrelated_order_parameters(broadcast_equicorrelated(problem, ensemble, alpha))
    shape, (a, lam, _, _) = broadcast_general(problem, ensemble, alpha)
    flat = general_order_parameters(tabulate(problem, ensemble.plan), a, lam, throw=throw)
    return OrderParameters(
        kappa=flat.kappa.reshape(*shape, -1),
        q=flat.q.reshape(*shape, -1),
        q_hat=flat.q_hat.reshape(*shape, -1),
        S=None,
        gamma=flat.gamma.reshape(*shape, *flat.gamma.shape[1:]),
        status=flat.status.reshape(*shape, -1),
        residual=flat.residual.reshape(*shape, -1),
    )


def broadcast_equicorrelated(problem: EquicorrelatedProblem, ensemble: Ensemble, alpha: FloatArray) -> Grid:
    """Broadcast every parameter to one leading shape, the member axis last."""
    scalars = [alpha, *(getattr(problem, name) for name in problem.__dataclass_fields__)]
    nu, k = ensemble.fractions, ensemble.n_members
    shape = _common_shape(
        fractions=nu.shape[:-2],
        ridge=ensemble.ridge.shape[:-1],
        readout_noise=ensemble.readout_noise.shape[:-1],
        sample_ratio=alpha.shape,
        **{name: getattr(problem, name).shape for name in problem.__dataclass_fields__},
    )
    fields = [np.broadcast_to(x, shape) for x in scalars[1:]]
    return Grid(
        EquicorrelatedProblem(*fields),
        np.broadcast_to(alpha, shape),
        np.broadcast_to(nu, (*shape, k, k)),
        np.broadcast_to(ensemble.ridge, (*shape, k)),
        np.broadcast_to(ensemble.readout_noise, (*shape, k)),
    )


def broadcast_general(
    problem: Problem, ensemble: Ensemble, alpha: FloatArray
) -> tuple[tuple[int, ...], tuple[FloatArray, FloatArray, FloatArray, FloatArray]]:
    """The grid's shape, and α (G,), λ (G, k), η (G, k), ζ (G,) flattened over it."""
    k = ensemble.n_members
    shape = _common_shape(
        sample_ratio=alpha.shape,
        label_noise=problem.label_noise.shape,
        ridge=ensemble.ridge.shape[:-1],
        readout_noise=ensemble.readout_noise.shape[:-1],
    )
    flat = (
        np.broadcast_to(alpha, shape).reshape(-1),
        np.broadcast_to(ensemble.ridge, (*shape, k)).reshape(-1, k),
        np.broadcast_to(ensemble.readout_noise, (*shape, k)).reshape(-1, k),
        np.broadcast_to(problem.label_noise, shape).reshape(-1),
    )
    return shape, flat


def _common_shape(**shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape all parameters broadcast to, or an error that names them."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError as error:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape)
        raise ParameterError(f"leading shapes do not broadcast together: {listed}; add axes of length 1") from error
