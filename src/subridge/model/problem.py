"""Data distributions: features, teacher and noise."""

from dataclasses import dataclass, fields

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray, Seed
from subridge.model.checks import Fingerprinted, finite_array, non_negative, positive_integer, stream, within
from subridge.model.covariance import Covariance, as_covariance, equicorrelated, isotropic
from subridge.model.errors import CovarianceError, ParameterError, counted


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Fingerprinted):
    """Gaussian data with a linear teacher (sec. 2.1 (Setup) of the paper).

    Features are ψ + σ with ψ ~ N(0, Σ_s) and feature noise σ ~ N(0, Σ_0); labels are w*·ψ/√M + ε, ε ~ N(0, ζ²).

    Parameters
    ----------
    signal_covariance : Covariance or array_like, shape (M, M)
        Σ_s.
    teacher_weights : array_like, shape (M,)
        w*.
    noise_covariance : Covariance or array_like, shape (M, M), optional
        Σ_0; None means no feature noise.
    label_noise : array_like, shape (...)
        ζ, a standard deviation. An array broadcasts with every other parameter.

    Raises
    ------
    ParameterError
        If the teacher has another number of weights than there are features, or `label_noise` is negative.
    CovarianceError
        If the covariances differ in size, or one is not symmetric positive semi-definite.
    DataError
        If something is NaN or infinite.

    Examples
    --------
    >>> import numpy as np, subridge as sr
    >>> problem = sr.Problem(sr.covariance.autoregressive(50, 0.8), np.ones(50), label_noise=0.1)
    >>> problem.n_features
    50
    """

    signal_covariance: Covariance
    teacher_weights: FloatArray
    noise_covariance: Covariance
    label_noise: FloatArray

    def __init__(
        self,
        signal_covariance: "Covariance | ArrayLike",
        teacher_weights: ArrayLike,
        noise_covariance: "Covariance | ArrayLike | None" = None,
        label_noise: ArrayLike = 0.0,
    ) -> None:
        signal = as_covariance(signal_covariance)
        M = signal.n_features
        teacher = finite_array("teacher_weights", teacher_weights)
        if teacher.shape != (M,):
            raise ParameterError(f"teacher_weights must have shape ({M},) like signal_covariance, got {teacher.shape}")
        noise = isotropic(M, 0.0) if noise_covariance is None else as_covariance(noise_covariance)
        if noise.n_features != M:
            raise CovarianceError(
                f"noise_covariance has {counted(noise.n_features, 'feature')} but signal_covariance has {M}"
            )
        zeta = non_negative("label_noise", label_noise)
        self._set(signal_covariance=signal, teacher_weights=teacher, noise_covariance=noise, label_noise=zeta)

    @property
    def n_features(self) -> int:
        """Number of features, M."""
        return self.signal_covariance.n_features


@dataclass(frozen=True, eq=False, repr=False)
class EquicorrelatedProblem(Fingerprinted):
    """Equicorrelated data with isotropic feature noise (Prop. 2), M → ∞.

    Parameters
    ----------
    data_scale : array_like, shape (...)
        s > 0, the variance of a feature without its noise.
    correlation : array_like, shape (...)
        c in [0, 1], of any two features.
    feature_noise : array_like, shape (...)
        ω, standard deviation of the noise of a feature.
    alignment : array_like, shape (...)
        ρ in [-1, 1], how far the teacher points along the direction that features share, eq. 11 (alignedGT).
    label_noise : array_like, shape (...)
        ζ, standard deviation of the noise of a label.

    Raises
    ------
    ParameterError
        If a parameter lies outside its range.
    DataError
        If one is NaN or infinite.

    Notes
    -----
    Fields may be arrays; they broadcast against each other and against sample ratios and ridges.

    Examples
    --------
    >>> import subridge as sr
    >>> sr.EquicorrelatedProblem(correlation=0.6, label_noise=0.1).realise(20, seed=0).n_features
    20
    """

    data_scale: FloatArray
    correlation: FloatArray
    feature_noise: FloatArray
    alignment: FloatArray
    label_noise: FloatArray

    def __init__(
        self,
        data_scale: ArrayLike = 1.0,
        correlation: ArrayLike = 0.0,
        feature_noise: ArrayLike = 0.0,
        alignment: ArrayLike = 0.0,
        label_noise: ArrayLike = 0.0,
    ) -> None:
        s = finite_array("data_scale", data_scale)
        if (s <= 0).any():
            raise ParameterError(f"data_scale must be greater than 0, got {s.min():g}")
        self._set(
            data_scale=s,
            correlation=within("correlation", correlation, 0.0, 1.0),
            feature_noise=non_negative("feature_noise", feature_noise),
            alignment=within("alignment", alignment, -1.0, 1.0),
            label_noise=non_negative("label_noise", label_noise),
        )

    def realise(self, n_features: int, seed: Seed | np.random.Generator | None = None) -> Problem:
        """Draw a teacher (eq. 11 (alignedGT)) and return the finite problem.

        Parameters
        ----------
        n_features : int
            M.
        seed : int or numpy.random.Generator, optional
            Source of randomness; None gives another teacher every time.

        Returns
        -------
        Problem
            The same data with M features.

        Raises
        ------
        ParameterError
            If a field is an array of several values, or `n_features` is not a positive integer.
        """
        M = positive_integer("n_features", n_features)
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        for name, value in values.items():
            if value.size != 1:
                raise ParameterError(f"{name} must be a scalar to realise a finite problem, got shape {value.shape}")
        s, c, omega, rho, zeta = (float(value.reshape(())) for value in values.values())
        if omega > 1e100:
            raise ParameterError(f"feature_noise must be at most 1e100 to realise a finite problem, got {omega:g}")
        w_0 = stream(seed).standard_normal(M)
        w_star = np.sqrt(1 - rho**2) * (w_0 - w_0.mean()) + rho  # eq. 11 (alignedGT)
        return Problem(equicorrelated(M, s, c), w_star, isotropic(M, omega**2), zeta)
