"""One linear model with a ridge per feature space, for each target its own, chosen by exact left-out errors.

Banded ridge regression (Dupré la Tour, Eickenberg, Nunez-Elizalde and Gallant 2022, NeuroImage 264) on spaces s with
centred, weighted rows F_s. With ``v_s = tr(F_s F_sᵀ)/n``, kernels ``K_s = F_s F_sᵀ/v_s``, shares g of the spaces, a
ridge λ, weighted labels y and the direction u = √w of the intercept,

- ``A = Σ_s g_s K_s + λ I``, ``B = A⁻¹``, ``G = B - h cᵀ`` with ``h = B u`` and ``c = h/(uᵀ h)``;
- dual coefficients ``α = G y``, intercept ``cᵀ y``, weights of a space ``g_s/v_s F_sᵀ α``;
- errors of the rows of a set t if the model is trained without them: ``e_t = G_tt⁻¹ α_t``.

All are exact. In terms of weights the penalty of space s is ``λ v_s/g_s``. One choice of (g, λ) costs a product with
all targets, n² C multiplications, and a share of one factorisation: eigenvectors of Σ g_s K_s for all ridges on a
processor; on a card, where eigenvectors are slow, an inverse for each ridge. All work is in double precision, whatever
the precision of the targets. Targets are seen in blocks, and each keeps its best choice so far, so that memory does not
grow with the number of choices, nor working memory with the number of targets.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.cluster.vq import kmeans2

from subridge.arrays.cholesky import positive_inverse
from subridge.arrays.namespace import (
    device_of,
    gathered,
    index_on,
    like,
    namespace_of,
    select_rows,
    take_last,
    to_numpy,
)
from subridge.arrays.types import Array, FloatArray, IntArray
from subridge.model.errors import BudgetError, counted
from subridge.ridge.rows import LeftOutSets, SetBatch, TrainingRows

_JUDGES = 10  # parts of the sets, each judged at what the others choose
_CONCENTRATIONS = (0.1, 1.0)  # of random shares, in turns: few spaces, or many (himalaya's default)
# Of the step towards what a target wants: twice as long, in logarithms, as that to the fixed point, because one step
# stops short. Chosen on other laws than those of benchmarks/banded.py.
_POWER, _FLOOR = 2.0, 0.02  # the floor is the least share from which a space can grow
# Points from which one centre is made; chance of a target of which nothing is explained; concentration around a target.
_POINTS, _LEAST_CHANCE, _CERTAINTY = 50, 1e-3, 30.0
# Ridges are seen in three passes: every fourth, those between, the rest. From the second draw on a target sees those
# of the first pass that are near its best so far. It sees one of a later pass if a neighbour is its best of the draw,
# and at most so many times worse than its best of all draws.
_PASSES, _CLOSE = (4, 2, 1), (np.inf, 1.1, 1.02)
# Bytes of a block of targets on a processor and on a card: larger ones make products no faster.
_BLOCK, _BLOCK_ON_A_CARD = 2**24, 2**28
_COPIES = 4  # of a block: labels, rotated labels, dual coefficients, errors
_MATRICES = 7  # of double precision, n × n, at the peak of one choice


@dataclass(frozen=True, eq=False)
class SpaceKernels:
    """``K_s`` of every space, each of shape (n, n), with what belongs to the rows.

    `scales` are v_s, shape (S,); a space of constant columns has v_s = 0 and K_s = 0. `roots` are √w, shape (n,).
    `by_eigenvectors` says how Σ g_s K_s is factorised.
    """

    kernels: list[Array]
    scales: FloatArray
    roots: Array
    fit_intercept: bool
    sets: LeftOutSets
    by_eigenvectors: bool

    def of_rows(self, rows: IntArray, sets: LeftOutSets) -> "SpaceKernels":
        """The same spaces on some of the rows."""
        kernels = [take_last(select_rows(K, rows), rows) for K in self.kernels]
        return replace(self, kernels=kernels, roots=select_rows(self.roots, rows), sets=sets)

    def mixed(self, shares: FloatArray) -> Array:
        """``Σ g_s K_s``, shape (n, n)."""
        first, *others = self.kernels
        mixture = float(shares[0]) * first
        for share, K in zip(shares[1:].tolist(), others, strict=True):
            mixture += share * K
        return mixture


def space_kernels(rows: TrainingRows, spaces: Sequence[IntArray]) -> SpaceKernels:
    """Kernels of centred, weighted rows; `spaces` are the columns of each."""
    kernels, scales, n = [], [], rows.n_samples
    for columns in spaces:
        design = rows.design(columns)
        K = namespace_of(rows.weights).astype(design.kernel(), rows.weights.dtype)
        scales.append(float(namespace_of(K).linalg.trace(K)) / n)
        kernels.append(K / (scales[-1] or 1.0))
    alone = SetBatch(np.arange(n)[:, None], np.ones((n, 1), dtype=bool))
    sets, on_card = rows.left_out or LeftOutSets((alone,), True), "cuda" in str(device_of(rows.weights))
    return SpaceKernels(kernels, np.array(scales), rows.root_weights, rows.fit_intercept, sets, not on_card)


# -- one draw of shares ---------------------------------------------------------------------------


class Solution(NamedTuple):
    """The fit at one choice of shares and ridge, as a function of labels ℓ in the coordinates of the draw, (b, n).

    ``α = (ℓ * gains) @ basis - (ℓ @ centre) pull`` with `gains`, `centre` and `pull` of shape (n,); ``ℓ @ centre`` are
    intercepts. `inverses` are G_tt⁻¹ for each batch of sets, shape (G, m, m).
    """

    gains: Array
    basis: Array
    centre: Array
    pull: Array
    inverses: list[Array]

    def dual(self, labels: Array) -> Array:
        """α of every target, shape (b, n), in the order of the rows."""
        return (labels * self.gains) @ self.basis - (labels @ self.centre)[:, None] * self.pull


class Draw:
    """Σ g_s K_s at shares g, shape (S,), factorised for all ridges."""

    def __init__(self, spaces: SpaceKernels, shares: FloatArray) -> None:
        self.spaces, self.mixture = spaces, spaces.mixed(shares)
        if spaces.by_eigenvectors:
            xp = namespace_of(self.mixture)
            self._spectrum, self._basis = xp.linalg.eigh(self.mixture)
            del self.mixture
            rows = [batch.rows for batch in spaces.sets.batches]
            self._own = [xp.reshape(select_rows(self._basis, each.reshape(-1)), (*each.shape, -1)) for each in rows]

    def coordinates(self, labels: Array) -> Array:
        """Weighted labels, shape (b, n), along the eigenvectors if there are any."""
        return labels @ self._basis if self.spaces.by_eigenvectors else labels

    def at(self, ridge: float) -> Solution:
        """The solution at a positive ridge."""
        u = self.spaces.roots
        xp = namespace_of(u)
        if self.spaces.by_eigenvectors:
            gains, basis = 1 / (xp.clip(self._spectrum, min=0.0) + ridge), self._basis.T
        else:
            gains = xp.ones_like(u)
            basis = positive_inverse(self.mixture + ridge * xp.eye(len(u), dtype=u.dtype, device=device_of(u)))
        rotated = self.coordinates(u[None, :])[0, :]
        pull = (rotated * gains) @ basis
        pull = pull * float(self.spaces.fit_intercept)
        centre = pull / xp.clip(u @ pull, min=1e-300)
        inverses = []
        for number, batch in enumerate(self.spaces.sets.batches):
            if self.spaces.by_eigenvectors:
                own = self._own[number]  # (G, m, n)
                block = (own * gains) @ xp.matrix_transpose(own)
            else:
                block = gathered(basis, batch.rows, batch.rows)
            ends = [_of_sets(each[None, :], batch.rows) for each in (pull, centre)]  # (G, 1, m)
            inverses.append(xp.linalg.inv(block - xp.matrix_transpose(ends[0]) @ ends[1]))
        return Solution(gains, basis, self.coordinates(centre[None, :])[0, :], pull, inverses)

    def traces(self, ridges: FloatArray) -> FloatArray:
        """``tr(B K_s)`` at every ridge, shape (L, S)."""
        xp = namespace_of(self.spaces.roots)
        if not self.spaces.by_eigenvectors:
            return np.array([[float(xp.sum(self.at(float(p)).basis * K)) for K in self.spaces.kernels] for p in ridges])
        Q, d = self._basis, np.maximum(to_numpy(self._spectrum), 0.0)
        powers = np.array([to_numpy(xp.sum((K @ Q) * Q, axis=0)) for K in self.spaces.kernels])  # (S, n)
        return np.asarray((1 / (d + ridges[:, None])) @ powers.T)


def _of_sets(table: Array, rows: IntArray) -> Array:
    """The columns of a table, shape (b, n), that belong to sets of equal size, shape (G, m); shape (G, b, m)."""
    xp, (count, size) = namespace_of(table), rows.shape
    return xp.permute_dims(xp.reshape(take_last(table, rows.reshape(-1)), (-1, count, size)), (1, 0, 2))


# -- the search -----------------------------------------------------------------------------------


class MemoryPlan(NamedTuple):
    """Targets seen at once, and the bytes that a search takes beside data and results."""

    block: int
    bytes: int


def usual_block(targets: Array) -> int:
    """Targets, shape (n, C), that keep a processor or a card busy if they are seen at once."""
    room = _BLOCK_ON_A_CARD if "cuda" in str(device_of(targets)) else _BLOCK
    return max(1, room // (8 * int(targets.shape[0]) * _COPIES))


def plan_memory(n: int, n_spaces: int, targets: Array, memory: int | None = None) -> MemoryPlan:
    """Fit a block of targets, shape (n, C), into the memory that may be used, in bytes; None for the usual size."""
    fixed, column, C = 8 * n * n * (n_spaces + _MATRICES), 8 * n * _COPIES, int(targets.shape[1])
    state = C * (12 * _JUDGES + 48)  # what each target keeps of the search; its block is smaller by so much
    room = (usual_block(targets) * column if memory is None else memory - fixed) - state
    if memory is not None and room < column:
        raise BudgetError(
            f"memory={memory:,} bytes are too few for {counted(n, 'row')} and {counted(n_spaces, 'space')}; give at "
            f"least {fixed + state + column:,}"
        )
    block = max(1, min(C, room // column))
    return MemoryPlan(block, fixed + state + block * column)


class BandedSearch:
    """The best shares and ridge of every target among those seen so far.

    `targets` are labels as they came, shape (n, C), neither copied nor changed. `loss` is the least total squared error
    of left-out rows, in weighted units, shape (C,), and `place` where it was found: ``draw * L + number of the ridge``.
    `dual`, shape (C, n), and `intercept`, shape (C,), are the fit there. `inside`, shape (C, J), is the error of each
    of J parts of the sets at the choice that has the least error `outside` of that part.
    """

    def __init__(self, spaces: SpaceKernels, targets: Array, ridges: FloatArray, block: int) -> None:
        self.spaces, self.targets, self.ridges, self._block = spaces, targets, ridges, block
        xp, (n, C), S = namespace_of(targets), targets.shape, len(spaces.kernels)
        J, numbers = min(_JUDGES, spaces.sets.n_sets), np.arange(spaces.sets.n_sets)
        self._judges = like(numbers[:, None] % J == np.arange(J), spaces.roots)
        self.variation, self.loss, self.place = np.empty(C), np.full(C, np.inf), np.full(C, -1)
        options = {"device": device_of(targets)}
        self.inside = xp.full((C, J), np.inf, dtype=spaces.roots.dtype, **options)
        self.outside = xp.full((C, J), np.inf, dtype=xp.float32, **options)  # compared only
        self.dual, self.intercept = (xp.zeros(shape, dtype=targets.dtype, **options) for shape in ((C, n), (C,)))
        self.shares, self.traces = np.empty((0, S)), np.empty((0, S))
        self.means = like(spaces.roots**2, targets) @ targets / float((spaces.roots**2).sum())
        for part in self.parts():
            labels = self.labels(part, self.means)
            self.variation[part] = to_numpy(xp.sum(labels * labels, axis=1))

    def parts(self) -> Iterator[slice]:
        """Blocks of targets."""
        C = len(self.loss)
        return (slice(start, min(start + self._block, C)) for start in range(0, C, self._block))

    def labels(self, part: slice, means: Array) -> Array:
        """Weighted labels less some means, in double precision; shape (b, n)."""
        u = self.spaces.roots
        return namespace_of(u).astype((self.targets[:, part] - means[part]).T, u.dtype) * u

    def try_shares(
        self, shares: FloatArray, with_traces: bool = False, tick: Callable[[float], None] = lambda share: None
    ) -> None:
        """See one draw of shares, shape (S,), at the ridges that matter to each target."""
        L, C = len(self.ridges), len(self.loss)
        first, here, nearest = len(self.shares) * L, np.full(C, np.inf), np.full(C, -1)
        before = np.where(self.place < 0, -1, self.place % L)
        self.shares, draw = np.vstack([self.shares, shares]), Draw(self.spaces, shares)
        # Eigenvectors serve all ridges, and a block of labels is rotated once; an inverse serves all blocks.
        blockwise = self.spaces.by_eigenvectors
        solution = lru_cache(L if blockwise else 1)(lambda number: draw.at(float(self.ridges[number])))
        centred = lru_cache(1)(lambda start, stop: draw.coordinates(self.labels(slice(start, stop), self.shift)))
        order, parts = _passes(L), list(self.parts())
        pairs = (
            [(each, part) for part in parts for each in order]
            if blockwise
            else [(each, part) for each in order for part in parts]
        )
        for (number, step, close), part in pairs:
            if step == order[0][1]:
                wanted = (before[part] < 0) | (abs(before[part] - number) <= 2 * step)
            else:
                wanted = (abs(nearest[part] - number) == step) & (here[part] <= close * self.loss[part])
            seen = np.flatnonzero(wanted)
            if len(seen):
                labels = centred(part.start, part.stop)
                losses = self._see(
                    solution(number),
                    labels if len(seen) == len(labels) else select_rows(labels, seen),
                    seen + part.start,
                    first + number,
                )
                at = seen + part.start
                nearest[at] = np.where(losses < here[at], number, nearest[at])
                here[at] = np.minimum(here[at], losses)
            tick(1 / len(pairs))
        self.traces = np.vstack([self.traces, draw.traces(self.ridges) if with_traces else np.zeros((L, len(shares)))])

    @property
    def shift(self) -> Array:
        """Means that the intercept takes from the labels before anything else, for accuracy; shape (C,)."""
        return self.means * float(self.spaces.fit_intercept)

    def losses(self, solution: Solution, labels: Array) -> tuple[Array, Array]:
        """Dual coefficients at one choice, (b, n), and squared errors of left-out rows in J parts, (b, J)."""
        xp, dual, totals = namespace_of(labels), solution.dual(labels), []
        for batch, inverse in zip(self.spaces.sets.batches, solution.inverses, strict=True):
            errors = _of_sets(dual, batch.rows) @ inverse
            totals.append(xp.sum(errors * errors, axis=2))
        return dual, xp.concat(totals, axis=0).T @ self._judges

    def _see(self, solution: Solution, labels: Array, targets: IntArray, place: int) -> FloatArray:
        """Errors of some targets at one choice, shape (b,), and what they keep of it."""
        xp, (dual, parts) = namespace_of(labels), self.losses(solution, labels)
        sums, where = xp.sum(parts, axis=1), index_on(self.targets, targets)
        outside, losses = xp.astype(sums[:, None] - parts, xp.float32), to_numpy(sums)
        lower = outside < self.outside[where]
        self.outside[where] = xp.where(lower, outside, self.outside[where])
        self.inside[where] = xp.where(lower, parts, self.inside[where])
        better = np.flatnonzero(losses < self.loss[targets])
        if len(better):
            chosen = targets[better]
            self.loss[chosen], self.place[chosen] = losses[better], place
            at = index_on(self.targets, chosen)
            self.dual[at] = like(select_rows(dual, better), self.dual)
            self.intercept[at] = self.shift[at] + like(select_rows(labels @ solution.centre, better), self.intercept)
        return losses

    @property
    def best_shares(self) -> FloatArray:
        """Shares of the spaces for every target, shape (C, S)."""
        return np.asarray(self.shares[self.place // len(self.ridges)])

    @property
    def best_ridge(self) -> FloatArray:
        """The ridge of every target, shape (C,)."""
        return np.asarray(self.ridges[self.place % len(self.ridges)])

    def wanted_shares(self) -> FloatArray:
        """Shares that would suit every target better, shape (C, S): a step towards the likelihood's maximum.

        If weights are normal with variances g_s/v_s, the likelihood is stationary where ``αᵀ K_s α/tr(B K_s)`` is the
        same for all spaces with g_s > 0. Each share is multiplied by a power of it (MacKay 1992, Neural Computation 4,
        415, has the power one).
        """
        powers = np.empty((len(self.loss), self.shares.shape[1]))
        for part in self.parts():
            dual = like(self.dual[part, :], self.spaces.roots)
            for s, K in enumerate(self.spaces.kernels):
                powers[part, s] = to_numpy(namespace_of(dual).sum((dual @ K) * dual, axis=1))
        ratios = powers / np.maximum(self.traces[self.place], 1e-300)
        grown = (
            np.maximum(self.best_shares, _FLOOR)
            * (ratios / np.maximum(ratios.max(axis=1, keepdims=True), 1e-300)) ** _POWER
        )
        totals = grown.sum(axis=1, keepdims=True)
        return np.where(totals > 0, grown / np.where(totals > 0, totals, 1.0), self.best_shares)


def _passes(L: int) -> list[tuple[int, int, float]]:
    """Numbers of all ridges in the order in which they are seen, each with its step and how close a target must be.

    >>> [number for number, _, _ in _passes(9)], [number for number, _, _ in _passes(4)]
    ([0, 4, 8, 2, 6, 1, 3, 5, 7], [0, 1, 2, 3])
    """
    if 2 * _PASSES[0] > L:
        return [(number, 1, np.inf) for number in range(L)]
    seen, order = set[int](), []
    for step, close in zip(_PASSES, _CLOSE, strict=True):
        order += [(number, step, close) for number in range(0, L, step) if number not in seen]
        seen |= {number for number, _, _ in order}
    return order


def first_draws(count: int, alive: IntArray, n_spaces: int, rng: np.random.Generator) -> FloatArray:
    """Equal shares, each space alone, then random ones; shape (count, S). Only spaces that vary have a share."""
    fixed = np.vstack([np.full(len(alive), 1 / len(alive)), np.eye(len(alive))])[: 1 if len(alive) == 1 else None]
    random = [rng.dirichlet(np.full(len(alive), _CONCENTRATIONS[i % 2])) for i in range(max(0, count - len(fixed)))]
    drawn = np.zeros((count, n_spaces))
    drawn[:, alive] = np.vstack([fixed[:count], *random])
    return drawn


def further_draws(search: BandedSearch, count: int, rng: np.random.Generator) -> FloatArray:
    """Shares that many targets want, shape (count, S): centres of k-means in square roots of shares.

    Targets count by what is explained of them. If they are few, each wants shares around its own as well.
    """
    wanted, size = search.wanted_shares(), _POINTS * count
    explained = np.maximum(1 - search.loss / np.maximum(search.variation, 1e-300), 0.0) + _LEAST_CHANCE
    points = wanted[rng.choice(len(wanted), size, p=explained / explained.sum())]
    if len(wanted) < size:
        points = np.array([rng.dirichlet(_CERTAINTY * each + min(_CONCENTRATIONS)) for each in points])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a centre without points, which stays where it is
        centres = kmeans2(points**0.5, count, minit="++", rng=rng)[0] ** 2 * (search.spaces.scales > 0)
    centres = np.where(centres.any(axis=1, keepdims=True), centres, 1.0)  # X is constant: any shares do
    return np.asarray(centres / centres.sum(axis=1, keepdims=True))


def search_shares(
    spaces: SpaceKernels,
    targets: Array,
    ridges: FloatArray,
    draws: FloatArray,
    n_refined: int,
    rng: np.random.Generator,
    block: int,
    tick: Callable[[float], None] = lambda share: None,
) -> BandedSearch:
    """Search given draws, shape (D, S), then so many that targets want; `tick` hears of each part of a draw."""
    search = BandedSearch(spaces, targets, ridges, block)
    for shares in draws:
        search.try_shares(shares, n_refined > 0, tick)
    for shares in further_draws(search, n_refined, rng) if n_refined else ():
        search.try_shares(shares, False, tick)
    return search


def search_common_shares(
    spaces: SpaceKernels,
    targets: Array,
    ridges: FloatArray,
    draws: FloatArray,
    block: int,
    tick: Callable[[float], None] = lambda share: None,
) -> BandedSearch:
    """Fit all targets at the choice with the least mean of left-out error over variance."""
    search, table = BandedSearch(spaces, targets, ridges, block), np.zeros((len(draws), len(ridges)))
    for place, shares in enumerate(draws):
        draw = Draw(spaces, shares)
        for number, ridge in enumerate(ridges):
            solution = draw.at(float(ridge))
            for part in search.parts():
                _, errors = search.losses(solution, draw.coordinates(search.labels(part, search.shift)))
                variation = search.variation[part]
                relative = to_numpy(errors).sum(axis=1) / np.where(variation > 0, variation, np.inf)
                table[place, number] += relative.sum()
            tick(1 / len(ridges))
    best = np.unravel_index(np.argmin(table), table.shape)
    return search_shares(spaces, targets, ridges[[best[1]]], draws[[best[0]]], 0, np.random.default_rng(), block)


# -- what each space explains ----------------------------------------------------------------------


def left_out_r2(spaces: SpaceKernels, shares: FloatArray, ridge: float, dual: Array) -> FloatArray:
    """Share of the variance of left-out rows that each space explains at one choice, shape (b, S).

    The product measure ``Σ f_s (2 y - f)/Σ y²`` of outputs f = Σ f_s for centred labels y, by models trained without
    each set t: their dual coefficients are ``α - G_·t e_t``, and f = y - e. Labels follow from `dual`, shape (b, n).
    """
    solution = Draw(replace(spaces, by_eigenvectors=False), shares).at(ridge)
    G, xp, u = solution.basis - solution.pull[:, None] * solution.centre, namespace_of(dual), spaces.roots
    outputs = [share * (dual @ K) for share, K in zip(shares.tolist(), spaces.kernels, strict=True)]
    labels = sum(outputs, ridge * dual)
    if spaces.fit_intercept:
        labels = labels - ((labels @ u) / (u @ u))[:, None] * u
    explained = np.zeros((int(dual.shape[0]), len(shares)))
    for batch, inverse in zip(spaces.sets.batches, solution.inverses, strict=True):
        pulls, errors = _of_sets(G, batch.rows), _of_sets(dual, batch.rows) @ inverse
        for s, (share, K) in enumerate(zip(shares.tolist(), spaces.kernels, strict=True)):
            crossed = xp.matrix_transpose(pulls) @ _of_sets(K, batch.rows)
            output = _of_sets(outputs[s], batch.rows) - share * (errors @ crossed)
            explained[:, s] += to_numpy(xp.sum(output * (_of_sets(labels, batch.rows) + errors), axis=(0, 2)))
    return explained / np.maximum(to_numpy(xp.sum(labels * labels, axis=1)), 1e-300)[:, None]
