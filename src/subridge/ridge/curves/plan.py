"""Which side of the ridge problem to factor for which training-set size, by counted operations.

With F of shape (P, N) and n_P training sets that are prefixes of one sample, a ridge λ costs

- dual, all sizes up to P_d at once: one factor of P_d × P_d, P_d³/3 operations, and 2 P_d² per size for the solve;
  the Gram matrix P_d² N is shared by all ridges;
- primal, one size: one factor of N × N, N³/3; the Gram matrix of all prefixes together P N², shared;
- anchored, a primal size P_0 and the sizes up to P_0 + m after it: in the coordinates that whiten the anchor's matrix
  the m further samples are a small dual problem, whose factor serves all its prefixes. N³/3 for the anchor, N² m to
  whiten, m² N for the Gram matrix and m³/3 for its factor.

The cheapest split of the sorted sizes into a dual head and anchored segments is found by dynamic programming.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

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
    """How one group of ridges, at positions `which` of the caller's list, is solved along a curve of ascending sizes.

    The first `n_dual` sizes are solved on the dual side. `segments` are the others, as ranges of positions: the first
    of a range is solved on the primal side and anchors the rest. Where `watched`, conditioning is checked, and an
    orthogonal factorisation replaces what is ill conditioned.
    """

    n_samples: tuple[int, ...]
    ridges: tuple[float, ...]
    which: tuple[int, ...]
    n_dual: int
    segments: tuple[tuple[int, int], ...]
    watched: bool

    @property
    def dual_size(self) -> int:
        """Rows of the dual factor; 0 when there is none."""
        return self.n_samples[self.n_dual - 1] if self.n_dual else 0


def plan_curve(
    n_samples: Sequence[int], n_features: int, ridges: Sequence[float], *, scale: float = 1.0, dtype: str = "float64"
) -> list[CurvePlan]:
    """Split ridges and strictly ascending sizes into groups, each with its cheapest stable method.

    At most two: ordinary ridges, and those so small that conditioning is watched. `n_features` is N of one member,
    `scale` the mean squared entry of the unscaled features, the unit in which a ridge is small.
    """
    return list(_planned(tuple(n_samples), n_features, tuple(ridges), _DELICATE[dtype] * scale))


@lru_cache(maxsize=256)
def _planned(
    sizes: tuple[int, ...], n_features: int, ridges: tuple[float, ...], delicate: float
) -> tuple[CurvePlan, ...]:
    ordinary = tuple(i for i, lam in enumerate(ridges) if lam >= delicate and lam > 0)
    watched = tuple(i for i in range(len(ridges)) if i not in ordinary)
    plans = []
    if ordinary:
        n_dual, segments = cheapest_split(sizes, n_features, len(ordinary))
        plans.append(CurvePlan(sizes, tuple(ridges[i] for i in ordinary), ordinary, n_dual, segments, False))
    if watched:
        n_dual = sum(n_features >= P for P in sizes)
        alone = tuple((i, i + 1) for i in range(n_dual, len(sizes)))
        plans.append(CurvePlan(sizes, tuple(ridges[i] for i in watched), watched, n_dual, alone, True))
    return tuple(plans)


def cheapest_split(n_samples: Sequence[int], n_features: int, n_ridges: int) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Number of dual sizes and the anchored segments after them, with the fewest operations."""
    n, N = len(n_samples), n_features
    tail, choice = [0.0] * (n + 1), [n] * (n + 1)
    for i in reversed(range(n)):
        costs = [n_ridges * segment_cost(n_samples, N, i, stop) + tail[stop] for stop in range(i + 1, n + 1)]
        tail[i] = min(costs)
        choice[i] = i + 1 + costs.index(tail[i])
    gram = n_samples[-1] * N * N
    totals = [dual_cost(n_samples, N, n_ridges, i) + (gram + tail[i] if i < n else 0.0) for i in range(n + 1)]
    n_dual = totals.index(min(totals))
    segments, i = [], n_dual
    while i < n:
        segments.append((i, choice[i]))
        i = choice[i]
    return n_dual, tuple(segments)


def dual_cost(n_samples: Sequence[int], n_features: int, n_ridges: int, n_dual: int) -> float:
    """Operations of the first `n_dual` sizes solved dually; a solve counts twice, for its rate."""
    N, d = n_features, (n_samples[n_dual - 1] if n_dual else 0)
    return d * d * N + n_ridges * (factor_cost(d) + n_dual * (2 * d * d + 2 * d * N))


def segment_cost(n_samples: Sequence[int], n_features: int, start: int, stop: int) -> float:
    """Operations of one ridge on a segment: its anchor, and the sizes that lean on it; whitening counts twice."""
    N, m, n = n_features, n_samples[stop - 1] - n_samples[start], stop - start - 1
    cost = factor_cost(N) + 4 * N * N
    if n:
        cost += 2 * N * N * m + m * m * N + factor_cost(m) + n * (2 * m * m + 2 * m * N + 2 * N * N)
    return cost


def factor_cost(n: int) -> float:
    """Operations of a Cholesky factorisation, with what a small matrix wastes."""
    return (n**3 + _FACTOR_OVERHEAD * n * n) / 3 + _CALL_OVERHEAD if n else 0.0
