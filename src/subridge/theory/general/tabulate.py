"""Build the tables of Prop. 1, by the cheapest route the structure allows."""

from functools import lru_cache

import numpy as np

from subridge.model.checks import counted
from subridge.model.errors import CovarianceError, SubsetError
from subridge.model.plan import SubsetPlan
from subridge.model.problem import Problem
from subridge.theory.general.tables import Tables
from subridge.theory.general.tabulate_dense import dense_tables
from subridge.theory.general.tabulate_diagonal import diagonal_tables
from subridge.theory.general.tabulate_spiked import spiked_tables


@lru_cache(maxsize=2)
def tabulate(problem: Problem, plan: SubsetPlan, *, accurate: bool = True) -> Tables:
    """Return the tables of a problem and a plan; the last two are kept, as callers sweep α in many calls.

    With ``accurate=False`` small eigenvalues beside large ones are found by the quickest route; the tables say whether
    the slower one would know more.
    """
    if plan.n_features != problem.n_features:
        raise SubsetError(
            f"the plan is for {counted(plan.n_features, 'feature')} but the problem has {problem.n_features}"
        )
    _check_scale(problem)
    forms = (problem.signal_covariance.diagonal_plus_low_rank(), problem.noise_covariance.diagonal_plus_low_rank())
    known_rank = None
    if forms[0] is not None and forms[1] is not None:
        variances = forms[0][0] + forms[1][0]
        factor = np.hstack([forms[0][1], forms[1][1]])
        if plan.selects_features and factor.shape[1] == 0:
            return diagonal_tables(problem, plan, forms[0][0], forms[1][0])
        # The projector of the constant part is as cheap as its rank; a rank near N_r gains nothing.
        if plan.selects_features and np.ptp(variances) == 0 and 2 * factor.shape[1] < plan.subset_sizes.min():
            return spiked_tables(problem, plan, (forms[0], forms[1]))
        known_rank = factor.shape[1] + int(np.count_nonzero(variances))
    return dense_tables(problem, plan, accurate=accurate, known_rank=known_rank)


def _check_scale(problem: Problem) -> None:
    """Tables hold squares of the covariance; beyond this they leave the range of floating point."""
    scale = float(problem.signal_covariance.variances_of_features().max())
    if scale != 0 and not 1e-90 < scale < 1e90:
        raise CovarianceError(
            f"signal_covariance has variances up to {scale:.3g}; rescale the data so that they lie in 1e-90 to 1e90"
        )
