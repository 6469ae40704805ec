"""Proposition 1 for covariances made of blocks a·I + b·11ᵀ.

The factors 1/√ν of the paper always come in pairs and are left out here. With C_rr′ = A_r(Σ_s+Σ_0)A_r′ᵀ,
x_r = ν_rr/q̂_r and R_r = (x_r I + C_rr)⁻¹ = (q̂_r/ν_rr) G_r⁻¹, Prop. 1 (eqs. 8 to 10) reads

    γ_rr′ = tr[R_r C_rr′ R_r′ C_r′r] / (α M)
    (1−γ_rr′) E_rr′ = γ_rr′ ζ² + δ_rr′ η_r² + (1/M) w*ᵀ 𝓑_rr′ w*
    𝓑_rr′ = Σ_s − Σ_s(A_rᵀR_rA_r + A_r′ᵀR_r′A_r′)Σ_s + Σ_s A_rᵀR_r C_rr′ R_r′A_r′ Σ_s
    q_r = x_r tr[R_r C_rr] / (ν_rr M)

This form stays finite at λ = 0, where Prop. 1 as printed is 0/0.
"""

from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from subridge.derivations.block_matrix import BlockMatrix, trace
from subridge.derivations.notation import alpha, x_r, x_s


@dataclass(frozen=True, eq=False)
class MemberPair:
    """Two members of an ensemble (or one member twice) on block-structured data.

    Parameters
    ----------
    signal, noise : BlockMatrix, M by M
        Σ_s and Σ_0.
    first, second : BlockMatrix
        Measurement matrices A_r and A_r′.
    same : bool
        Whether the pair is one member twice; then both share one x.

    Examples
    --------
    >>> n, b = sp.symbols("n b", positive=True)
    >>> one = BlockMatrix.identity([n])
    >>> pair = MemberPair(b * one, 0 * one, one, one, same=True)
    >>> sp.factor(pair.gamma)
    b**2/(alpha*(b + x_r)**2)
    >>> sp.factor(pair.random_bias())
    b*x_r**2*(n - 1)/(n*(b + x_r)**2)
    >>> pair.n_features, sp.factor(pair.overlap_trace), pair.resolvents[0]
    (n, b**2*n/(b + x_r)**2, [1/(b + x_r) I_{n}])
    >>> sp.factor(pair.q)
    b*x_r/(b + x_r)
    >>> [sp.factor(each) for each in (pair.aligned_bias(), pair.aligned_explained(), pair.random_explained())]
    [b*x_r**2/(b + x_r)**2, b**2/(b + x_r), b**2*(n - 1)/(n*(b + x_r))]
    >>> [sp.factor(each) for each in (pair.random_weights(), pair.aligned_weights(), pair.weight_spread())]
    [b**2*(n - 1)/(n*(b + x_r)**2), b**2/(b + x_r)**2, b/(alpha*(b + x_r)**2)]
    """

    signal: BlockMatrix
    noise: BlockMatrix
    first: BlockMatrix
    second: BlockMatrix
    same: bool = False

    @property
    def n_features(self) -> sp.Expr:
        """Number of features M, the sum of the group sizes."""
        return sum(self.signal.row_sizes)

    @cached_property
    def _covariances(self) -> tuple[BlockMatrix, BlockMatrix, BlockMatrix]:
        total = self.signal + self.noise
        A, B = self.first, self.second
        return A @ total @ A.T, A @ total @ B.T, B @ total @ B.T

    @cached_property
    def resolvents(self) -> tuple[BlockMatrix, BlockMatrix]:
        """The resolvents R_r and R_r′ = (x + C)⁻¹ of the two members."""
        C_rr, _, C_ss = self._covariances
        x = x_r if self.same else x_s
        return (
            (x_r * BlockMatrix.identity(C_rr.row_sizes) + C_rr).inverse(),
            (x * BlockMatrix.identity(C_ss.row_sizes) + C_ss).inverse(),
        )

    @property
    def q(self) -> sp.Expr:
        """The order parameter q_r = (1/M) tr[G_r⁻¹ Σ̃_rr] (eq. 10 (saddle_point)) at q̂_r = ν_rr/x_r."""
        # ν_rr M = N_r, the number of rows of A_r: the two factors M cancel.
        return sp.cancel(x_r * trace(self.resolvents[0] @ self._covariances[0]) / sum(self.first.row_sizes))

    @cached_property
    def overlap_trace(self) -> sp.Expr:
        """The trace tr[R_r C_rr′ R_r′ C_r′r]."""
        R, R_other = self.resolvents
        C = self._covariances[1]
        return trace((R @ C) @ (R_other @ C.T))

    @cached_property
    def gamma(self) -> sp.Expr:
        """The overlap γ_rr′ at finite size."""
        return self.overlap_trace / (alpha * self.n_features)

    def random_bias(self) -> sp.Expr:
        """Return (1/M) E[gᵀ P 𝓑 P g], g ~ N(0, I), P = I − 11ᵀ/M the projection that removes direction 1.

        The four terms of 𝓑 are left as a sum: each is short, their common denominator is not.
        """
        return sum(term / self.n_features for term in self._bias_terms(self._random))

    def aligned_bias(self) -> sp.Expr:
        """Return (1/M) 1ᵀ 𝓑 1, as a sum of four terms."""
        return sum(term / self.n_features for term in self._bias_terms(self._aligned))

    def random_explained(self) -> sp.Expr:
        """Return c_r = (1/M) E[gᵀ P Σ_s A_rᵀR_rA_r Σ_s P g], the cross moment of a random target and member r."""
        return self._explained(self._random)[0] / self.n_features

    def aligned_explained(self) -> sp.Expr:
        """Return c_r = (1/M) 1ᵀ Σ_s A_rᵀR_rA_r Σ_s 1, the cross moment of a target along 1 and member r."""
        return self._explained(self._aligned)[0] / self.n_features

    def random_weights(self) -> sp.Expr:
        """Return (1/M) E[m_rᵀm_r′], m_r = A_rᵀR_rA_r Σ_s P g the mean weights for a target drawn at random."""
        return self._product(self._random, self._met) / self.n_features

    def aligned_weights(self) -> sp.Expr:
        """Return (1/M) m_rᵀm_r′ for a target along 1."""
        return self._product(self._aligned, self._met) / self.n_features

    def weight_spread(self) -> sp.Expr:
        """Return tr[R_r C_rr′ R_r′ A_r′A_rᵀ]/(αM), the weights' covariance over E_rr′ + ζ²."""
        R, R_other = self.resolvents
        return trace((R @ self._covariances[1]) @ (R_other @ self._met.T)) / (alpha * self.n_features)

    @property
    def _random(self) -> BlockMatrix:
        """E[w*w*ᵀ] of a target drawn at random: the projection P, because P² = P."""
        removed: BlockMatrix = self._aligned * (1 / self.n_features)
        return BlockMatrix.identity(self.signal.row_sizes) - removed

    @property
    def _aligned(self) -> BlockMatrix:
        """w*w*ᵀ of the target along 1."""
        return BlockMatrix.all_ones(self.signal.row_sizes, self.signal.row_sizes)

    @property
    def _met(self) -> BlockMatrix:
        """A_r A_r′ᵀ, the features that both see."""
        return self.first @ self.second.T

    def _product(self, target: BlockMatrix, between: BlockMatrix) -> sp.Expr:
        """Return tr[Σ_s A_rᵀR_r X R_r′A_r′ Σ_s E[w*w*ᵀ]], with its factors ordered to keep matrices small."""
        R, R_other = self.resolvents
        seen = self.second @ (self.signal @ target @ self.signal) @ self.first.T
        return trace((R @ between) @ (R_other @ seen))

    def _bias_terms(self, target: BlockMatrix) -> list[sp.Expr]:
        """Return tr[X E[w*w*ᵀ]] for each term X of 𝓑."""
        first, second = self._explained(target)
        return [trace(self.signal @ target), -first, -second, self._product(target, self._covariances[1])]

    def _explained(self, target: BlockMatrix) -> list[sp.Expr]:
        """Return tr[Σ_s AᵀRA Σ_s E[w*w*ᵀ]] for both members."""
        members = zip(self.resolvents, (self.first, self.second), strict=True)
        return [trace(R @ (A @ (self.signal @ target @ self.signal) @ A.T)) for R, A in members]
