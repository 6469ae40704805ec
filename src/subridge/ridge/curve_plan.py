"""Which side of the ridge problem to factor for which training-set size, by counted operations.

With F of shape (P, N) and n_P training sets that are prefixes of one sample, a ridge λ costs

- dual, all sizes up to P_d at once: one factor of P_d × P_d, P_d³/3 operations, and 2 P_d² per size for the solve;
  the Gram matrix P_d² N is shared by all ridges;
- primal, each size by itself: one factor of N × N, N³/3; the Gram matrix of all prefixes together P N², shared.

The cheapest split of the sorted sizes into a dual head and a primal tail is found by trying every one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

# The dual factor beyond P = N loses about 2e-15/λ of the weights (float64, features of unit variance): below this ridge
# sizes beyond N are solved on the primal side, and conditioning is watched.
_DELICATE = {"float64": 1e-7, "float32": 1e-2}

# A factorisation of a small matrix runs below the rate of a product: n³/3 operations take the time of (n³ + c n²)/3
# in a product. Fitted to LAPACK at n = 200 to 2000 (10 to 34 GFLOP/s a core, products 50 to 70).
_FACTOR_OVERHEAD = 1400.0
# What any factorisation costs besides: copies, calls and two solves, some 50 µs.
_CALL_OVERHEAD = 3e6


@dataclass(frozen=True)
class CurvePlan:
    """How one group of ridges is solved along a curve.

    Attributes
    ----------
    n_samples : tuple of int, strictly ascending
    ridges : tuple of float
    which : tuple of int
        Positions of these ridges in the caller's list.
    n_dual : int
        The first `n_dual` sizes are solved on the dual side, the others on the primal side.
    watched : bool
        Conditioning is checked, and an orthogonal factorisation replaces what is ill conditioned.
    """

    n_samples: tuple[int, ...]
    ridges: tuple[float, ...]
    which: tuple[int, ...]
    n_dual: int
    watched: bool

    @property
    def dual_size(self) -> int:
        """Rows of the dual factor; 0 when there is none."""
        return self.n_samples[self.n_dual - 1] if self.n_dual else 0


def plan_curve(
    n_samples: Sequence[int], n_features: int, ridges: Sequence[float], *, scale: float = 1.0, dtype: str = "float64"
) -> list[CurvePlan]:
    """Split ridges and sizes into groups, each with its cheapest stable method.

    Parameters
    ----------
    n_samples : sequence of int, strictly ascending
    n_features : int
        N, of one member.
    ridges : sequence of float, each at least 0
    scale : float
        Mean squared entry of the unscaled features, the unit in which a ridge is small.
    dtype : {"float64", "float32"}

    Returns
    -------
    list of CurvePlan
        At most two: ordinary ridges, and those so small that conditioning is watched.

    Examples
    --------
    >>> [(plan.n_dual, plan.watched) for plan in plan_curve([10, 20, 30], 20, [0.0, 1e-3])]
    [(3, False), (2, True)]
    """
    sizes, delicate = tuple(n_samples), _DELICATE[dtype] * scale
    ordinary = tuple(i for i, lam in enumerate(ridges) if lam >= delicate and lam > 0)
    watched = tuple(i for i in range(len(ridges)) if i not in ordinary)
    plans = []
    for which, careful in ((ordinary, False), (watched, True)):
        if not which:
            continue
        at_most = sum(n_features >= P for P in sizes) if careful else len(sizes)
        splits = [at_most] if careful else list(range(at_most + 1))
        costs = [split_cost(sizes, n_features, len(which), split) for split in splits]
        best = splits[costs.index(min(costs))]
        plans.append(CurvePlan(sizes, tuple(ridges[i] for i in which), which, best, careful))
    return plans


def split_cost(n_samples: Sequence[int], n_features: int, n_ridges: int, n_dual: int) -> float:
    """Operations of a curve whose first `n_dual` sizes are solved dually; see the head of this file."""
    N, P_d, P = n_features, (n_samples[n_dual - 1] if n_dual else 0), n_samples[-1]
    n_primal = len(n_samples) - n_dual
    dual = P_d * P_d * N + n_ridges * (factor_cost(P_d) + n_dual * (2 * P_d * P_d + 2 * P_d * N))
    primal = (P * N * N if n_primal else 0.0) + n_ridges * n_primal * (factor_cost(N) + 4 * N * N)
    return dual + primal


def factor_cost(n: int) -> float:
    """Operations of a Cholesky factorisation, with what a small matrix wastes."""
    return (n**3 + _FACTOR_OVERHEAD * n * n) / 3 + _CALL_OVERHEAD if n else 0.0
