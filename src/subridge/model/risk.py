"""The error of an ensemble, term by term."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray
from subridge.model.aggregation import ALIKE, EPS, Aggregation, MemberMoments, linear, quadratic, weighted
from subridge.model.checks import Shown, finite_array, in_short, real_array
from subridge.model.errors import ParameterError

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, eq=False, repr=False)
class Risk(Shown):
    """Generalization error, typical (theory) or of given weights (experiment).

    Attributes
    ----------
    moments : MemberMoments
        Second moments of members and target, from which all else follows.
    total : ndarray, shape (...)
        E_g of the ensemble's aggregation: the mean of the pairs, or E(w) with the weights of another aggregation.
    error_bound : ndarray, shape (...), or None
        Bound of the relative rounding error of `total`, inf where no digit is certain. It is None (risks of trained
        weights) or NaN where it is not known. The bound is of first order and calibrated, not proved. On other test
        data it is known only for the mean of an `EquicorrelatedProblem`. The test moments of a `Problem` come from a
        plain decomposition, which gives no error of each eigenvalue. Weights that were fitted to data like those of
        training are not a minimum on the test data, so that their own rounding counts to first order.

    See Also
    --------
    subridge.risk : the typical risk by theory.
    subridge.risk_of_weights : the exact risk of trained members.

    Examples
    --------
    Two members that each see half of the independent features, with infinite data. Each learns its half of the target:

    >>> import subridge as sr
    >>> found = sr.risk(sr.EquicorrelatedProblem(), sr.Ensemble([0.5, 0.5]), float("inf"))
    >>> isinstance(found, Risk), found.total
    (True, array(0.25))
    >>> found.pairs
    array([[0.5, 0. ],
           [0. , 0.5]])
    >>> found.v, found.c
    (array(1.), array([0.5, 0.5]))
    >>> found.F
    array([[0.5, 0. ],
           [0. , 0.5]])
    >>> Risk.of_moments(found.moments, sr.aggregation.Free()).total
    array(0.)
    """

    moments: MemberMoments
    total: FloatArray
    error_bound: FloatArray | None = None

    def _shown(self) -> dict[str, str]:
        shown = {"total": in_short(self.total), "n_members": str(self.moments.n_members)}
        return shown if self.error_bound is None else shown | {"error_bound": in_short(self.error_bound)}

    @property
    def pairs(self) -> FloatArray:
        """E_rr′ of members r and r′, eq. 5 (SingleErrorTerm); shape (..., k, k)."""
        return self.moments.pairs

    @property
    def c(self) -> FloatArray:
        """Cross moments c_r = E[y f_r] of the noise-free target y and the output of member r; shape (..., k)."""
        return self.moments.c

    @property
    def F(self) -> FloatArray:
        """Products F_rr′ = E[f_r f_r′] = E_rr′ - v + c_r + c_r′ of the outputs; shape (..., k, k)."""
        return self.moments.F

    @property
    def v(self) -> FloatArray:
        """Power v = E[y²] of the noise-free target; shape (...).

        Infinite, as c and F are, for correlated features with a teacher along them in the limit M → ∞.
        """
        return self.moments.with_target()[1]

    def of_weights(self, weights: ArrayLike) -> FloatArray:
        """The risk ``E(w) = v - 2wᵀc + wᵀFw`` of the members under any weights.

        Parameters
        ----------
        weights : array_like, shape (..., k)
            Weights of the members, of any sum; leading axes broadcast with those of `total`.

        Returns
        -------
        ndarray, shape (...)
            The risk E(w).

        Raises
        ------
        ParameterError
            If there is not one weight per member.
        DataError
            If a weight is NaN or infinite.

        Examples
        --------
        >>> import subridge as sr
        >>> found = sr.risk(sr.EquicorrelatedProblem(), sr.Ensemble([0.5, 0.5]), float("inf"))
        >>> found.of_weights([[0.5, 0.5], [1.0, 1.0]])  # weights of one make no error
        array([0.25, 0.  ])
        """
        w = finite_array("weights", weights)
        if not w.ndim or w.shape[-1] != self.moments.n_members:
            raise ParameterError(
                f"the last axis of weights is the member and must have length {self.moments.n_members}, got {w.shape}"
            )
        return _not_below_zero(self.moments.risk_of(w))

    def to_dataset(self, **coordinates: ArrayLike) -> "xr.Dataset":
        """The risk with named axes.

        Parameters
        ----------
        **coordinates : array_like, each of shape (n,)
            The axes of `total` from first to last, with their values. Without any they are called axis_0, axis_1, ...

        Returns
        -------
        xarray.Dataset
            ``risk``, ``pairs`` (with the axes member and other_member) and, if it is known, ``error_bound``.

        Raises
        ------
        ParameterError, DataError
            If the coordinates do not fit the shape of `total`, or are NaN.

        Examples
        --------
        >>> import subridge as sr
        >>> alphas = [0.2, 0.6, 1.0]
        >>> found = sr.risk(sr.EquicorrelatedProblem(), sr.Ensemble([0.5, 0.5]), alphas, ridges=[0.1, 1.0])
        >>> dict(found.to_dataset(ridge=[0.1, 1.0], sample_ratio=alphas).risk.sizes)
        {'ridge': 2, 'sample_ratio': 3}
        """
        import xarray as xr  # slow to import

        shape = self.total.shape
        given = {name: real_array(name, each) for name, each in coordinates.items()}
        shapes = {name: each.shape for name, each in given.items()}
        if shapes and (
            list(shapes.values()) != [(n,) for n in shape]
            or shapes.keys() & {"risk", "pairs", "error_bound", "member", "other_member"}
        ):
            raise ParameterError(
                f"coordinates must name the axes of total, of shape {shape}, in order, and by other names than risk, "
                f"pairs, error_bound, member and other_member; got {shapes}"
            )
        names = tuple(given) or tuple(f"axis_{i}" for i in range(len(shape)))
        variables = {"risk": (names, self.total), "pairs": ((*names, "member", "other_member"), self.pairs)}
        if self.error_bound is not None:
            variables["error_bound"] = names, np.broadcast_to(self.error_bound, shape)
        return xr.Dataset(variables, given)

    def plot(self, **coordinates: ArrayLike) -> object:
        """Draw the risk over its last axis, a line for each value of another; a shorthand of xarray's ``plot``.

        Parameters
        ----------
        **coordinates : array_like, each of shape (n,)
            As for `to_dataset`; there must be one or two.

        Returns
        -------
        list of matplotlib.lines.Line2D
            The lines.

        Raises
        ------
        ParameterError
            If the coordinates do not fit the shape of `total`.

        Examples
        --------
        >>> import subridge as sr
        >>> found = sr.risk(sr.EquicorrelatedProblem(), sr.Ensemble([0.5, 0.5], 0.1), [0.2, 0.6, 1.0])
        >>> len(found.plot(sample_ratio=[0.2, 0.6, 1.0]))
        1
        """
        named = self.to_dataset(**coordinates).risk
        if named.ndim not in (1, 2):
            raise ParameterError(f"plot draws one or two axes, but total has the shape {self.total.shape}")
        return named.plot.line(x=str(named.dims[-1]))

    @classmethod
    def of_moments(
        cls, moments: MemberMoments, aggregation: Aggregation | None = None, rounding: FloatArray | None = None
    ) -> "Risk":
        """The risk of members with these moments under an aggregation.

        Parameters
        ----------
        moments : MemberMoments
            Second moments of members and target.
        aggregation : Aggregation, optional
            How outputs are combined; None is the mean.
        rounding : ndarray, shape (..., k, k), optional
            Bound of the absolute error of the pairs, if it is known.

        Returns
        -------
        Risk
            With `total` of shape (...).

        Raises
        ------
        ParameterError
            If the aggregation is not a weighted sum of the outputs, such as the median.
        """
        if aggregation is None or aggregation.is_mean:
            total = _not_below_zero(moments.pairs.mean(axis=(-2, -1)))
            return cls(
                moments,
                total,
                None if rounding is None else _relative(rounding.mean(axis=(-2, -1)), total, moments, rounding),
            )
        weights = aggregation.weights(moments)
        if rounding is None:
            return cls(moments, _not_below_zero(moments.risk_of(weights)))
        return cls(moments, *_total_and_bound(moments, weights, rounding))


def _total_and_bound(
    moments: MemberMoments, weights: FloatArray, rounding: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The risk in the form with the smaller bound of the rounding error, and that bound as a share of it."""
    total = moments.by_errors(weights)
    size = moments.by_errors(weights, absolute=True)
    outputs = moments.outputs
    w = abs(weights)
    rest = abs(moments.rest(weights))
    v = np.zeros(()) if moments.v is None else moments.v
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        # Members that count as one may add this share of their errors, or of their outputs.
        alike = 2 * moments.n_members * ALIKE
        error = quadratic(w, rounding) + alike * size + 32 * EPS * weighted(rest, v)
        if outputs is not None:
            other, size = moments.by_outputs(weights, outputs)
            c = linear(weights, outputs.c)
            dc = linear(w, outputs.dc)
            F = quadratic(w, abs(outputs.F))
            dF = quadratic(w, outputs.dF)
            wrong = dF + 2 * dc + 4 * EPS * size + alike * F
            better = wrong < error
            # `missed` is as uncertain as `c`. Weights that sum to one do not use it.
            error = np.where(better, wrong, error + 2 * weighted(rest, dc))
            total = np.where(better, other, total)
            # E(w) holds the target's power once. The part of it in the pairs has a bound of its own.
            share = np.where(better, 1.0, rest * (rest + 2 * w.sum(axis=-1)))
            # A relative error δ of the weights' scale wᵀc/wᵀFw adds δ² wᵀFw, which dominates where the risk is tiny.
            astray = (dc / abs(c) + dF / F + 4 * moments.n_members * EPS) ** 2 * F
            error = error + weighted(share, outputs.dv) + np.where(np.isfinite(F) & (F > 0), astray, 0.0)
    total = _not_below_zero(total)
    return total, _relative(error, total, moments, rounding)


def _not_below_zero(total: FloatArray) -> FloatArray:
    """Clip negative rounding residue to zero; a risk is a mean of squares."""
    return np.asarray(np.maximum(total, 0.0))


def _relative(error: FloatArray, total: FloatArray, moments: MemberMoments, rounding: FloatArray) -> FloatArray:
    """An absolute bound as a share of the total: inf where no digit is certain, 0 where the total is surely inf."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        bound = np.where(error == 0, 0.0, error / abs(total))
    by_rounding = (np.isinf(moments.pairs) & np.isinf(rounding)).any(axis=(-2, -1))
    return np.where(np.isinf(total) & ~by_rounding, 0.0, np.where(bound < 0.1, bound, np.inf))
