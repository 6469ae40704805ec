"""One linear model with a ridge per feature space, for each target its own, chosen by exact left-out errors.

Banded ridge regression (Dupré la Tour, Eickenberg, Nunez-Elizalde and Gallant 2022, NeuroImage 264) on spaces s with
centred, weighted rows F_s. With ``v_s = tr(F_s F_sᵀ)/n``, kernels ``K_s = F_s F_sᵀ/v_s``, shares g of the spaces, a
ridge λ, weighted labels y and the direction u = √w of the intercept,

- ``A = P K P + λ I`` with ``K = Σ_s g_s K_s`` and ``P = I - u uᵀ/(uᵀ u)``, ``G = P A⁻¹ P``;
- dual coefficients ``α = G y``, intercept ``uᵀ (y - K α)/(uᵀ u)``, weights of a space ``g_s/v_s F_sᵀ α``;
- errors of the rows of a set t if the model is trained without them: ``e_t = G_tt⁻¹ α_t``.

All are exact. In terms of weights the penalty of space s is ``λ v_s/g_s``. The eigenvectors Q of a mixture of kernels
serve all its ridges. One choice of (g, λ) then costs one product of all targets with the matrix W of rows
``G_tt⁻¹ G_t·``, n² C multiplications. If there are few targets, they are rotated by Q once; W Q is then enough, and it
is cheaper to make.

Eigenvectors, W and sums of squares are computed in double precision, products with targets in the precision of the
targets. Row w_i of W has a one for row i itself and the weights of the other rows. Rounding by ε therefore adds about
``ε ‖w_i‖ ‖y‖/√n`` to the error of row i, whatever the condition number of the kernel. Targets are processed in blocks,
and each keeps its best choice so far. So memory does not grow with the number of choices, nor working memory with the
number of targets.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator
from scipy.cluster.vq import kmeans2

from subridge.arrays.namespace import (
    device_of,
    eye_like,
    index_on,
    is_numpy,
    like,
    namespace_of,
    positive_inverse,
    to_numpy,
)
from subridge.arrays.types import Array, BoolArray, FloatArray, IntArray
from subridge.model.errors import BudgetError, counted
from subridge.ridge.rounding import EPS
from subridge.ridge.rows import LeftOutSets, SetBatch, TrainingRows

_JUDGES = 10  # parts of the sets; the error of each is taken at the choice that the others make
_CONCENTRATIONS = (0.1, 1.0)  # Dirichlet's, of random shares, in turn: few spaces, or many (himalaya's default)
_PROBES = 200  # random vectors that estimate a trace
_STEPS = 100  # iterations that estimate the signal in each space
_PICKED = 5000  # points of k-means
# Both were chosen on the data of benchmarks/banded.py.
_FAR = 0.3  # a distance between square roots of shares that counts as much as a factor e of the ridge
_NEAR = 20  # choices that are tried for each target
# Ridges are tried in three passes: every fourth, those between, the rest. In the first pass, a target whose error is
# below this share of its variance tries only the ridges next to its best so far. In a later pass, it tries a ridge if
# the one beside it is its best of the draw, and nearly as good as its best so far (up to a factor, see `_passes`).
# Chosen on other data than those of benchmarks/banded.py, where all ridges give the same R² to four digits.
_EXPLAINED = 0.98
_ROTATED = 8  # times n: up to so many targets are rotated by Q; for more of them, W is rotated back
_ALIGNED = 8  # a multiple of so many targets: products of other sizes take twice as long on a GPU
_BLOCK = 2**25  # bytes of a block of targets: a larger one makes products no faster on a CPU
# Matrices n × n of double precision beside the kernels.
_KEPT = 3  # while targets are processed
_PASSING = 5.5  # while eigenvectors are computed, before a block of targets uses the same memory

Tick: TypeAlias = Callable[[float], None]  # takes the share of a draw that is done
Labels: TypeAlias = Callable[[Array], Array]  # of some targets, shape (n, b), by their numbers


def no_tick(share: float) -> None:
    """Ignore progress."""


@dataclass(frozen=True, eq=False)
class SpaceKernels:
    """``K_s`` of every space, each of shape (n, n), with the weights and left-out sets of the rows.

    `scales` are v_s, shape (S,); a space of constant columns has v_s = 0 and K_s = 0. `roots` are √w, shape (n,).
    """

    kernels: list[Array]
    scales: FloatArray
    roots: Array
    fit_intercept: bool
    sets: LeftOutSets

    @cached_property
    def batches(self) -> list["RowsOfSets"]:
        """The rows of the sets of each batch, on the device of the kernels."""
        everything = np.arange(self.roots.shape[0])
        return [
            RowsOfSets(index_on(self.roots, batch.rows), np.array_equal(batch.rows.ravel(), everything))
            for batch in self.sets.batches
        ]


class RowsOfSets(NamedTuple):
    """Rows of sets of equal size, shape (G, m); all rows in order need no copy."""

    rows: Array
    in_order: bool

    def of(self, table: Array) -> Array:
        """The rows of a table, shape (n, b), that belong to each set; shape (G, m, b)."""
        xp = namespace_of(table)
        own = table if self.in_order else xp.take(table, xp.reshape(self.rows, (-1,)), axis=0)
        return xp.reshape(own, (*self.rows.shape, -1))


def by_set(batches: Sequence[RowsOfSets], matrices: Iterable[Array], table: Array) -> Array:
    """The rows of each set in a table, shape (n, b), times a matrix of their set, shape (G, m, m) for a batch."""
    xp = namespace_of(table)
    found = xp.empty_like(table)
    for rows, matrix in zip(batches, matrices, strict=True):
        product = matrix @ rows.of(table)
        if rows.in_order:
            return xp.reshape(product, table.shape)
        found[rows.rows] = product
    return found


def space_kernels(rows: TrainingRows, spaces: Sequence[IntArray]) -> SpaceKernels:
    """Kernels of centred, weighted rows; `spaces` are the columns of each."""
    n = rows.n_samples
    kernels = [like(rows.design(columns).kernel(), rows.weights) for columns in spaces]
    scales = np.array([float(namespace_of(K).linalg.trace(K)) for K in kernels]) / n
    for K, scale in zip(kernels, scales, strict=True):
        K /= scale or 1.0
    sets = rows.left_out or LeftOutSets((SetBatch(np.arange(n)[:, None], np.ones((n, 1), dtype=bool)),), True)
    return SpaceKernels(kernels, scales, rows.root_weights, rows.fit_intercept, sets)


# -- one choice of shares and ridge ---------------------------------------------------------------


class Solution(NamedTuple):
    """The fit at one choice: `left_out` is W or W Q, shape (n, n), and `centre` c or Qᵀ c, shape (n,).

    Columns of W and entries of c are multiplied by the roots of weights, so that labels need not be. `blocks` are G_tt
    for each batch of sets, shape (G, m, m). Intercepts are cᵀ y.
    """

    left_out: Array
    blocks: list[Array]
    centre: Array


def centred(spaces: SpaceKernels, shares: FloatArray, along: float) -> tuple[Array, Array, Array, float]:
    """``P K P + a u uᵀ`` for a number a, shape (n, n); u of length one and K u, shape (n,); the length of √w."""
    mixture = 0.0 * spaces.kernels[0]
    for share, K in zip(shares.tolist(), spaces.kernels, strict=True):
        mixture += share * K
    norm = float(spaces.roots @ spaces.roots) ** 0.5
    u = spaces.roots * (spaces.fit_intercept / norm)
    pull = mixture @ u
    across = u[:, None] * (pull - 0.5 * (u @ pull + along) * u)
    mixture -= across + across.T
    return mixture, u, pull, norm


def solve(spaces: SpaceKernels, shares: FloatArray, ridge: float, example: Array) -> Solution:
    """The fit at one choice alone, in the precision of the example: an inverse is cheaper than eigenvectors."""
    A, u, pull, norm = centred(spaces, shares, 1.0)
    n = A.shape[0]
    ridge = max(ridge, n**2 * EPS)  # no eigenvalue exceeds n: smaller ridges are lost in rounding
    A += ridge * eye_like(A, n)
    G = positive_inverse(A)
    del A
    G -= u[:, None] * (u / (1.0 + ridge))
    batches = spaces.batches
    blocks = [namespace_of(G).take_along_axis(rows.of(G), rows.rows[:, None, :], axis=2) for rows in batches]
    left_out = by_set(batches, map(positive_inverse, blocks), G) * spaces.roots
    centre = (u - G @ pull) * spaces.roots / norm
    return Solution(like(left_out, example), [like(each, example) for each in blocks], like(centre, example))


def _gram(factors: Array) -> Array:
    """Factors times their own transposes, with half the work of a general product; shapes (G, m, n) to (G, m, m)."""
    return factors @ namespace_of(factors).matrix_transpose(factors)


class Draw:
    """The eigenvectors of P K P at shares g, shape (S,), one of which is u. If `rotated`, labels come in that basis."""

    def __init__(self, spaces: SpaceKernels, shares: FloatArray, rotated: bool = False) -> None:
        self.spaces = spaces
        self.rotated = rotated
        # The eigenvalue of u is -1; the others are not negative, and their mean is about 1.
        mixture, u, pull, norm = centred(spaces, shares, -1.0)
        xp = namespace_of(mixture)
        spectrum, self.basis = xp.linalg.eigh(mixture)
        del mixture
        self.spectrum = xp.where(spectrum < -0.5, np.inf, xp.clip(spectrum, min=0.0))
        self._level = u @ self.basis / norm
        self._pull = pull @ self.basis / norm

    def at(self, ridge: float, example: Array) -> Solution:
        """The solution at a positive ridge, in the precision of the example."""
        Q = self.basis
        batches = self.spaces.batches
        roots = self.spaces.roots
        gain = 1 / (self.spectrum + ridge)
        blocks = [_gram(rows.of(Q * gain**0.5)) for rows in batches]
        left_out = like(by_set(batches, map(positive_inverse, blocks), Q * gain), example)
        centre = self._level - gain * self._pull
        if not self.rotated:  # rounding is relative to the lengths of rows, and those of W and W Q are equal
            left_out = left_out @ like(Q.T * roots, example)
            centre = Q @ centre * roots
        return Solution(left_out, [like(each, example) for each in blocks], like(centre, example))


# -- the search -----------------------------------------------------------------------------------


def plan_memory(n_spaces: int, targets: Array, memory: int | None = None) -> tuple[int, int]:
    """How many targets, shape (n, C), to process at once, and the bytes that a search takes beside data and results.

    `memory` is the number of bytes that may be used; None for a block of the usual size.
    """
    n, C = targets.shape
    size = targets.dtype.itemsize
    column = 4 * size * n  # labels, errors, dual coefficients or squares
    matrix = 8 * n * n
    passing = int(_PASSING * matrix)
    fixed = matrix * (n_spaces + _KEPT) + size * n * C * (_ROTATED * n >= C)
    state = C * (12 * _JUDGES + 64)  # the state of the search, which leaves less for a block
    room = (max(_BLOCK, passing) if memory is None else memory - fixed) - state
    if memory is not None and room < max(column, passing - state):
        raise BudgetError(
            f"memory={memory:,} bytes are too few for {counted(n, 'row')} and {counted(n_spaces, 'space')}; give at "
            f"least {fixed + max(state + column, passing):,}"
        )
    block = max(1, min(C, room // column))
    return block, fixed + max(passing, state + block * column)


class BandedSearch:
    """The best shares and ridge of every target among those tried so far.

    `targets` are labels as given, shape (n, C), neither copied nor changed. `loss` is the least total squared error of
    left-out rows, in weighted units, shape (C,), and `place` where it was found: ``draw * L + number of the ridge``.
    `dual`, shape (C, n), and `intercept`, shape (C,), are the fit there. For each of J parts of the sets,
    `outside`, shape (C, J), is the least error of the other parts, and `inside` the error of the part at that choice.
    """

    def __init__(self, spaces: SpaceKernels, targets: Array, ridges: FloatArray, block: int) -> None:
        self.spaces = spaces
        self.scales = spaces.scales
        self.targets = targets
        self.ridges = ridges
        self.shares = np.empty((0, len(spaces.kernels)))
        self._block = block
        xp = namespace_of(targets)
        n, C = targets.shape
        J = min(_JUDGES, spaces.sets.n_sets)
        self._judges = like(np.arange(spaces.sets.n_sets) % J == np.arange(J)[:, None], spaces.roots)
        self.loss = np.full(C, np.inf)
        self.place = np.full(C, -1)
        self.inside = like(np.full((C, J), np.inf), spaces.roots)
        self.outside = xp.astype(self.inside, xp.float32)  # relative to the variation; only compared
        self.dual = xp.zeros((C, n), dtype=targets.dtype, device=device_of(targets))
        weights = like(spaces.roots**2, targets)
        self.means = weights @ targets / float(xp.sum(weights))
        self._shift = self.means * spaces.fit_intercept  # taken from the labels first, for accuracy
        self.intercept = xp.zeros_like(self.means)
        self.variation = np.empty(C)
        self._parts = self.blocks(np.arange(C))
        for part in self._parts:
            own = self._labels(index_on(targets, part), self.means) * like(spaces.roots, targets)[:, None]
            self.variation[part] = to_numpy(self.squares(own)).sum(axis=0)
        self._spreads = like(np.where(self.variation > 0, self.variation, 1.0), spaces.roots)

    def blocks(self, at: IntArray) -> list[IntArray]:
        """Some targets in blocks."""
        return np.split(at, range(self._block, len(at), self._block))

    def _labels(self, at: Array, means: Array | None = None) -> Array:
        """Labels of some targets less given means, or less the shift that goes into the intercept; shape (n, b)."""
        labels = namespace_of(at).take(self.targets, at, axis=1)
        labels -= (self._shift if means is None else means)[at]
        return labels

    def squares(self, values: Array) -> Array:
        """Sums of squares in J parts of the sets, in double precision, shapes (n, b) to (J, b)."""
        xp = namespace_of(values)
        sums = [xp.linalg.vector_norm(rows.of(values), axis=1) ** 2 for rows in self.spaces.batches]
        return self._judges @ xp.astype(xp.concat(sums), self._judges.dtype)

    def _draw(self, shares: FloatArray) -> tuple[Draw, Labels]:
        """Eigenvectors, and a function that gives labels of some targets, shape (n, b), rotated if solutions are."""
        draw = Draw(self.spaces, shares, len(self.loss) <= _ROTATED * self.targets.shape[0])
        if not draw.rotated:
            return draw, self._labels
        xp = namespace_of(self.targets)
        Q = like(draw.basis * self.spaces.roots[:, None], self.targets)
        turned = xp.concat([Q.T @ self._labels(index_on(Q, at)) for at in self._parts], axis=1)
        return draw, lambda at: xp.take(turned, at, axis=1)

    def try_shares(self, shares: FloatArray, tick: Tick = no_tick) -> None:
        """Try one draw of shares, shape (S,), at the ridges that are promising for each target."""
        L = len(self.ridges)
        draw, labels = self._draw(shares)
        here = np.full(len(self.loss), np.inf)
        nearest = np.full(len(self.loss), -1)
        before = np.where(self.loss < _EXPLAINED * self.variation, self.place % L, -1)
        for later, (step, close, numbers) in enumerate(_passes(L)):
            for number in numbers:
                if later:
                    wanted = (abs(nearest - number) == step) & (here <= close * self.loss)
                else:
                    wanted = (abs(before - number) <= max(step, 2)) | (before < 0)
                seen = np.flatnonzero(wanted)
                if len(seen):
                    losses = self._see(draw.at(self.ridges[number], self.targets), seen, labels, number)
                    nearest[seen] = np.where(losses < here[seen], number, nearest[seen])
                    here[seen] = np.fmin(here[seen], losses)
            tick(len(numbers) / L)
        self.shares = np.vstack([self.shares, shares])

    def search(self, draws: FloatArray, n_promising: int, rng: Generator, tick: Tick = no_tick) -> None:
        """Try given draws, shape (D, S), then promising choices that take no longer than `n_promising` draws."""
        for shares in draws:
            self.try_shares(shares, tick)
        if n_promising:
            self._refine(n_promising, rng, tick)

    def _refine(self, n_promising: int, rng: Generator, tick: Tick) -> None:
        count = n_promising * max(1, len(self.ridges) // 2)
        for shares, number, seen in zip(*promising_choices(self, count, rng), strict=True):
            if seen.any():
                self.try_choice(shares, int(number), np.flatnonzero(seen))
            tick(n_promising / count)

    def search_in_common(self, draws: FloatArray, tick: Tick = no_tick) -> None:
        """Give all targets the one choice with the least mean of left-out error over variance."""
        table = np.zeros((len(draws), len(self.ridges)))
        variation = np.where(self.variation > 0, self.variation, np.inf)
        for place, shares in enumerate(draws):
            draw, labels = self._draw(shares)
            for number, ridge in enumerate(self.ridges):
                solution = draw.at(ridge, self.targets)
                for at in self._parts:
                    errors = self.squares(solution.left_out @ labels(index_on(self.targets, at)))
                    table[place, number] += (to_numpy(errors) / variation[at]).sum()
                tick(1 / len(self.ridges))
        best = np.unravel_index(table.argmin(), table.shape)
        self.ridges = self.ridges[[best[1]]]
        self.try_shares(draws[best[0]])

    def try_choice(self, shares: FloatArray, number: int, at: IntArray) -> None:
        """Try one choice for some targets: shares, shape (S,), and the number of a ridge."""
        self._see(solve(self.spaces, shares, float(self.ridges[number]), self.targets), at, self._labels, number)
        self.shares = np.vstack([self.shares, shares])

    def _see(self, solution: Solution, at: IntArray, labels: Labels, number: int) -> FloatArray:
        """Errors of some targets at the next shares and one ridge, shape (b,); each target keeps its best choice.

        The host waits for a GPU once, after it has queued all blocks.
        """
        blocks = [self._see_block(solution, part, labels) for part in self.blocks(at)]
        losses = to_numpy(namespace_of(self.targets).concat(blocks))
        self.place[at[losses < self.loss[at]]] = len(self.shares) * len(self.ridges) + number
        self.loss[at] = np.fmin(losses, self.loss[at])
        return losses

    def _see_block(self, solution: Solution, at: IntArray, labels_of: Labels) -> Array:
        xp = namespace_of(self.targets)
        where = index_on(self.targets, np.resize(at, -(-len(at) // _ALIGNED) * _ALIGNED))
        least = like(self.loss[at], self._judges)
        labels = labels_of(where)
        where = where[: len(at)]
        errors = solution.left_out @ labels
        parts = self.squares(errors).T[: len(at), :]
        sums = xp.sum(parts, axis=1)
        outside = self.outside[where]
        others = xp.astype((sums[:, None] - parts) / self._spreads[where][:, None], xp.float32)
        self.inside[where] = xp.where(others < outside, parts, self.inside[where])
        self.outside[where] = xp.where(others < outside, others, outside)
        better = sums < least
        # NumPy goes on with the better ones only; to find these on a GPU, the host would have to wait.
        some = np.flatnonzero(better) if is_numpy(sums) else slice(0, len(at))
        better = better[some]
        where = where[some]
        centres = self._shift[where] + (solution.centre @ labels)[some]
        self.intercept[where] = xp.where(better, centres, self.intercept[where])
        del labels  # so that no more than four tables of a block are ever held
        dual = by_set(self.spaces.batches, solution.blocks, errors[:, some]).T
        del errors
        self.dual[where] = xp.where(better[:, None], dual, self.dual[where])
        return sums

    def forms(self, rng: Generator) -> tuple[FloatArray, FloatArray]:
        """``T_rs = tr(G K_r G K_s)``, by random vectors, and ``q_s = yᵀ G K_s G y`` of targets y of variance one.

        The last K is the identity, for noise. If the covariance of y is ``Σ_s a_s K_s``, the expectation of q is T a. G
        is that of equal shares, with as much signal as noise. Spaces of constant columns are left out. Shapes
        (S + 1, S + 1) and (C, S + 1).
        """
        spaces = self.spaces
        n = spaces.roots.shape[0]
        xp = namespace_of(spaces.roots)
        alive = self.scales > 0
        draw = Draw(spaces, alive / alive.sum())
        root = draw.basis / (draw.spectrum + 1.0) ** 0.5  # G = R Rᵀ
        kernels = list(compress(spaces.kernels, alive))
        # This root does not depend on the signs of eigenvectors, which differ between libraries.
        inner = root @ (draw.basis.T @ like(rng.standard_normal((n, _PROBES)), root))
        turned = [xp.reshape(root.T @ each, (-1,)) for each in (*(K @ inner for K in kernels), inner)]
        forms = []
        for at in [half for part in self._parts for half in np.array_split(part, 2)]:  # double precision
            labels = like(self._labels(index_on(root, at), self.means), root) * spaces.roots[:, None]
            dual = root @ (root.T @ labels)
            del labels
            forms.append([to_numpy(xp.sum(dual * (K @ dual), axis=0)) for K in kernels])
            forms[-1].append(to_numpy(xp.sum(dual * dual, axis=0)))
        traces = np.array([[float(a @ b) for b in turned] for a in turned]) / _PROBES
        return traces, np.concatenate(forms, axis=1).T / np.maximum(self.variation[:, None] / n, 1e-300)

    @property
    def best_shares(self) -> FloatArray:
        """Shares of the spaces for every target, shape (C, S)."""
        return np.asarray(self.shares[self.place // len(self.ridges)])

    @property
    def best_ridge(self) -> FloatArray:
        """The ridge of every target, shape (C,)."""
        return np.asarray(self.ridges[self.place % len(self.ridges)])


def _passes(L: int) -> list[tuple[int, float, range]]:
    """Of every pass: the step between ridges, how close to its best error a target must be, and numbers of the ridges.

    >>> [list(numbers) for _, _, numbers in _passes(9)], [list(numbers) for _, _, numbers in _passes(4)]
    ([[8, 4, 0], [6, 2], [7, 5, 3, 1]], [[3, 2, 1, 0]])
    """
    if L < 8:
        return [(1, np.inf, range(L - 1, -1, -1))]
    return [(4, np.inf, range(L - 1, -1, -4)), (2, 1.1, range(L - 3, -1, -4)), (1, 1.02, range(L - 2, -1, -2))]


# -- shares to try --------------------------------------------------------------------------------


def first_draws(count: int, alive: BoolArray, rng: Generator) -> FloatArray:
    """Equal shares, then each space alone, then random shares; shape (count, S).

    Random shares have Dirichlet distributions of several concentrations in turn. Spaces that are not alive have none.
    """
    gammas = rng.standard_gamma(np.resize(_CONCENTRATIONS, (count, 1)) * alive)
    random = gammas / gammas.sum(axis=1, keepdims=True)
    return np.vstack([alive / alive.sum(), np.eye(len(alive))[alive], random])[:count]


def needed_shares(search: BandedSearch, least: int, rng: Generator) -> tuple[FloatArray, FloatArray]:
    """Square roots of the shares that targets need, shape (C or more, S'), and the weight of each target.

    The strengths a of the spaces in a target give its best shares, ``a/Σ a``. Its weight is (Σ a)², because the share
    of variance that few data explain grows like that. Fewer than `least` targets are repeated in turn, with random
    errors of their forms, whose covariance is about T/2 if G makes labels of variance one white. The S' spaces are
    those that vary.
    """
    traces, forms = search.forms(rng)
    errors = rng.multivariate_normal(np.zeros(len(traces)), traces / 2, max(0, least - len(forms)), method="eigh")
    forms = np.maximum(np.vstack([forms, np.resize(forms, errors.shape) + errors]), 0.0)
    strengths = np.ones_like(forms)
    for _ in range(_STEPS):  # to the least (a - T⁻¹ q)ᵀ T (a - T⁻¹ q) with no negative a (Lee and Seung 2000)
        strengths *= forms / (strengths @ traces + 1e-9)
    strengths = strengths[:, :-1] + 1e-9
    power = strengths.sum(axis=1, keepdims=True)
    return (strengths / power) ** 0.5, power[:, 0] ** 2


def _centres(points: FloatArray, weights: FloatArray, count: int, rng: Generator) -> FloatArray:
    """Centres of weighted points by k-means, shape (count, ...)."""
    picked = points[rng.choice(len(points), max(_PICKED, 2 * count), p=weights / weights.sum())]
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # a centre without points stays where it is
        return np.asarray(kmeans2(picked, count, minit="points", rng=rng)[0])


def _shares_of(roots: FloatArray, search: BandedSearch) -> FloatArray:
    """Shares of all spaces from square roots of those that vary, rounded so that they do not depend on the machine."""
    found = np.zeros((len(roots), len(search.scales)))
    found[:, search.scales > 0] = (roots**2).round(6)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def promising_draws(search: BandedSearch, count: int, rng: Generator) -> FloatArray:
    """Shares near those that targets need, shape (at most count, S)."""
    return np.unique(_shares_of(_centres(*needed_shares(search, 20 * count, rng), count, rng), search), axis=0)


def promising_choices(search: BandedSearch, count: int, rng: Generator) -> tuple[FloatArray, IntArray, BoolArray]:
    """Choices near those that targets need: shares, shape (count, S), numbers of ridges, and which targets try each.

    They are centres by k-means of needed shares and of the best ridges so far. Each target tries those nearest to its
    own needs; the last shape is (count, C).
    """
    shares, weights = needed_shares(search, count, rng)
    C = len(search.loss)
    ridges = np.resize(np.log(search.best_ridge), len(shares))
    ridges[C:] += rng.standard_normal(len(ridges) - C)
    points = np.column_stack([shares, _FAR * ridges])
    centres = _centres(points, weights, count, rng)
    numbers = abs(centres[:, -1:] / _FAR - np.log(search.ridges)).argmin(axis=1)
    near = min(count, max(_NEAR, -(-count // C)))
    seen = np.zeros((count, C), dtype=bool)
    for at in np.split(np.arange(C), range(_PICKED, C, _PICKED)):
        far = (centres**2).sum(axis=1) - 2 * points[at] @ centres.T
        seen[np.argpartition(far, near - 1, axis=1)[:, :near], at[:, None]] = True
    return _shares_of(centres[:, :-1], search), numbers, seen


# -- the variance that each space explains ---------------------------------------------------------


def left_out_r2(spaces: SpaceKernels, shares: FloatArray, ridge: float, dual: Array) -> FloatArray:
    """Share of the variance of left-out rows that each space explains at one choice, shape (b, S).

    This is the product measure ``Σ f_s (2 y - f)/Σ y²`` of outputs f = Σ f_s for centred labels y. The outputs for a
    set t are those of a model trained without it, whose dual coefficients are ``α - G_·t e_t``: f = y - e. Labels
    follow from `dual`, shape (b, n).
    """
    xp = namespace_of(dual)
    u = spaces.roots
    solution = Draw(spaces, shares).at(ridge, dual)
    outputs = [share * (K @ dual.T) for share, K in zip(shares.tolist(), spaces.kernels, strict=True)]
    labels = sum(outputs, ridge * dual.T)
    labels = labels - u[:, None] * (spaces.fit_intercept * (u @ labels) / (u @ u))
    W = solution.left_out / u
    errors = W @ labels
    explained = np.zeros((dual.shape[0], len(shares)))
    for rows, block in zip(spaces.batches, solution.blocks, strict=True):
        own = rows.of(errors)
        pulls = block @ rows.of(W)  # G_t·, (G, m, n)
        for s, (share, K) in enumerate(zip(shares.tolist(), spaces.kernels, strict=True)):
            output = rows.of(outputs[s]) - share * (rows.of(K) @ xp.matrix_transpose(pulls) @ own)
            explained[:, s] += to_numpy(xp.sum(output * (rows.of(labels) + own), axis=(0, 1)))
    return explained / np.maximum(to_numpy(xp.sum(labels * labels, axis=0)), 1e-300)[:, None]
