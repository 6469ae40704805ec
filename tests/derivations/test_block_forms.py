"""Leading order in the size, at fixed fractions."""

import pytest
import sympy as sp

from subridge.derivations.block_forms import leading_order, limit, ones_form
from subridge.derivations.block_matrix import BlockMatrix, trace

N, M, nu, a, b = sp.symbols("N M nu a b", positive=True)


def test_leading_order_agrees_with_sympys_own_limit():
    matrix = a * BlockMatrix.identity([N]) + b * BlockMatrix.all_ones([N], [N])
    expression = ones_form(matrix.inverse()) * trace(matrix) / N
    leading = leading_order(expression, M, {N: nu * M})
    assert sp.simplify(sp.limit(expression.subs(N, nu * M) / leading, M, sp.oo)) == 1


def test_limit_of_something_that_vanishes_is_zero():
    assert limit(1 / N, M, {N: nu * M}) == 0
    assert limit(N - N, M, {N: nu * M}) == 0


def test_limit_of_something_that_grows_is_refused():
    with pytest.raises(ValueError, match="grows like M"):
        limit(N, M, {N: nu * M})


def test_leading_order_sees_through_cancelling_leading_terms():
    assert leading_order((N + 1) * (N - 1) - N**2, M, {N: nu * M}) == -1


def test_trace_of_a_rectangular_matrix_is_refused():
    with pytest.raises(ValueError, match="square"):
        trace(BlockMatrix.all_ones([N], [M]))


@pytest.mark.parametrize("function", [leading_order, limit])
def test_a_denominator_that_vanishes_at_these_fractions_is_named(function):
    with pytest.raises(ValueError, match=r"denominator .* vanishes"):
        function(N / (N - nu * M), M, {N: nu * M})
    assert leading_order(N / (N - nu * M + 1), M, {N: nu * M}) == nu * M
