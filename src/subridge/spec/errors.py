"""One exception type per kind of mistake; every message names the argument, the value and the remedy."""


class SubridgeError(Exception):
    """Base of every error this package raises on purpose."""


class ParameterError(SubridgeError, ValueError):
    """A scalar or array parameter is out of its range or has the wrong shape."""


class DataError(SubridgeError, ValueError):
    """Data contain NaN or infinity, or cannot be used as given."""


class CovarianceError(SubridgeError, ValueError):
    """A covariance is not symmetric positive semi-definite, or has the wrong size."""


class SubsetError(SubridgeError, ValueError):
    """Subsets are empty, out of range, repeated, or fewer features than members."""


class RidgeError(SubridgeError, ValueError):
    """A negative ridge for which the regression problem has no solution."""


class ConvergenceError(SubridgeError, RuntimeError):
    """A root or a minimum was not found to the required accuracy."""


class InfiniteRiskWarning(UserWarning):
    """The risk is infinite: a ridgeless member sits exactly at its interpolation threshold."""
