"""Label noise ζ from the pilot: what no linear predictor of all features explains, however many samples.

Weights drawn at random around zero, with variances that are a power of the spectrum, make the centred labels Gaussian
with covariance ``ζ²(I + h K^g)``, K = FFᵀ the kernel of all features; g = 1 is the same variance for all weights. The
restricted likelihood (as for variance components) is a sum over eigenvalues of K, and its mean is taken over a grid of
(g, h).
Labels that depend on the features in another way, nonlinear or outside of them, count as noise.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from subridge.arrays.types import FloatArray, Json
from subridge.forecasting.pilot.pilot import Pilot

_LOG_STRENGTHS = np.linspace(-12.0, 24.0, 241)  # log of h times the largest eigenvalue to the power g
_POWERS = np.arange(0.5, 3.01, 0.25)


@dataclass(frozen=True)
class LabelNoise:
    """Variance ζ² summed over targets, with an interval."""

    variance: float
    lower: float
    upper: float

    def attributes(self) -> dict[str, Json]:
        """What results say of it: ζ, a standard deviation."""
        variances = {"": self.variance, "_lower": self.lower, "_upper": self.upper}
        return {f"label_noise{end}": float(np.sqrt(value)) for end, value in variances.items()}


def label_noise(pilot: Pilot, level: float = 0.9) -> LabelNoise:
    """Estimate ζ² by restricted likelihood from one member that sees all features.

    The interval is taken from the profile of the likelihood.

    >>> from subridge.forecasting.pilot.pilot import decompose_pilot
    >>> from subridge.ridge.rows.training import training_rows
    >>> from subridge.subsets import equal
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((150, 100))
    >>> y = X @ rng.standard_normal(100) + 2 * rng.standard_normal(150)
    >>> noise = label_noise(decompose_pilot(training_rows(X, y[None], None, True), equal(1, 100, 0)))
    >>> noise.lower < 4 < noise.upper
    True
    """
    member = pilot.members[0]
    inside = pilot.known(0).labels ** 2  # (C, ρ)
    freedom = pilot.n_samples - pilot.intercept
    spare = freedom - len(member.spectrum)
    rest = np.maximum((pilot.targets**2).sum(axis=1) - inside.sum(axis=1), 0.0) * (spare > 0)
    scaled = member.spectrum / member.spectrum[-1]
    variances, misfit = (
        np.concatenate(parts, axis=1)
        for parts in zip(*(_profile(inside, rest, freedom, scaled**power) for power in _POWERS), strict=True)
    )
    kept = np.maximum(misfit - misfit.min(axis=1, keepdims=True), 0.0) <= chi2.ppf(level, 1)
    # The mean over the likelihood, not its top, which is zero for many a pilot with fewer rows than features.
    likelihood = np.exp(0.5 * (misfit.min(axis=1, keepdims=True) - misfit))
    best = (likelihood * variances).sum(axis=1) / likelihood.sum(axis=1)
    # Given h the variance has an interval of its own, of a χ² variable with n - 1 degrees of freedom.
    own = np.exp(np.sqrt(2 / freedom) * np.array([-1.0, 1.0]))
    lower = np.where(kept, variances, np.inf).min(axis=1) * own[0]
    upper = np.where(kept, variances, 0.0).max(axis=1) * own[1]
    return LabelNoise(float(best.sum()), float(lower.sum()), float(upper.sum()))


def _profile(inside: FloatArray, rest: FloatArray, freedom: int, spectrum: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Best ζ² for every h, and minus twice the log-likelihood there; both of shape (C, strengths)."""
    stretch = np.exp(_LOG_STRENGTHS)[:, None] * spectrum
    stretch += 1
    variances = (inside @ (1 / stretch).T + rest[:, None]) / freedom
    volume = np.log(stretch, out=stretch).sum(axis=1)
    return variances, freedom * np.log(np.maximum(variances, 1e-300)) + volume
