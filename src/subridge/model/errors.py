"""One exception type per kind of mistake, and how messages count and list things.

Every message names the argument, the value and the remedy. NumPy is not imported, so that the command line answers at
once.
"""

from collections.abc import Iterable

__all__ = [
    "AccuracyWarning",
    "BudgetError",
    "ClassCodesWarning",
    "ClusterError",
    "ConvergenceError",
    "CopiedRowsWarning",
    "CorrelatedRowsWarning",
    "CovarianceError",
    "DamagedStoreWarning",
    "DataError",
    "DeviceError",
    "DominantRowsWarning",
    "DuplicateRowsWarning",
    "FewSamplesWarning",
    "WorseThanOneRidgeWarning",
    "HeavyTailWarning",
    "InfiniteRiskWarning",
    "InterruptedRun",
    "LargeGroupWarning",
    "ParameterError",
    "RareColumnsWarning",
    "RidgeError",
    "RidgePathWarning",
    "ScaleWarning",
    "StoreError",
    "SubridgeError",
    "SubridgeWarning",
    "SubsetError",
    "UncertainMomentsWarning",
    "WaitingWarning",
]


class SubridgeError(Exception):
    """Base of every error this package raises on purpose.

    Each is also one of Python's errors, such as ``ValueError``, so that code without this package can catch it.

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
    """Subsets are empty, out of range or repeated, or there are fewer features than members."""


class RidgeError(SubridgeError, ValueError):
    """A negative ridge for which the regression problem has no solution."""


class ConvergenceError(SubridgeError, RuntimeError):
    """A root or a minimum was not found to the required accuracy."""


class DeviceError(SubridgeError, RuntimeError):
    """The requested device, or the library it needs, is not on this machine."""


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
    Turn warnings into errors, so that none is overlooked:

    >>> import warnings, subridge as sr
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", sr.errors.SubridgeWarning)
    ...     sr.risk(sr.EquicorrelatedProblem(), sr.Ensemble([0.5]), 0.5)
    Traceback (most recent call last):
    subridge.model.errors.InfiniteRiskWarning: ...
    """


class DamagedStoreWarning(SubridgeWarning):
    """A part of a store is damaged or missing, and is computed again."""


class WaitingWarning(SubridgeWarning):
    """A run waits for something, which the message names."""


class InterruptedRun(KeyboardInterrupt):
    """A run was interrupted; the message says what is kept and how to continue.

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
    """Columns of the data have such different scales that no single ridge suits all."""


class RidgePathWarning(SubridgeWarning):
    """The best ridge of a path is its first or last; one beyond may be better."""


class DuplicateRowsWarning(SubridgeWarning):
    """Many rows are copies of others, so that left-out errors are too small."""


class CorrelatedRowsWarning(SubridgeWarning):
    """Errors of neighbouring rows are correlated: rows are in time order, or belong to groups."""


class LargeGroupWarning(SubridgeWarning):
    """One group holds more than half of all rows."""


class HeavyTailWarning(SubridgeWarning):
    """A single row carries much of the variance of the features or of the target."""


class CopiedRowsWarning(SubridgeWarning):
    """Rows of the data are copies of others, so that a left-out label is still in the training set."""


class RareColumnsWarning(SubridgeWarning):
    """Columns vary in fewer than five rows, too few to estimate their effect."""


class ClassCodesWarning(SubridgeWarning):
    """Labels are few whole numbers, which may be codes of classes, and are used as numbers."""


class DominantRowsWarning(SubridgeWarning):
    """A few rows have much of the leverage."""


class WorseThanOneRidgeWarning(SubridgeWarning):
    """The requested ensemble has a larger error on left-out rows than one ridge on all features."""


class UncertainMomentsWarning(SubridgeWarning):
    """The moments of a sample are too uncertain to trust every prediction from them."""


class FewSamplesWarning(SubridgeWarning):
    """There are too few samples to fit weights of members, and the mean is used."""


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """A number and its noun; the plural ends in s unless it is given.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {plural or noun + 's'}"


def agreeing(count: int, singular: str, plural: str) -> str:
    """The singular or plural form of a verb or another word.

    >>> agreeing(1, "holds", "hold"), agreeing(0, "holds", "hold")
    ('holds', 'hold')
    """
    return singular if count == 1 else plural


def listed(names: Iterable[str | int]) -> str:
    """The first few names, and how many more there are.

    >>> listed("abcdefg")
    'a, b, c, d, e and 2 more'
    """
    words = [str(name) for name in names]
    return ", ".join(words[:5]) + (f" and {len(words) - 5} more" if len(words) > 5 else "")


def require(holds: object, message: str, kind: type[SubridgeError] = DataError) -> None:
    """Refuse what a user gives unless a condition holds; the message says what is wrong and what can be done."""
    if not holds:
        raise kind(message)
