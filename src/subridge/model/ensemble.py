"""A ridge ensemble: subsets, ridges, readout noise and aggregation."""

from dataclasses import dataclass

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.aggregation import Aggregation, read_aggregation
from subridge.model.checks import finite_array, non_negative, real_array
from subridge.model.errors import ParameterError, SubsetError
from subridge.model.fingerprint import Fingerprinted
from subridge.model.plan import SubsetPlan
from subridge.model.subsets import Strategy

_MOST_MEMBERS = 10_000  # of an ensemble given by fractions, which are kept as a matrix


@dataclass(frozen=True, eq=False)
class Ensemble(Fingerprinted):
    """An ensemble of k ridge predictors on subsets of features, and how their outputs become one.

    Parameters
    ----------
    subsets : SubsetPlan, Strategy or array_like
        A plan; a strategy that draws plans (for simulations); the matrix of subset fractions ν_rr (diagonal) and
        overlap fractions ν_rr′, shape (..., k, k); or the fractions of k disjoint subsets, shape (k,).
    ridge, readout_noise : array_like, shape () or (..., k)
        λ_r and η_r. The last axis is the member (length k, or 1 for a common value); leading axes broadcast with
        sample ratios. Any finite ridge is accepted here; a negative one is checked where it is used.
    aggregation : str or Aggregation, default="mean"
        "mean"; "scaled", the mean times its best scale; "simplex", the best non-negative weights with sum one; "free",
        the best non-negative weights; "median"; or, for classes, "majority" and "sum".

    Raises
    ------
    SubsetError
        If fractions contradict each other, such as two members that see more than all features.
    ParameterError
        If a ridge or a noise does not fit the number of members, or there is no such aggregation.
    DataError
        If something is NaN or infinite.

    See Also
    --------
    subridge.subsets : plans and strategies.
    subridge.Aggregation : what an aggregation of your own must offer.

    Examples
    --------
    >>> import subridge as sr
    >>> sr.Ensemble([0.1, 0.3, 0.5], ridge=1e-3, readout_noise=[0.1, 0.1, 0.2]).n_members
    3
    >>> ensemble = sr.Ensemble(sr.subsets.equal(2, n_features=10, seed=0))
    >>> ensemble.plan.subset_sizes
    array([5, 5])
    >>> ensemble.fractions
    array([[0.5, 0. ],
           [0. , 0.5]])
    """

    subsets: "SubsetPlan | Strategy | FloatArray"
    ridge: FloatArray
    readout_noise: FloatArray
    aggregation: Aggregation

    def __init__(
        self,
        subsets: "SubsetPlan | Strategy | ArrayLike",
        ridge: ArrayLike = 0.0,
        readout_noise: ArrayLike = 0.0,
        aggregation: str | Aggregation = "mean",
    ) -> None:
        kept = subsets if isinstance(subsets, SubsetPlan | Strategy) else _fraction_matrix(subsets)
        self._set(subsets=kept, aggregation=read_aggregation(aggregation))
        values = {"ridge": finite_array("ridge", ridge), "readout_noise": non_negative("readout_noise", readout_noise)}
        for name, each in values.items():
            if each.ndim and each.shape[-1] not in (1, self.n_members):
                raise ParameterError(
                    f"the last axis of {name} is the member and must have length {self.n_members} or 1, got shape "
                    f"{each.shape}; to sweep a common {name} put it on a leading axis: values[:, None]"
                )
            self._set(**{name: np.atleast_1d(each)})

    @property
    def n_members(self) -> int:
        """Number of members, k."""
        if isinstance(self.subsets, np.ndarray):
            return int(self.subsets.shape[-1])
        return self.subsets.n_members

    @property
    def plan(self) -> SubsetPlan:
        """The subset plan; an ensemble of a strategy or of fractions has none, which is a SubsetError."""
        if isinstance(self.subsets, SubsetPlan):
            return self.subsets
        raise SubsetError(
            "this needs to know which features each member sees, but the ensemble holds "
            f"{'fractions' if isinstance(self.subsets, np.ndarray) else 'a strategy'}; build it from a SubsetPlan, "
            "for example sr.subsets.equal(n_members, n_features, seed)"
        )

    @property
    def fractions(self) -> FloatArray:
        """Subset fractions ν_rr on the diagonal, overlap fractions ν_rr′ beside it; shape (..., k, k)."""
        if isinstance(self.subsets, np.ndarray):
            return self.subsets
        return self.plan.fractions


def _fraction_matrix(subsets: ArrayLike) -> FloatArray:
    nu = np.atleast_1d(real_array("subsets", subsets))
    if nu.shape[-1] > _MOST_MEMBERS:
        raise SubsetError(f"fractions of {nu.shape[-1]:,} members make a matrix of that many squared; give fewer")
    nu = np.diag(nu) if nu.ndim == 1 else nu
    if nu.shape[-1] != nu.shape[-2] or not nu.size:
        raise SubsetError(f"fractions must have shape (k,) for disjoint subsets or (..., k, k), got {nu.shape}")
    own, slack = np.diagonal(nu, axis1=-2, axis2=-1), 1e-12  # fractions are often quotients of counts
    with np.errstate(invalid="ignore"):  # of infinite fractions
        smaller = np.minimum(own[..., :, None], own[..., None, :])
        union = (own[..., :, None] + own[..., None, :] - nu)[..., ~np.eye(nu.shape[-1], dtype=bool)]
        # Features seen by at least one member are at least Σ ν_rr - Σ_{r<s} ν_rs of all (Bonferroni).
        seen = own.sum(axis=-1) - np.triu(nu, 1).sum(axis=(-2, -1))
        faults = {
            f"subset fractions must lie in (0, 1], got {own.min():g} to {own.max():g}": (own <= 0) | (own > 1 + slack),
            "the matrix of fractions must be symmetric: the overlap of r and s is that of s and r": (
                np.abs(nu - np.swapaxes(nu, -1, -2)) > slack
            ),
            "an overlap fraction must lie between 0 and the smaller of the two subset fractions": (
                (nu < 0) | (nu > smaller + slack)
            ),
            "two members together see more than all features; raise their overlap or shrink them": union > 1 + slack,
            f"the members together would see {seen.max():g} of all features; shrink or overlap them": (
                seen > 1 + slack * nu.shape[-1]
            ),
        }
    for message, wrong in faults.items():
        if wrong.any():
            raise SubsetError(message)
    nu.setflags(write=False)
    return nu
