"""Prop. 1 on a grid by the quickest tables that are good enough, point by point."""

import numpy as np

from subridge.arrays.types import BoolArray, FloatArray
from subridge.model.moments import MemberMoments, Outputs
from subridge.model.plan import SubsetPlan
from subridge.model.problem import Problem
from subridge.theory.general.error import GridErrors, general_errors
from subridge.theory.general.grid import Grid
from subridge.theory.general.tabulate import tabulate

# A point whose bound by a plain decomposition exceeds this share of its risk is worth a slower one.
_GOOD_ENOUGH = 1e-10


def general_moments(
    problem: Problem, plan: SubsetPlan, grid: Grid, *, outputs: bool
) -> tuple[MemberMoments, FloatArray]:
    """Moments of members and target on the grid's shape, and the bound of the pairs' rounding, shape (..., k, k).

    `outputs` asks for those of the outputs by themselves. Negative ridges are checked against every direction, so they
    always get the tables that know all of them.
    """
    tables = tabulate(problem, plan, accurate=False)
    refined: BoolArray = np.zeros(len(grid.alpha), dtype=bool)
    if tables.may_be_refined:
        refined = np.asarray((grid.lam < 0).any(axis=1))
    quick = general_errors(tables, grid if not refined.any() else grid.part(~refined), outputs=outputs)
    found = quick if not refined.any() else _spread(quick, ~refined)
    if tables.may_be_refined:
        with np.errstate(invalid="ignore"):
            vague = ~(found.bounds.sum(axis=(1, 2)) <= _GOOD_ENOUGH * np.abs(found.pairs.sum(axis=(1, 2))))
        refined |= vague
    if refined.any():
        tables = tabulate(problem, plan, accurate=True)
        _put(found, general_errors(tables, grid.part(refined), outputs=outputs), refined)
    shape = grid.shape

    def shaped(field: FloatArray) -> FloatArray:
        return field.reshape((*shape, *field.shape[1:]))

    power = np.full(shape, tables.signal_power)
    known = None if found.outputs is None else Outputs(*map(shaped, found.outputs))
    moments = MemberMoments(shaped(found.pairs), tables.signal_power - shaped(found.explained), power, known)
    return moments, shaped(found.bounds)


def _spread(found: GridErrors, places: BoolArray) -> GridErrors:
    """Errors of some points, with room for the others."""

    def spread(field: FloatArray) -> FloatArray:
        whole = np.full((len(places), *field.shape[1:]), np.nan)
        whole[places] = field
        return whole

    outputs = None if found.outputs is None else Outputs(*map(spread, found.outputs))
    return GridErrors(spread(found.pairs), spread(found.bounds), spread(found.explained), outputs)


def _put(into: GridErrors, found: GridErrors, places: BoolArray) -> None:
    """Write the errors of some points among the others."""
    for whole, part in zip(into[:3], found[:3], strict=True):
        whole[places] = part
    if into.outputs is not None and found.outputs is not None:
        for whole, part in zip(into.outputs, found.outputs, strict=True):
            whole[places] = part
