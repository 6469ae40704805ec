"""Methods that an estimator offers only where its parameters allow."""

from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from sklearn.utils.metaestimators import available_if

if TYPE_CHECKING:
    from subridge.estimators.regressor import RidgeEnsembleRegressor

Given = ParamSpec("Given")
Result = TypeVar("Result")


def for_means(method: Callable[Given, Result]) -> Callable[Given, Result]:
    """Offer a method only where the members are averaged."""

    def streams(estimator: "RidgeEnsembleRegressor") -> bool:
        if estimator._aggregation().name != "mean":
            raise AttributeError(
                "partial_fit serves aggregation='mean' only; "
                f"aggregation={estimator.aggregation!r} needs the rows: use fit"
            )
        return True

    offered: Callable[Given, Result] = available_if(streams)(method)
    return offered
