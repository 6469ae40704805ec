"""Votes of many ensembles at once, at many readout noises, counted member by member."""

from collections.abc import Sequence

from subridge.arrays.namespace import add_at_first, device_of, namespace_of
from subridge.arrays.types import Array, IntArray
from subridge.model.aggregation import Aggregation, Majority, Summed, first_largest, most_votes
from subridge.model.errors import ParameterError


class Tally:
    """Votes of B ensembles, filled member by member, at several readout noises η at once.

    Scores are linear in the noise: ``s + η d``, with s the score of the noise-free member and d what unit noise adds.
    Shape is (B, n_sizes, n_classes, n_test), and `example` has the library, dtype and device of the scores. The
    aggregation is "majority", or "sum", which keeps no votes: the largest sum of scores wins.
    """

    def __init__(
        self, noises: Sequence[float], shape: tuple[int, int, int, int], example: Array, aggregation: Aggregation
    ) -> None:
        if not isinstance(aggregation, Majority | Summed):
            raise ParameterError(
                f"votes are counted for 'majority' and 'sum', not for aggregation={aggregation.name!r}"
            )
        xp, place = namespace_of(example), device_of(example)
        self.noises = [float(eta) for eta in noises]
        self._quiet = xp.zeros(shape, dtype=example.dtype, device=place)
        self._noisy = xp.zeros_like(self._quiet) if any(self.noises) else None
        counted = self.noises if isinstance(aggregation, Majority) else []
        self._votes = [xp.zeros(shape, dtype=xp.int32, device=place) for _ in counted]

    def add(self, ensembles: IntArray, quiet: Array, noisy: Array | None = None) -> None:
        """Count the votes of G members, each of the ensemble that `ensembles`, shape (G,), names.

        Scores s and d have shape (G, n_sizes, n_classes, n_test); without noise there need be no d.
        """
        xp = namespace_of(quiet)
        add_at_first(self._quiet, ensembles, quiet)
        if self._noisy is not None and noisy is not None:
            add_at_first(self._noisy, ensembles, noisy)
        for votes, eta in zip(self._votes, self.noises, strict=False):
            winners = first_largest(_at_noise(eta, quiet, noisy))
            for c in range(quiet.shape[2]):
                add_at_first(votes[:, :, c, :], ensembles, xp.astype(winners == c, xp.int32))

    def decide(self, case: int) -> Array:
        """The class every ensemble takes at one noise, shape (B, n_sizes, n_test)."""
        sums = _at_noise(self.noises[case], self._quiet, self._noisy)
        return most_votes(self._votes[case], sums) if self._votes else first_largest(sums)


def _at_noise(eta: float, quiet: Array, noisy: Array | None) -> Array:
    if eta == 0:
        return quiet
    if noisy is None:
        raise ParameterError(f"readout noise {eta:g} needs what unit noise adds to the scores")
    return quiet + eta * noisy
