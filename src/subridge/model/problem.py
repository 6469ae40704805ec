"""Data distributions: features, teacher and noise."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from subridge.arrays.types import ArrayLike, FloatArray, Seed
from subridge.model.checks import (
    Fingerprinted,
    extended_non_negative,
    finite_array,
    non_negative,
    one_number,
    positive_integer,
    stream,
    within,
)
from subridge.model.covariance import MOST_FEATURES, Covariance, Dense, as_covariance, dense, equicorrelated, isotropic
from subridge.model.errors import (
    CovarianceError,
    DataError,
    ParameterError,
    ScaleWarning,
    UncertainMomentsWarning,
    counted,
)
from subridge.model.estimation import SampleMoments, left_out_excess, moments_of_blocks, population

# Share by which unequal leverages may raise the left-out error before a warning that the data are not Gaussian.
_UNEQUAL = 0.1
# Ratio of variances below which the eigenvalues of small columns are rounding error of those of large ones.
_FAINT = 1e-8
# Relative rounding error of moments in single precision.
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Fingerprinted):
    """Gaussian data with a linear teacher (sec. 2.1 (Setup) of the paper).

    Features are ψ + σ with ψ ~ N(0, Σ_s) and feature noise σ ~ N(0, Σ_0); labels are w*·ψ/√M + ε, ε ~ N(0, ζ²).

    Parameters
    ----------
    signal_covariance : Covariance or array_like, shape (M, M)
        Covariance Σ_s of the signal.
    teacher_weights : array_like, shape (M,)
        Weights w* of the teacher.
    noise_covariance : Covariance or array_like, shape (M, M), optional
        Covariance Σ_0 of the feature noise; None means no feature noise.
    label_noise : array_like, shape (...)
        Standard deviation ζ of the label noise. An array broadcasts with every other parameter.

    Raises
    ------
    ParameterError
        If the teacher has another number of weights than there are features, `label_noise` is negative, or a number is
        beyond 1e100.
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
        teacher = within("teacher_weights", teacher_weights, -1e100, 1e100)
        if teacher.shape != (M,):
            raise ParameterError(f"teacher_weights must have shape ({M},) like signal_covariance, got {teacher.shape}")
        noise = isotropic(M, 0.0) if noise_covariance is None else as_covariance(noise_covariance)
        if noise.n_features != M:
            raise CovarianceError(
                f"noise_covariance has {counted(noise.n_features, 'feature')} but signal_covariance has {M}"
            )
        self._set(
            signal_covariance=signal,
            teacher_weights=teacher,
            noise_covariance=noise,
            label_noise=non_negative("label_noise", label_noise),
        )

    @property
    def n_features(self) -> int:
        """Number of features, M."""
        return self.signal_covariance.n_features

    @classmethod
    def from_data(
        cls, X: "ArrayLike | Iterable[tuple[ArrayLike, ArrayLike]]", y: ArrayLike | None = None
    ) -> "Problem | tuple[Problem, ...]":
        """Estimate the problem behind a sample, so that `risk` predicts every ensemble on one's own data.

        Eigenvalues are those of the population; those of the sample are too spread out. The teacher's power and the
        label noise do not contain the noise of the fit. ``subridge.model.estimation`` has the formulas.

        Parameters
        ----------
        X : array_like, shape (n, M), or iterable of (X, y)
            Rows; or, without `y`, a stream of blocks of rows and labels. Only the moments of a stream are kept.
        y : array_like, shape (n,) or (n, C), optional
            Labels; several targets, such as one-hot classes, give one problem each.

        Returns
        -------
        Problem, or tuple of Problem
            For centred data; ``label_noise`` is the standard deviation of what no linear model explains. An intercept
            costs one row: use ``sample_ratio=(n - 1) / M``. Risks of several targets add up.

        Raises
        ------
        DataError
            If shapes do not fit together, something is NaN or infinite, there are fewer than three rows, or every
            feature is constant.

        Warns
        -----
        UncertainMomentsWarning
            There are no more rows than features, so that weak directions count as label noise and predictions for more
            rows are not reliable; or rows differ so much in leverage that the data are far from Gaussian.
        ScaleWarning
            Columns have such different scales that small ones are lost in rounding.

        See Also
        --------
        subridge.forecast : errors at other sizes from left-out rows, without estimating a distribution.

        Examples
        --------
        >>> import numpy as np, subridge as sr
        >>> true = sr.Problem(sr.covariance.autoregressive(40, 0.7), np.ones(40), label_noise=0.5)
        >>> X = true.signal_covariance.colour(np.random.default_rng(0).standard_normal((400, 40)))
        >>> y = X @ true.teacher_weights / np.sqrt(40) + 0.5 * np.random.default_rng(1).standard_normal(400)
        >>> found = sr.Problem.from_data(X, y)
        >>> ensemble = sr.Ensemble(sr.subsets.equal(4, 40, seed=0), ridge=0.1)
        >>> [sr.risk(each, ensemble, 2.0).total.round(2).item() for each in (true, found)]
        [0.57, 0.58]
        """
        if y is None:
            if isinstance(X, np.ndarray) or not isinstance(X, Iterable):
                raise DataError("y is missing; give labels, or an iterable of blocks (X, y)")
            return cls._estimated(moments_of_blocks(X))  # type: ignore[arg-type]
        rows, targets = finite_array("X", X), finite_array("y", y)  # type: ignore[arg-type]
        moments = moments_of_blocks([(rows, targets)])
        excess = left_out_excess(rows, targets.reshape(len(rows), -1), moments)
        if excess > _UNEQUAL:
            warnings.warn(
                f"left-out errors of one ridge are {excess:.0%} larger than those of Gaussian rows with these moments: "
                "a few rows have high leverage, and predictions are off by about as much; transform heavy-tailed "
                "columns, or use sr.forecast",
                UncertainMomentsWarning,
                stacklevel=2,
            )
        return cls._estimated(moments)

    @classmethod
    def from_moments(
        cls, covariance: ArrayLike, cross: ArrayLike, power: ArrayLike, n_samples: float = np.inf
    ) -> "Problem | tuple[Problem, ...]":
        """Estimate the problem behind second moments, which may come from a stream or another program.

        Parameters
        ----------
        covariance : array_like, shape (M, M)
            Covariance of the centred features.
        cross : array_like, shape (M,) or (M, C)
            Covariances of the features with each target.
        power : array_like, shape () or (C,)
            Variances of the targets.
        n_samples : float
            Number of rows of the sample. The moments were divided by this number less one; ``inf`` takes them as exact.

        Returns
        -------
        Problem, or tuple of Problem
            As for `from_data`.

        Raises
        ------
        CovarianceError
            If the covariance is not symmetric positive semi-definite.
        DataError
            If shapes do not fit together, something is NaN or infinite, or every feature is constant.
        ParameterError
            If there are fewer than three samples, or a variance is negative.

        Warns
        -----
        UncertainMomentsWarning
            There are no more rows than features.

        Examples
        --------
        >>> import subridge as sr
        >>> found = sr.Problem.from_moments([[2.0, 0.0], [0.0, 1.0]], [1.0, 0.0], 1.0)
        >>> found.teacher_weights.round(3), float(found.label_noise.round(3))
        (array([0.707, 0.   ]), 0.707)
        """
        Sigma = dense(within("covariance", covariance, -1e100, 1e100))
        b = within("cross", cross, -1e100, 1e100)
        v = non_negative("power", power)
        if b.ndim not in (1, 2) or len(b) != Sigma.n_features or v.shape != b.shape[1:]:
            raise DataError(
                f"cross must have shape ({Sigma.n_features},) or ({Sigma.n_features}, C) and power () or (C,), "
                f"got {b.shape} and {v.shape}"
            )
        n = one_number("n_samples", extended_non_negative("n_samples", n_samples, 3.0), most=np.inf)
        columns = b.reshape(len(b), -1)
        if (columns**2 > (1 + _ROUNDING) * np.outer(Sigma.variances_of_features(), v)).any():
            raise DataError(
                "cross must not exceed √(variance × power), by Cauchy and Schwarz; take all from the same rows"
            )
        return cls._estimated(SampleMoments(n - 1, Sigma.matrix, columns, np.atleast_1d(v), b.ndim == 2))

    @classmethod
    def _estimated(cls, moments: SampleMoments) -> "Problem | tuple[Problem, ...]":
        M = len(moments.covariance)
        if moments.n <= M:
            warnings.warn(
                f"{moments.n + 1:,.0f} rows are too few to estimate all directions of {counted(M, 'feature')}: the "
                "part of the target along weak directions counts as label noise; predict for no more rows than that",
                UncertainMomentsWarning,
                stacklevel=3,
            )
        variances = moments.covariance.diagonal()
        if variances[variances > 0].min(initial=np.inf) < _FAINT * variances.max():
            warnings.warn(
                f"variances of columns differ by more than {1 / _FAINT:g} times, so that the smallest ones are lost in "
                "rounding; scale the columns, for example to unit variance",
                ScaleWarning,
                stacklevel=3,
            )
        covariance, teachers, noises = population(moments)
        Sigma = Dense((covariance + covariance.T) / 2)
        each = tuple(cls(Sigma, np.sqrt(M) * teachers[:, c], label_noise=noises[c]) for c in range(len(noises)))
        return each if moments.several else each[0]


@dataclass(frozen=True, eq=False, repr=False)
class EquicorrelatedProblem(Fingerprinted):
    """Equicorrelated data with isotropic feature noise (Prop. 2), M → ∞.

    Parameters
    ----------
    data_scale : array_like, shape (...)
        Variance s > 0 of a feature without its noise.
    correlation : array_like, shape (...)
        Correlation c in [0, 1] of any two features.
    feature_noise : array_like, shape (...)
        Standard deviation ω of the noise of a feature.
    alignment : array_like, shape (...)
        Alignment ρ in [-1, 1] of the teacher with the direction that all features share, eq. 11 (alignedGT).
    label_noise : array_like, shape (...)
        Standard deviation ζ of the noise of a label.

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
        self._set(
            data_scale=within("data_scale", data_scale, 1e-150, 1e100),  # its square must be a float
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
            Number of features, M.
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
        M = positive_integer("n_features", n_features, MOST_FEATURES)
        s, c, omega, rho, zeta = (one_number(field.name, getattr(self, field.name)) for field in fields(self))
        w_0 = stream(seed).standard_normal(M)
        w_star = np.sqrt(1 - rho**2) * (w_0 - w_0.mean()) + rho  # eq. 11 (alignedGT)
        return Problem(equicorrelated(M, s, c), w_star, isotropic(M, omega**2), zeta)
