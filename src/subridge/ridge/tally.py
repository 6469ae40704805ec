"""Votes of many ensembles at once, at many readout noises, counted member by member.

A member votes for its largest score, the lowest class index where two are equal. The ensemble takes the class with most
votes; among classes with equally many votes the largest sum of all members' scores decides, then the lowest index.
"""

from collections.abc import Sequence
from typing import Any

import array_api_compat
import numpy as np

from subridge.arrays.namespace import add_at_first
from subridge.arrays.types import IntArray


class Tally:
    """Votes of B ensembles, filled member by member, at several readout noises at once.

    Scores are linear in the noise: ``s + η d``, with s the score of the noise-free member and d what unit noise adds.

    Parameters
    ----------
    noises : sequence of float
        η of every case.
    shape : tuple of int
        (B, n_sizes, n_classes, n_test).
    example : array
        Library, dtype and device of the scores.
    voting : {"majority", "sum"}
        "sum" keeps no votes: the largest sum of scores wins.
    """

    def __init__(self, noises: Sequence[float], shape: tuple[int, int, int, int], example: Any, voting: str) -> None:
        xp, place = array_api_compat.array_namespace(example), array_api_compat.device(example)
        self.noises = [float(eta) for eta in noises]
        self._quiet = xp.zeros(shape, dtype=example.dtype, device=place)
        self._noisy: Any = xp.zeros_like(self._quiet) if any(self.noises) else None
        self._votes = []
        if voting == "majority":
            self._votes = [xp.zeros(shape, dtype=xp.int32, device=place) for _ in self.noises]

    def add(self, ensembles: IntArray, quiet: Any, noisy: Any = None) -> None:
        """Count the votes of G members.

        Parameters
        ----------
        ensembles : ndarray of int, shape (G,)
            Which ensemble each belongs to.
        quiet, noisy : array, shape (G, n_sizes, n_classes, n_test)
            s and d.
        """
        xp = array_api_compat.array_namespace(quiet)
        add_at_first(self._quiet, ensembles, quiet)
        if noisy is not None:
            add_at_first(self._noisy, ensembles, noisy)
        for votes, eta in zip(self._votes, self.noises, strict=False):
            winners = first_largest(quiet if eta == 0 else quiet + eta * noisy)
            for c in range(quiet.shape[2]):
                add_at_first(votes[:, :, c, :], ensembles, xp.astype(winners == c, xp.int32))

    def decide(self, case: int) -> Any:
        """The class every ensemble takes at one noise, shape (B, n_sizes, n_test)."""
        xp, eta = array_api_compat.array_namespace(self._quiet), self.noises[case]
        sums = self._quiet if eta == 0 else self._quiet + eta * self._noisy
        if not self._votes:
            return first_largest(sums)
        votes = self._votes[case]
        most, largest = votes[:, :, 0, :], sums[:, :, 0, :]
        winner = xp.zeros_like(most)
        for c in range(1, votes.shape[2]):
            count, total = votes[:, :, c, :], sums[:, :, c, :]
            better = (count > most) | ((count == most) & (total > largest))
            most, largest = xp.where(better, count, most), xp.where(better, total, largest)
            winner = xp.where(better, xp.full_like(winner, c), winner)
        return winner


def first_largest(scores: Any) -> Any:
    """The lowest class with the largest score; shape (..., n_classes, n_test) to (..., n_test).

    Not the library's argmax, which promises no order among equal entries on a GPU.

    Examples
    --------
    >>> first_largest(np.array([[1.0, 0.0], [3.0, 0.0], [3.0, -1.0]]))
    array([1, 0])
    """
    xp = array_api_compat.array_namespace(scores)
    if isinstance(scores, np.ndarray):
        return scores.argmax(axis=-2)
    largest = scores[..., 0, :]
    winner = xp.zeros(largest.shape, dtype=xp.int32, device=array_api_compat.device(scores))
    for c in range(1, scores.shape[-2]):
        better = scores[..., c, :] > largest
        largest = xp.where(better, scores[..., c, :], largest)
        winner = xp.where(better, xp.full_like(winner, c), winner)
    return winner
