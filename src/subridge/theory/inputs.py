"""What the theory is asked about, checked before anything is computed."""

from subridge.model.ensemble import Ensemble
from subridge.model.errors import ParameterError
from subridge.model.problem import EquicorrelatedProblem, Problem


def check_description(problem: Problem | EquicorrelatedProblem, ensemble: Ensemble) -> None:
    """Refuse anything else in place of a problem or an ensemble.

    Examples
    --------
    >>> check_description(EquicorrelatedProblem(), Ensemble([0.5]))
    """
    if not isinstance(problem, Problem | EquicorrelatedProblem):
        raise ParameterError(f"problem must be a Problem or an EquicorrelatedProblem, got {type(problem).__name__}")
    if not isinstance(ensemble, Ensemble):
        raise ParameterError(
            f"ensemble must be an Ensemble, got {type(ensemble).__name__}; write sr.Ensemble([0.5], ridge=0.1)"
        )
