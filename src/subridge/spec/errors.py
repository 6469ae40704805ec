"""One exception type per kind of mistake; every message names the argument, the value and the remedy."""


class SubridgeError(Exception):
    """Base of every error this package raises on purpose.

    Each is also an error of Python's own kind, such as a ``ValueError``, so that code which knows nothing of this
    package can catch it.

    Examples
    --------
    >>> import subridge as sr
    >>> try:
    ...     sr.EquicorrelatedProblem(correlation=2.0)
    ... except sr.errors.SubridgeError as error:
    ...     print(type(error).__name__, "-", error)
    ParameterError - correlation must lie in [0, 1], got 2
    """


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


class DeviceError(SubridgeError, RuntimeError):
    """A device was asked for that this machine or installation does not have."""


class BudgetError(SubridgeError, MemoryError):
    """A problem does not fit into the memory it may use."""


class StoreError(SubridgeError, OSError):
    """A store cannot be written, or belongs to another grid or another version."""


class ClusterError(SubridgeError, RuntimeError):
    """Worker processes died, or a cluster cannot be reached."""


class SubridgeWarning(UserWarning):
    """Base of every warning this package gives.

    Examples
    --------
    Turn them into errors, so that nothing doubtful goes unseen:

    >>> import warnings, subridge as sr
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", sr.errors.SubridgeWarning)
    ...     sr.risk(sr.EquicorrelatedProblem(), sr.Ensemble([0.5]), 0.5)
    Traceback (most recent call last):
    subridge.model.errors.InfiniteRiskWarning: ...
    """


class DamagedStoreWarning(SubridgeWarning):
    """Something in a store was altered, cut or lost, and is computed again."""


class WaitingWarning(SubridgeWarning):
    """A run can do nothing until something else happens, which is named."""


class InterruptedRun(KeyboardInterrupt):
    """A run was interrupted; says what is kept and how to go on.

    It is a ``KeyboardInterrupt``, so that ``except Exception`` does not swallow it.

    Examples
    --------
    >>> issubclass(InterruptedRun, KeyboardInterrupt), issubclass(InterruptedRun, Exception)
    (True, False)
    """


class InfiniteRiskWarning(SubridgeWarning):
    """The risk is infinite: a ridgeless member sits exactly at its interpolation threshold."""


class AccuracyWarning(SubridgeWarning):
    """Rounding may have changed a result by more than 1e-8 of itself."""


class ScaleWarning(SubridgeWarning):
    """Columns of the data have scales that no single ridge can suit."""


class RidgePathWarning(SubridgeWarning):
    """The best ridge of a path lies at its end; one beyond may err less."""


class DuplicateRowsWarning(SubridgeWarning):
    """Many rows are copies of others, so that left-out rows are still known."""


class CorrelatedRowsWarning(SubridgeWarning):
    """Errors of neighbouring rows are alike: rows are in time order, or belong together."""


class LargeGroupWarning(SubridgeWarning):
    """One group holds more than half of all rows."""


class HeavyTailWarning(SubridgeWarning):
    """A single row carries much of the variance of the features or of the target."""


class CopiedRowsWarning(SubridgeWarning):
    """Rows of the data are copies of others, so that leaving one out leaves its label in."""


class RareColumnsWarning(SubridgeWarning):
    """Columns vary in fewer than five rows, which tell nothing of what they do elsewhere."""


class ClassCodesWarning(SubridgeWarning):
    """Few whole numbers, which may be codes of classes, are taken for numbers."""


class DominantRowsWarning(SubridgeWarning):
    """A few rows hold much of the leverage."""


class FewSamplesWarning(SubridgeWarning):
    """Too few samples to fit weights of members; the mean is taken."""
