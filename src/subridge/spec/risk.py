"""The error of an ensemble, term by term."""

from dataclasses import dataclass

from subridge.arrays.types import FloatArray


@dataclass(frozen=True, eq=False)
class Risk:
    """Generalization error, typical (theory) or of given weights (experiment).

    Attributes
    ----------
    pairs : ndarray, shape (..., k, k)
        E_rr′, eq. SingleErrorTerm.
    total : ndarray, shape (...)
        E_g, the mean of the pairs.
    """

    pairs: FloatArray
    total: FloatArray

    @classmethod
    def of_pairs(cls, pairs: FloatArray) -> "Risk":
        return cls(pairs, pairs.mean(axis=(-2, -1)))
