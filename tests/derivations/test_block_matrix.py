"""Block algebra against dense matrices of random sizes, and its own identities at symbolic size."""

import time
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from subridge.derivations.block_forms import gaussian_form, gaussian_form_variance, ones_form
from subridge.derivations.block_matrix import BlockMatrix, trace

n, m, p = sp.symbols("n m p", positive=True, integer=True)
GROUPS = (n, m, p)
coefficient = st.integers(-3, 3).map(sp.Integer)
sizes = st.tuples(*[st.integers(1, 4)] * 3)


def blocks(rows, columns):
    """Draw a matrix with an identity part in every block whose group is the same on both sides."""
    count = len(rows) * len(columns)

    def build(values):
        ones = sp.Matrix(len(rows), len(columns), values[:count])
        diagonal = sp.Matrix(
            len(rows), len(columns),
            lambda i, j: values[count + i * len(columns) + j] if rows[i] == columns[j] else 0,
        )  # fmt: skip
        return BlockMatrix(rows, columns, diagonal, ones)

    return st.lists(coefficient, min_size=2 * count, max_size=2 * count).map(build)


def dense(matrix, numbers):
    values = dict(zip(GROUPS, numbers, strict=True))
    return np.array(matrix.dense(values).tolist(), dtype=float)


def at(expression, numbers):
    return float(expression.subs(dict(zip(GROUPS, numbers, strict=True))))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(blocks((n, m), (n, m, p)), blocks((n, m, p), (p, n)), sizes)
def test_product_equals_the_dense_product(left, right, numbers):
    np.testing.assert_allclose(dense(left @ right, numbers), dense(left, numbers) @ dense(right, numbers))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(blocks((n, m), (n, m)), blocks((n, m), (n, m)), sizes)
def test_sum_difference_and_transpose_equal_the_dense_ones(left, right, numbers):
    a, b = dense(left, numbers), dense(right, numbers)
    np.testing.assert_allclose(dense(left + right, numbers), a + b)
    np.testing.assert_allclose(dense(left - 2 * right, numbers), a - 2 * b)
    np.testing.assert_allclose(dense(left.T, numbers), a.T)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(blocks((n, m, p), (n, m, p)), sizes)
def test_trace_and_forms_equal_the_dense_ones(matrix, numbers):
    a = dense(matrix, numbers)
    symmetric = a + a.T
    assert at(trace(matrix), numbers) == np.trace(a)
    assert at(ones_form(matrix), numbers) == a.sum()
    assert at(gaussian_form(matrix, mean=2), numbers) == np.trace(a) + 4 * a.sum()
    assert at(gaussian_form_variance(matrix), numbers) == np.trace(symmetric @ symmetric) / 2


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(blocks((n, m), (n, m)), sizes)
def test_inverse_and_determinant_equal_the_dense_ones(matrix, numbers):
    # A multiple of the identity beyond the sum of the other coefficients keeps every pivot away from zero.
    matrix = matrix + 40 * BlockMatrix.identity((n, m))
    a = dense(matrix, numbers)
    np.testing.assert_allclose(dense(matrix.inverse(), numbers) @ a, np.eye(len(a)), atol=1e-12)
    np.testing.assert_allclose(at(matrix.determinant(), numbers), np.linalg.det(a), rtol=1e-10)


def test_inverse_of_a_block_matrix_times_itself_is_the_identity():
    a1, a2, b1, b2, c = sp.symbols("a_1 a_2 b_1 b_2 c", positive=True)
    matrix = BlockMatrix((n, m), (n, m), sp.diag(a1, a2), sp.Matrix([[b1, c], [c, b2]]))
    assert (matrix @ matrix.inverse()).equals(BlockMatrix.identity((n, m)))
    assert (matrix.inverse() @ matrix).equals(BlockMatrix.identity((n, m)))


def test_three_block_inverse_agrees_with_exact_rational_elimination():
    matrix = BlockMatrix(GROUPS, GROUPS, sp.diag(2, 3, 5), sp.Matrix([[1, 2, 0], [-1, 1, 3], [1, 0, 1]]) / 7)
    numbers = {n: 2, m: 3, p: 1}
    assert matrix.inverse().dense(numbers) == matrix.dense(numbers).inv()


def test_determinant_of_equal_groups_does_not_depend_on_how_features_are_grouped():
    a, b = sp.symbols("a b", positive=True)
    whole = a * BlockMatrix.identity([n + m]) + b * BlockMatrix.all_ones([n + m], [n + m])
    split = a * BlockMatrix.identity([n, m]) + b * BlockMatrix.all_ones([n, m], [n, m])
    assert sp.simplify(whole.determinant() / split.determinant()) == 1


def test_gaussian_form_averages_a_random_vector():
    a, b, d, e = (sp.Rational(Fraction(x)) for x in ("1.5", "0.25", "2", "0.5"))
    matrix = a * BlockMatrix.identity([n]) + b * BlockMatrix.all_ones([n], [n])
    covariance = d * BlockMatrix.identity([n]) + e * BlockMatrix.all_ones([n], [n])
    X, C = (np.array(x.dense({n: 3}).tolist(), dtype=float) for x in (matrix, covariance))
    draws = np.random.default_rng(0).multivariate_normal(np.zeros(3), C, size=200_000)
    forms = np.einsum("ti,ij,tj->t", draws, X, draws)
    mean = float(gaussian_form(matrix, covariance).subs(n, 3))
    variance = float(gaussian_form_variance(matrix, covariance).subs(n, 3))
    # Four standard errors of the mean; the sample variance of a chi-square-like form needs about 2 %.
    assert abs(forms.mean() - mean) < 4 * np.sqrt(variance / len(forms))
    assert abs(forms.var() / variance - 1) < 0.03


def test_selection_keeps_the_chosen_groups():
    kept = BlockMatrix.selection(GROUPS, [2, 0])
    expected = np.zeros((3, 5))
    expected[0, 4] = expected[1, 0] = expected[2, 1] = 1
    np.testing.assert_array_equal(dense(kept, (2, 2, 1)), expected)


def test_identity_part_on_a_rectangular_block_is_refused():
    with pytest.raises(ValueError, match="square block"):
        BlockMatrix((n,), (m,), sp.Matrix([[1]]), sp.Matrix([[0]]))


def test_matrices_of_different_groups_do_not_add_or_multiply():
    with pytest.raises(ValueError, match="different sizes"):
        BlockMatrix.identity([n]) + BlockMatrix.identity([m])
    with pytest.raises(ValueError, match="do not meet"):
        BlockMatrix.identity([n]) @ BlockMatrix.identity([m])


def test_a_block_of_rank_one_has_no_inverse():
    with pytest.raises(ZeroDivisionError, match="rank one"):
        BlockMatrix.all_ones([n], [n]).inverse()


def test_latex_carries_the_sizes_of_rectangular_blocks():
    text = BlockMatrix.all_ones([n], [m])._repr_latex_()
    assert r"\mathbf{1}_{n} \mathbf{1}_{m}^\top" in text


def test_equality_knows_roots_trigonometry_and_blocks_of_one_entry():
    n, a, b, x = sp.symbols("n a b x", positive=True)
    pairs = [((1 / sp.sqrt(a * b)) ** 2, 1 / (a * b)), (sp.sin(x) ** 2 + sp.cos(x) ** 2, sp.Integer(1))]
    for left, right in pairs:
        assert BlockMatrix.by_group([n], [left]).equals(BlockMatrix.by_group([n], [right]))
    assert BlockMatrix.identity([1]).equals(BlockMatrix.all_ones([1], [1]))
    assert not BlockMatrix.identity([n]).equals(BlockMatrix.all_ones([n], [n]))
    assert not BlockMatrix.by_group([n], [sp.sqrt(x)]).equals(BlockMatrix.by_group([n], [x]))


def test_inverse_of_three_generic_groups_takes_a_moment():
    sizes, own = sp.symbols("n1:4", positive=True), sp.symbols("d1:4", positive=True)
    across = sp.Matrix(3, 3, sp.symbols("b1:10"))
    matrix = BlockMatrix(sizes, sizes, sp.diag(*own), across)
    began = time.process_time()
    inverse = matrix.inverse()
    assert time.process_time() - began < 10  # .2 s; dividing at every step takes minutes
    numbers = {symbol: sp.Integer(i + 2) for i, symbol in enumerate([*sizes, *own, *across])}
    assert (matrix.subs(numbers) @ inverse.subs(numbers)).equals(BlockMatrix.identity([2, 3, 4]))


def test_groups_that_mix_their_identities_are_inverted():
    matrix = BlockMatrix((n, n), (n, n), sp.Matrix([[0, 1], [2, 0]]), sp.Matrix([[1, 0], [0, 3]]))
    assert matrix.inverse().dense({n: 3}) == matrix.dense({n: 3}).inv()
    assert sp.simplify(matrix.determinant().subs(n, 3) - matrix.dense({n: 3}).det()) == 0


def test_blocks_of_one_entry_are_inverted_however_they_are_written():
    assert BlockMatrix.all_ones([1], [1]).inverse().equals(BlockMatrix.identity([1]))
    matrix = BlockMatrix((n, 1), (n, 1), sp.diag(2, 0), sp.Matrix([[1, 1], [1, 4]]))
    assert matrix.inverse().dense({n: 3}) == matrix.dense({n: 3}).inv()
    assert matrix.determinant().subs(n, 3) == matrix.dense({n: 3}).det()


def test_zero_is_known_however_it_was_built():
    x, y = sp.symbols("x y", positive=True)
    identity = BlockMatrix.identity([n])
    zeros = [
        sp.sqrt(x) * identity * sp.sqrt(x) - x * identity,
        (sp.sin(x) ** 2 + sp.cos(x) ** 2) * identity - identity,
        sp.sqrt(x + y) * identity * sp.sqrt(x + y) - (x + y) * identity,
        sp.sqrt(2) * x * identity * sp.sqrt(2) - 2 * x * identity,
    ]
    for zero in zeros:
        with pytest.raises(ZeroDivisionError, match="rank one"):
            zero.inverse()
    with pytest.raises(ZeroDivisionError, match="singular"):
        (sp.sqrt(n) * identity * sp.sqrt(n) - BlockMatrix.all_ones([n], [n])).inverse()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sqrt(x)", "sqrt(2)", "sqrt(x + y)", "sin(x)", "exp(y)"])
def test_roots_and_functions_in_several_blocks(name):
    x, y = sp.symbols("x y", positive=True)
    own = sp.sympify(name, {"x": x, "y": y})
    matrix = BlockMatrix((n, m), (n, m), sp.diag(own, x), sp.Matrix([[sp.sqrt(x), sp.sqrt(x)], [1, x]]))
    sizes, values = {n: 2, m: 1}, {x: 2.0, y: 1 / 3}
    dense, inverse = (
        np.array(part.dense(sizes).subs(values).evalf().tolist(), dtype=float) for part in (matrix, matrix.inverse())
    )
    np.testing.assert_allclose(dense @ inverse, np.eye(3), atol=1e-12)
    assert float(matrix.determinant().subs({**sizes, **values})) == pytest.approx(np.linalg.det(dense))
    assert float(trace(matrix).subs({**sizes, **values})) == pytest.approx(np.trace(dense))
