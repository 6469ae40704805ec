import numpy as np
import pytest

import subridge as sr

M = 12
RNG = np.random.default_rng(0)
COVARIANCES = {
    "dense": sr.covariance.dense(np.cov(RNG.standard_normal((M, 40)))),
    "singular": sr.covariance.dense(np.ones((M, M))),
    "diagonal": sr.covariance.diagonal(RNG.uniform(0, 2, M)),
    "isotropic": sr.covariance.isotropic(M, 0.3),
    "autoregressive": sr.covariance.autoregressive(M, -0.6, 1.4),
    "equicorrelated": sr.covariance.equicorrelated(M, 2.0, 0.3),
    "low rank": sr.covariance.low_rank(RNG.standard_normal((M, 2)), RNG.uniform(0, 1, M)),
    "power law": sr.covariance.power_law(M, 1.1, 2.0),
    "rotated power law": sr.covariance.power_law(M, 1.1, 2.0, seed=3),
    "few samples": sr.covariance.from_data(RNG.standard_normal((5, M))),
    "many samples": sr.covariance.from_data(RNG.standard_normal((50, M))),
}
each = pytest.mark.parametrize("covariance", COVARIANCES.values(), ids=COVARIANCES.keys())


@each
def test_blocks_products_and_scaling_agree_with_the_full_matrix(covariance):
    full = covariance.dense()
    rows, columns = np.array([3, 0, 7]), np.array([7, 1])
    np.testing.assert_allclose(covariance.block(rows, columns), full[np.ix_(rows, columns)], atol=1e-14)
    vectors = RNG.standard_normal((M, 3))
    np.testing.assert_allclose(covariance.apply(vectors), full @ vectors, atol=1e-12)
    np.testing.assert_allclose(covariance.apply(vectors[:, 0]), full @ vectors[:, 0], atol=1e-12)
    np.testing.assert_allclose(covariance.scaled(2.5).dense(), 2.5 * full, atol=1e-12)
    np.testing.assert_allclose(covariance.variances_of_features(), np.diagonal(full), rtol=1e-14)
    form = covariance.diagonal_plus_low_rank()
    if form is not None:
        np.testing.assert_allclose(np.diag(form[0]) + form[1] @ form[1].T, full, atol=1e-12)


@each
def test_colouring_the_identity_gives_a_root_of_the_covariance(covariance):
    """Colouring is linear, so the coloured unit vectors R satisfy Rᵀ R = Σ exactly: no sampling needed."""
    root = covariance.colour(np.eye(covariance.white_size))
    np.testing.assert_allclose(root.T @ root, covariance.dense(), atol=1e-12)


def test_power_law_has_its_spectrum_in_any_basis():
    expected = 2.0 * np.arange(1.0, M + 1) ** -1.1
    for name in ("power law", "rotated power law"):
        np.testing.assert_allclose(np.linalg.eigvalsh(COVARIANCES[name].dense())[::-1], expected)


def test_empirical_covariance_equals_numpys():
    X = np.random.default_rng(1).standard_normal((7, 4))
    np.testing.assert_allclose(sr.covariance.from_data(X).dense(), np.cov(X.T, bias=True), atol=1e-14)
    np.testing.assert_allclose(sr.covariance.from_data(X, centre=False).dense(), X.T @ X / 7, atol=1e-14)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: sr.covariance.dense([[1.0, 0.5], [0.2, 1.0]]), "must be symmetric"),
        (
            lambda: sr.covariance.dense([[1.0, 2.0], [2.0, 1.0]]),
            "positive semi-definite, but its smallest eigenvalue is -1",
        ),
        (lambda: sr.covariance.dense(np.ones((2, 3))), "must be a square matrix"),
        (
            lambda: sr.covariance.low_rank(np.ones((3, 1)), np.ones(3)).__class__(np.ones(3), np.ones((2, 1))),
            "factor must",
        ),
        (lambda: sr.covariance.from_data(np.ones(3)), "X must have shape"),
    ],
)
def test_what_is_no_covariance_is_refused(build, message):
    with pytest.raises(sr.errors.CovarianceError, match=message):
        build()


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: sr.covariance.dense([[np.nan]]), sr.errors.DataError, "covariance contains NaN"),
        (lambda: sr.covariance.diagonal([-1.0]), sr.errors.ParameterError, "variances must be at least 0"),
        (lambda: sr.covariance.autoregressive(5, 1.5), sr.errors.ParameterError, r"decay must lie in \[-1, 1\]"),
        (lambda: sr.covariance.equicorrelated(5, 1.0, -0.1), sr.errors.ParameterError, "correlation must lie"),
        (lambda: sr.covariance.isotropic(2.5), sr.errors.ParameterError, "n_features must be a positive integer"),
    ],
)
def test_parameters_out_of_range_are_named(build, error, message):
    with pytest.raises(error, match=message):
        build()
