"""Turn the ``subsets`` parameter of an estimator into a plan for the features it sees."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from subridge.spec.checks import positive_integer
from subridge.spec.errors import ParameterError, SubsetError
from subridge.spec.plan import SubsetPlan
from subridge.subsets import Dirichlet, Equal, Overlapping, Projection

STRATEGIES = ("equal", "dirichlet", "overlapping", "projection")


def draw_plan(
    subsets: Any,
    n_features: int,
    rng: np.random.Generator,
    *,
    n_estimators: int = 10,
    fraction_spread: float = 0.75,
    subset_sizes: Any = None,
) -> SubsetPlan:
    """Draw, or adopt, the subsets of an estimator.

    Parameters
    ----------
    subsets : str, SubsetPlan, strategy, sequence of index arrays or masks, or callable
        A callable gets ``(n_features, rng)`` and returns a plan or a sequence of index arrays.
    n_features : int
        M.
    rng : numpy.random.Generator
    n_estimators, fraction_spread, subset_sizes
        As for the estimators; used by the named strategies only.

    Returns
    -------
    SubsetPlan

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> draw_plan("equal", 4, rng, n_estimators=10).n_members
    4
    >>> draw_plan([[0, 1], [3]], 4, rng).subset_sizes
    array([2, 1])
    """
    if isinstance(subsets, str):
        return _named(subsets, n_features, n_estimators, fraction_spread, subset_sizes).draw(n_features, rng)
    if hasattr(subsets, "draw"):
        drawn = subsets.draw(n_features, rng)
    elif callable(subsets):
        drawn = subsets(n_features, rng)
    else:
        drawn = subsets
    if isinstance(drawn, SubsetPlan):
        if drawn.n_features != n_features:
            raise SubsetError(f"subsets is a plan for {drawn.n_features} features, but X has {n_features}")
        return drawn
    if isinstance(drawn, Sequence | np.ndarray):
        return SubsetPlan.from_indices(drawn, n_features)
    raise SubsetError(
        f"subsets must be one of {STRATEGIES}, a SubsetPlan, a strategy, index arrays or a callable, got {subsets!r}"
    )


def _named(name: str, n_features: int, n_estimators: int, fraction_spread: float, subset_sizes: Any) -> Any:
    k = min(positive_integer("n_estimators", n_estimators), n_features)
    if name == "equal":
        return Equal(k)
    if name == "dirichlet":
        return Dirichlet(k, fraction_spread)
    if name in ("overlapping", "projection"):
        sizes = _sizes(subset_sizes, k, n_features)
        return Overlapping(sizes) if name == "overlapping" else Projection(sizes)
    raise ParameterError(f"subsets must be one of {STRATEGIES} when it is a string, got {name!r}")


def _sizes(subset_sizes: Any, k: int, n_features: int) -> tuple[int, ...]:
    """One size per member; a float is a fraction of the features, None an even share of them."""
    if subset_sizes is None:
        subset_sizes = 1 / k
    wanted = np.atleast_1d(np.asarray(subset_sizes))
    if wanted.dtype.kind == "f":
        if (wanted <= 0).any() or (wanted > 1).any():
            raise ParameterError(f"subset_sizes must lie in (0, 1] as fractions of the features, got {subset_sizes!r}")
        wanted = np.maximum(np.round(wanted * n_features), 1).astype(int)
    if wanted.ndim != 1 or wanted.dtype.kind not in "iu" or len(wanted) not in (1, k):
        raise ParameterError(f"subset_sizes must be one size or one per member ({k}), got {subset_sizes!r}")
    return tuple(int(size) for size in np.broadcast_to(wanted, (k,)))
