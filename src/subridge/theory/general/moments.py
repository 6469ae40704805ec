"""Prop. 1 on a grid by the quickest tables that are good enough, point by point."""

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.ensemble.moments import MemberMoments
from subridge.spec.plan import SubsetPlan
from subridge.spec.problem import Problem
from subridge.theory.general.error import general_errors
from subridge.theory.general.grid import Grid
from subridge.theory.general.tabulate import tabulate

# A point whose bound by a plain decomposition exceeds this share of its risk is worth a slower one.
_GOOD_ENOUGH = 1e-10


def general_moments(problem: Problem, plan: SubsetPlan, grid: Grid) -> tuple[MemberMoments, FloatArray]:
    """Moments of members and target on the grid's shape, and the bound of the pairs' rounding, shape (..., k, k).

    Negative ridges are checked against every direction, so they always get the tables that know all of them.
    """
    tables = tabulate(problem, plan, accurate=False)
    refined: BoolArray = np.zeros(len(grid.alpha), dtype=bool)
    if tables.may_be_refined:
        refined = np.asarray((grid.lam < 0).any(axis=1))
    G, k = grid.lam.shape
    pairs, bounds, missed = np.empty((G, k, k)), np.empty((G, k, k)), np.empty((G, k))
    pairs[~refined], bounds[~refined], missed[~refined] = general_errors(tables, grid.part(~refined))
    if tables.may_be_refined:
        with np.errstate(invalid="ignore"):
            vague = ~(bounds.sum(axis=(1, 2)) <= _GOOD_ENOUGH * np.abs(pairs.sum(axis=(1, 2))))
        refined |= vague
    if refined.any():
        tables = tabulate(problem, plan, accurate=True)
        pairs[refined], bounds[refined], missed[refined] = general_errors(tables, grid.part(refined))
    shape = grid.shape
    power = np.full(shape, tables.signal_power)
    return MemberMoments(pairs.reshape(*shape, k, k), missed.reshape(*shape, k), power), bounds.reshape(*shape, k, k)
