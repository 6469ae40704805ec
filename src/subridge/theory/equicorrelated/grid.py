"""The grid of a call on equicorrelated data: every parameter broadcast to one leading shape."""

from typing import NamedTuple

import numpy as np

from subridge.arrays.types import FloatArray, IntArray
from subridge.model.ensemble import Ensemble
from subridge.model.problem import EquicorrelatedProblem
from subridge.theory.broadcasting import common_shape
from subridge.theory.equicorrelated.saddle_point import Bulk, bulk


class Grid(NamedTuple):
    """Parameters broadcast to one grid: scalars (...), members (..., k), pairs (..., k, k)."""

    alpha: FloatArray  # sample ratio
    zeta: FloatArray  # label noise
    noise: FloatArray  # ω², the feature noise's share of the bulk
    rho2: FloatArray  # ρ², the teacher's share along 1
    aligned: FloatArray  # ρ², but zero without correlation, where no direction is special
    signal: FloatArray  # b = s(1-c)
    bulk_variance: FloatArray  # a = s(1-c) + ω²
    gain: FloatArray  # b²/a, what a fitted bulk takes off the bias; zero without a bulk
    spike: FloatArray  # s c, the variance along 1 per feature
    nu: FloatArray  # subset and overlap fractions, (..., k, k)
    lam: FloatArray  # ridge, (..., k)
    eta: FloatArray  # readout noise, (..., k)

    @classmethod
    def of(cls, problem: EquicorrelatedProblem, ensemble: Ensemble, alpha: FloatArray) -> "Grid":
        """Broadcast every parameter to one leading shape, the member axis last."""
        nu, k = ensemble.fractions, ensemble.n_members
        shape = common_shape(
            fractions=nu.shape[:-2],
            ridge=ensemble.ridge.shape[:-1],
            readout_noise=ensemble.readout_noise.shape[:-1],
            sample_ratio=alpha.shape,
            **{name: getattr(problem, name).shape for name in problem.__dataclass_fields__},
        )
        s, c, rho2 = problem.data_scale, problem.correlation, problem.alignment**2
        b = np.asarray(s * (1 - c))
        a = np.asarray(b + problem.feature_noise**2)
        gain = np.divide(b**2, a, out=np.zeros(a.shape), where=a > 0)
        return cls(
            alpha=np.broadcast_to(alpha, shape),
            zeta=np.broadcast_to(problem.label_noise, shape),
            noise=np.broadcast_to(problem.feature_noise**2, shape),
            rho2=np.broadcast_to(rho2, shape),
            aligned=np.broadcast_to(np.where(c > 0, rho2, 0.0), shape),
            signal=np.broadcast_to(b, shape),
            bulk_variance=np.broadcast_to(a, shape),
            gain=np.broadcast_to(gain, shape),
            spike=np.broadcast_to(s * c, shape),
            nu=np.broadcast_to(nu, (*shape, k, k)),
            lam=np.broadcast_to(ensemble.ridge, (*shape, k)),
            eta=np.broadcast_to(ensemble.readout_noise, (*shape, k)),
        )

    @property
    def own(self) -> FloatArray:
        """ν_rr, shape (..., k)."""
        return np.diagonal(self.nu, axis1=-2, axis2=-1)

    def bulk(self) -> Bulk:
        """What every member fits of its bulk, shape (..., k)."""
        a = self.bulk_variance[..., None]
        with np.errstate(divide="ignore", invalid="ignore"):
            t = self.lam * self.own / a
        # Without a bulk (c = 1, ω = 0) there is nothing to fit in it, for any ridge: σ = 0.
        return bulk(self.alpha[..., None], self.own, np.where(a == 0, np.inf, t))

    def sigma(self) -> FloatArray:
        """σ_r, shape (..., k)."""
        return self.bulk().sigma

    def kappa_bar(self, found: Bulk | None = None) -> FloatArray:
        """Effective ridge κ̄_r = κ_r/α = (a/ν_rr)(1 - σ_r)/σ_r, shape (..., k)."""
        a, alpha, found = self.bulk_variance[..., None], self.alpha[..., None], self.bulk() if found is None else found
        with np.errstate(divide="ignore", invalid="ignore"):
            kappa_bar = np.where(a == 0, np.maximum(self.lam, 0.0) / alpha, a / self.own * (found.free / found.sigma))
        return np.where(alpha == 0, np.inf, np.where(np.isinf(alpha), 0.0, kappa_bar))

    def lean(self) -> "Grid":
        """The same grid for long arithmetic: an axis along which a field stays the same has length one in that field.

        The ridge keeps every axis, and lies in memory member by member; so does all that is computed from it, and loops
        run along the grid instead of over a few members.
        """
        leading = self.alpha.ndim
        fields = (f[tuple(slice(None if stride else 1) for stride in f.strides[:leading])] for f in self)
        lam = np.moveaxis(np.ascontiguousarray(np.moveaxis(self.lam, -1, 0)), 0, -1)
        return Grid(*fields)._replace(lam=lam)

    def flat(self) -> "Grid":
        """The same grid with one leading axis."""
        leading = self.alpha.ndim
        return Grid(*(field.reshape(-1, *field.shape[leading:]) for field in self))

    def take(self, rows: IntArray) -> "Grid":
        """Some points of a flat grid."""
        return Grid(*(field[rows] for field in self))

    def of_member(self, member: int) -> "Grid":
        """One member of a flat grid alone."""
        own = slice(member, member + 1)
        return self._replace(nu=self.nu[:, own, own], lam=self.lam[:, own], eta=self.eta[:, own])
