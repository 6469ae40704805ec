"""Fitted members: their weights, and what they say about new rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from subridge.arrays.namespace import device_of, is_sparse, like, namespace_of, select_rows
from subridge.arrays.types import Array, FloatArray, SparseMatrix
from subridge.model.plan import SubsetPlan


@dataclass(frozen=True, eq=False)
class FittedMembers:
    """Members as linear maps of the unscaled features: coefficients, each (C, N_r), and intercepts, each (C,).

    `target_mean`, shape (C,), is what the aggregate predicts where no member counts; zero without intercept.
    """

    plan: SubsetPlan
    coefficients: list[Array]
    intercepts: list[Array]
    target_mean: Array

    @classmethod
    def centred_on(
        cls, plan: SubsetPlan, coefficients: list[Array], feature_means: Array, target_means: Sequence[Array]
    ) -> "FittedMembers":
        """Members fitted to centred data; target means of shape (C,), one per member."""
        intercepts = [
            mean - coef @ plan.measure(r, feature_means)
            for r, (coef, mean) in enumerate(zip(coefficients, target_means, strict=True))
        ]
        return cls(plan, coefficients, intercepts, sum(target_means[1:], target_means[0]) / len(target_means))

    def collapse(self, weights: FloatArray) -> tuple[Array, Array]:
        """The weighted sum of the members, measured from the target's mean, as one linear map: (C, M) and (C,).

        Weights of shape (k,) hold for all targets, of shape (C, k) each for its own.
        """
        first = self.coefficients[0]
        shape = (first.shape[0], self.plan.n_features)
        coef = namespace_of(first).zeros(shape, dtype=first.dtype, device=device_of(first))
        shares = like(np.broadcast_to(weights, (first.shape[0], len(self.coefficients))).T, first)
        intercept = (1.0 - shares.sum(axis=0)) * self.target_mean
        for r, (own, offset) in enumerate(zip(self.coefficients, self.intercepts, strict=True)):
            self.plan.add_lifted(r, shares[r, :, None] * own, coef)
            intercept = intercept + shares[r, :] * offset
        return coef, intercept

    def scores(self, X: Array | SparseMatrix) -> Array:
        """Output of every member, shape (k, C, n), in the library of X."""
        columns = X.tocsc() if is_sparse(X) else X
        scores = [self.scores_of(r, columns) for r in range(len(self.coefficients))]
        return namespace_of(scores[0]).stack(scores)

    def scores_of(self, r: int, X: Array | SparseMatrix) -> Array:
        """Output of one member, shape (C, n), in the library of X."""
        example, A = example_of(X), self.plan.measurements[r]
        coef, intercept = self.coefficients[r], like(self.intercepts[r], example)
        if A.ndim == 2:
            product = (X @ like(self.plan.lift_rows(r, coef), example).T).T
        elif is_sparse(X):
            product = (X[:, A] @ like(coef, example).T).T
        else:
            product = like(coef, example) @ select_rows(X.T, A)
        return product + intercept[:, None]


def example_of(X: Array | SparseMatrix) -> Array:
    """An array of the library and device that predictions for X are made in."""
    return np.empty(0) if is_sparse(X) else X
