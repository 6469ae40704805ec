"""One decomposition per member serves every ridge.

With the centred design ``F = Q diag(√d) Vᵀ`` (n × N_r) and a penalty p = λ_r N_r,

- weights: ``V √d/(d+p) Qᵀg``;
- hat matrix: ``H = uuᵀ + Q d/(d+p) Qᵀ``, where u = √w/‖√w‖ belongs to the intercept;
- ``I - H = [I - uuᵀ - QQᵀ] + Q p/(d+p) Qᵀ``, whose second term needs no subtraction of nearly equal numbers.

Cost per member, in multiplications: n s² for the smaller side s = min(n, N_r) times the larger, about 9 s³ for its
eigenvectors, n N_r s for Q, and 2 n s per ridge and target: the floor is the Gram matrix, which is formed once.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from subridge.arrays.namespace import device_of, like, namespace_of, take_last, to_numpy
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.ridge.rows.careful import decompose_carefully
from subridge.ridge.rows.design import Design

# A Gram matrix squares the condition number: directions whose (d + p)/d_max falls below this would lose more than
# half of the 16 digits, so the design itself is decomposed instead.
_GRAM_LIMIT = 1e-7
_EPS = float(np.finfo(np.float64).eps)
_ORTHONORMAL_NOISE = 30 * _EPS  # of a sum of squares that should be one; measured up to 8 eps at n = 2000


@dataclass(frozen=True, eq=False)
class MemberDecomposition:
    """Singular value decomposition of one member's design, of rank ρ.

    `left` is Qᵀ, shape (ρ, n); `spectrum` d, shape (ρ,), the squared singular values, all positive; `right` Vᵀ, shape
    (ρ, N_r), or None when the kernel side was decomposed, where `design` takes its place. `spans_samples` says that Q
    and the intercept span all of R^n: without ridge the member interpolates. `slack_noise` bounds the rounding error in
    the diagonal of I - QQᵀ, below which that diagonal counts as zero; it is -inf where only penalties that do not
    resolve it may be asked for. `sharpness`, of a careful decomposition only, is the uncertainty of the space Q spans,
    and `direction` is u. `dropped` bounds d in the directions that were taken for rounding; 0 where there are none.
    """

    left: Array
    spectrum: Array
    right: Array | None
    design: Design
    spans_samples: bool
    slack_noise: float
    sharpness: float | None = None
    direction: Array | None = None
    dropped: float = 0.0

    def between(self, samples: IntArray, gains: Array) -> Array:
        """Rows of ``Q diag(gains) Qᵀ`` at m samples, for gains (ρ,); shape (m, n)."""
        return (take_last(self.left, samples) * gains[:, None]).T @ self.left

    def scores(self, centred: Array, penalty: float) -> Array:
        """``√d/(d+p) Vᵀ(x - x̄)`` for new rows x - x̄ of shape (m, N_r); shape (m, ρ)."""
        d = self.spectrum
        if self.right is None:
            return self.design.onto_samples(centred) @ self.left.T / (d + penalty)
        return (centred @ self.right.T) * (d**0.5 / (d + penalty))


def decompose(
    design: Design,
    least_penalty: float,
    fit_intercept: bool,
    gram_limit: float = _GRAM_LIMIT,
    direction: Array | None = None,
) -> MemberDecomposition:
    """Decompose the smaller side of a member's design, or the design itself where that is too ill-conditioned.

    `least_penalty` is the smallest p that will be asked for, 0 for the minimum-norm solution; `fit_intercept` says that
    the design was centred, which takes one dimension of the samples. The Gram matrix serves down to (d + p)/d_max of
    `gram_limit`, by default half of the digits; what lies below costs a singular value decomposition of the design.
    `direction` is u, shape (n,): the intercept's share of the samples, which must not mix with small directions.

    >>> import numpy as np
    >>> from subridge.ridge.rows.design import DenseDesign
    >>> decompose(DenseDesign(np.array([[3.0, 0.0, 0.0], [0.0, 1.0, 0.0]])), 0.0, False).spectrum
    array([1., 9.])
    """
    n, N = design.n_samples, design.n_features
    room = n - int(fit_intercept)
    largest_rank = min(N, room)
    by_features = room > N
    side = design.gram() if by_features else design.kernel()
    lifted = False
    if direction is not None and not by_features:  # the intercept's direction comes out last, above everything
        lifted = True
        side = side + 2 * float(abs(side).sum(axis=0).max()) * direction[:, None] * direction
    d, vectors = namespace_of(side).linalg.eigh(side)
    last = d.shape[0] - int(lifted)
    d, vectors = d[last - largest_rank : last], vectors[:, last - largest_rank : last]
    top = float(d[-1]) if largest_rank else 0.0
    if top > 0 and max(float(d[0]), 0.0) + least_penalty < gram_limit * top:
        return _orthogonal(design, room) if direction is None and fit_intercept else careful(design, room, direction)
    dropped = int((d <= _EPS * max(n, N) * max(top, 0.0)).sum())  # d ascends
    lost = max(float(d[dropped - 1]), 0.0) + 4 * _EPS * top if dropped else 0.0
    d, vectors = d[dropped:], vectors[:, dropped:]
    rank = largest_rank - dropped
    if not by_features:
        return MemberDecomposition(vectors.T, d, None, design, rank == room, _ORTHONORMAL_NOISE, dropped=lost)
    left = design.onto_samples((vectors / d**0.5).T)
    condition = top / float(d[0]) if rank else 1.0
    noise = _ORTHONORMAL_NOISE * condition if condition < 1 / _GRAM_LIMIT else -np.inf
    return MemberDecomposition(left, d, vectors.T, design, rank == room, noise, dropped=lost)


def _orthogonal(design: Design, room: int) -> MemberDecomposition:
    """The decomposition that never squares the condition number, with the cut-off of `numpy.linalg.lstsq`."""
    Ft = design.dense()
    try:
        V, s, Qt = namespace_of(Ft).linalg.svd(Ft, full_matrices=False)
    except np.linalg.LinAlgError:  # divide and conquer may fail on many rows of zeros; the slower method does not
        V, s, Qt = scipy.linalg.svd(Ft, full_matrices=False, lapack_driver="gesvd")
    rank = int((s > _EPS * max(Ft.shape) * s[0]).sum())
    # A centred square design has rank n - 1 at most; what lies beyond is rounding.
    rank = min(rank, room)
    return MemberDecomposition(Qt[:rank, :], s[:rank] ** 2, V[:, :rank].T, design, rank == room, _ORTHONORMAL_NOISE)


def careful(design: Design, room: int, direction: Array | None) -> MemberDecomposition:
    """The decomposition that keeps the digits of columns of any scale; see `decompose_carefully`."""
    Ft = design.dense()
    u = None if direction is None else to_numpy(direction)
    found = decompose_carefully(to_numpy(Ft), u, room)
    left, spectrum, right = (like(part, Ft) for part in found[:3])
    sharpness = max(found.sharpness, _ORTHONORMAL_NOISE)
    rank = len(found.spectrum)
    lost = found.dropped if rank < min(room, design.n_features) else 0.0
    return MemberDecomposition(
        left, spectrum, right, design, rank == room, _ORTHONORMAL_NOISE, sharpness, direction, lost
    )


def path_coefficients(member: MemberDecomposition, targets: Array, penalties: FloatArray) -> Array:
    """Weights on the unscaled features, shape (L, C, N_r), for penalties p = λ_r N_r, shape (L,).

    Targets are the centred and weighted labels g, shape (C, n).
    """
    d, A = member.spectrum, targets @ member.left.T  # A = gᵀQ, shape (C, ρ)
    inverse = 1 / (d + as_column(penalties, d))  # (L, ρ)
    if member.right is None:
        dual = scaled_rows(A, inverse) @ member.left
        flat = member.design.onto_features(dual)
    else:
        flat = scaled_rows(A, inverse * d**0.5) @ member.right
    return flat.reshape((len(penalties), targets.shape[0], member.design.n_features))


def scaled_rows(A: Array, gains: Array) -> Array:
    """Rows of A scaled by each row of gains: (C, ρ) and (L, ρ) to (L·C, ρ)."""
    return (gains[:, None, :] * A[None, :, :]).reshape((gains.shape[0] * A.shape[0], A.shape[1]))


def as_column(penalties: FloatArray, example: Array) -> Array:
    """Penalties as a column in the library of the example; shape (L,) to (L, 1)."""
    return namespace_of(example).asarray(penalties[:, None], dtype=example.dtype, device=device_of(example))
