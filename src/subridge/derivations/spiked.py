"""The trace in γ_rr′ for isotropic-plus-low-rank covariances, by words in non-commuting matrices.

With Σ = d I + F Fᵀ on all features, member r sees C_rr = d I + F_r F_rᵀ (F_r: the rows of F it keeps) and the
resolvent R_r = (x I + C_rr)⁻¹ = (1/X)(I − F_r K_r F_rᵀ), X = x + d, K_r = (X I + G_r)⁻¹, G_r = F_rᵀ F_r. The
trace tr[R_r C_rs R_s C_sr] then needs only matrices whose size is the rank. The proof expands both sides into words and
rewrites them with the relations below until only K_r, K_s and C = F_overlapᵀ F_overlap are left. Then it compares
traces. All three matrices are symmetric, so that a trace does not change under rotation or reversal of its word. The
proof holds for any rank.
"""

from collections import defaultdict
from itertools import product

import sympy as sp

d, X, Y, n_overlap, rank = sp.symbols("d X Y n_o m", positive=True)
Word = tuple[str, ...]
Polynomial = dict[Word, sp.Expr]
_ONE = sp.S.One

# F: F_r, E: F_s, P: the 0/1 matrix N_r × N_s of shared features, t: transpose
_LETTERS = {"Ft F": "G", "Et E": "Q", "Ft P E": "C", "Et Pt F": "C", "Ft P Pt F": "C", "Et Pt P E": "C"}
_REWRITE: dict[Word, Polynomial] = {tuple(word.split()): {(letter,): _ONE} for word, letter in _LETTERS.items()}
for _K, _G, _X in (("K", "G", X), ("L", "Q", Y)):
    _REWRITE[_K, _G] = _REWRITE[_G, _K] = {(): _ONE, (_K,): -_X}
# Words whose trace is a number; the empty word is the identity of the rank's dimension.
_TRACES = {("P", "Pt"): n_overlap, (): rank}


def _multiply(*factors: Polynomial) -> Polynomial:
    total: Polynomial = defaultdict(lambda: sp.S.Zero)
    for choice in product(*[factor.items() for factor in factors]):
        word = tuple(letter for part, _ in choice for letter in part)
        total[word] += sp.Mul(*[coefficient for _, coefficient in choice])
    return dict(total)


def _rewrite_once(word: Word) -> Polynomial | None:
    """Apply the first relation that matches the word read as a cycle."""
    for start in range(len(word)):
        turned = word[start:] + word[:start]
        for pattern, replacement in _REWRITE.items():
            if turned[: len(pattern)] == pattern:
                rest = turned[len(pattern) :]
                return {new + rest: coefficient for new, coefficient in replacement.items()}
    return None


def words(polynomial: Polynomial) -> Polynomial:
    """Reduce the trace of a polynomial to traces of words in K, L and C.

    Parameters
    ----------
    polynomial : dict of words to expressions
        Products of letters with their coefficients, under a trace.

    Returns
    -------
    dict of words to expressions
        The same trace, in words that cannot be reduced.

    Examples
    --------
    tr[K_r G_r] = m − X tr[K_r]:

    >>> words({("K", "G"): sp.S.One})
    {(): m, ('K',): -X}
    """
    done: Polynomial = defaultdict(lambda: sp.S.Zero)
    pending = list(polynomial.items())
    while pending:
        word, coefficient = pending.pop()
        step = _rewrite_once(word)
        if word in _TRACES:
            done[()] += coefficient * _TRACES[word]
        elif step is None:
            same = (w[k:] + w[:k] for w in (word, word[::-1]) for k in range(max(len(word), 1)))
            done[min(same)] += coefficient
        else:
            pending += [(new, coefficient * factor) for new, factor in step.items()]
    reduced = {word: sp.factor(coefficient) for word, coefficient in sorted(done.items())}
    return {word: coefficient for word, coefficient in reduced.items() if coefficient != 0}


def overlap_trace() -> Polynomial:
    """Return X Y tr[R_r C_rs R_s C_sr], reduced.

    >>> overlap_trace()[("K", "L")]
    X**2*Y**2
    """
    left = {(): _ONE, ("F", "K", "Ft"): -_ONE}
    right = {(): _ONE, ("E", "L", "Et"): -_ONE}
    forth = {("P",): d, ("F", "Et"): _ONE}
    back = {("Pt",): d, ("E", "Ft"): _ONE}
    return words(_multiply(left, forth, right, back))


def low_rank_trace() -> Polynomial:
    """Return the form that needs only matrices whose size is the rank, reduced.

    d² n_o + d x_s tr[K_s C] + d x_r tr[K_r C] + tr[K_r (X G_s − dC) K_s (Y G_r − dC)], x_r = X−d, x_s = Y−d.

    >>> low_rank_trace() == overlap_trace()
    True
    """
    form = _multiply({("K",): _ONE}, {("Q",): X, ("C",): -d}, {("L",): _ONE}, {("G",): Y, ("C",): -d})
    return words(form | {("P", "Pt"): d**2, ("L", "C"): d * (Y - d), ("K", "C"): d * (X - d)})
