import numpy as np
import pytest

import subridge as sr


def test_realised_teacher_has_the_aligned_and_the_orthogonal_part():
    problem = sr.EquicorrelatedProblem(alignment=0.6).realise(4000, seed=1)
    w = problem.teacher_weights
    assert w.mean() == pytest.approx(0.6)
    assert w.std() == pytest.approx(0.8, rel=0.05)


def test_realised_covariances_are_those_of_the_proposition():
    problem = sr.EquicorrelatedProblem(2.0, 0.25, 0.5, 0.0, 0.1).realise(3, seed=0)
    np.testing.assert_allclose(problem.signal_covariance.dense(), 2 * (0.75 * np.eye(3) + 0.25))
    np.testing.assert_allclose(problem.noise_covariance.dense(), 0.25 * np.eye(3))
    assert problem.label_noise == 0.1


def test_descriptions_cannot_be_changed():
    problem = sr.Problem(np.eye(2), np.ones(2))
    with pytest.raises(AttributeError):
        problem.label_noise = 1.0
    with pytest.raises(ValueError, match="read-only"):
        problem.teacher_weights[0] = 2.0


def test_caller_keeps_ownership_of_the_arrays_passed_in():
    w = np.ones(2)
    problem = sr.Problem(np.eye(2), w)
    w[0] = 5.0
    assert problem.teacher_weights[0] == 1.0


def test_fingerprints_tell_contents_apart():
    base = sr.Problem(np.eye(3), np.ones(3), label_noise=0.1)
    same = sr.Problem(np.eye(3), np.ones(3), label_noise=0.1)
    other = sr.Problem(np.eye(3), np.ones(3), label_noise=0.2)
    assert base.fingerprint() == same.fingerprint() != other.fingerprint()
    plan = sr.subsets.equal(2, 6, 0)
    assert sr.Ensemble(plan, 0.1).fingerprint() != sr.Ensemble(plan, 0.2).fingerprint()


def test_a_shift_of_labels_whose_square_is_no_float_is_refused():
    problem = sr.Problem(np.eye(4), np.full(4, 1e100))
    with pytest.raises(sr.errors.DataError, match=r"mean holds numbers of about 2e\+100"):
        sr.risk(problem, sr.Ensemble(sr.subsets.equal(2, 4, 0), 0.1), 1.0, test=sr.MeanShift(np.full(4, 1e100)))


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (
            lambda: sr.Problem(np.eye(3), np.ones(2)),
            sr.errors.ParameterError,
            r"teacher_weights must have shape \(3,\)",
        ),
        (lambda: sr.Problem(np.eye(3), [1, np.nan, 1]), sr.errors.DataError, "teacher_weights contains NaN"),
        (lambda: sr.Problem(np.eye(3), [1, np.inf, 1]), sr.errors.DataError, "teacher_weights contains infinity"),
        (lambda: sr.Problem(np.eye(3), np.ones(3), np.eye(2)), sr.errors.CovarianceError, "noise_covariance has 2"),
        (
            lambda: sr.Problem(np.eye(3), np.ones(3), None, -0.1),
            sr.errors.ParameterError,
            "label_noise must be at least 0",
        ),
        (lambda: sr.EquicorrelatedProblem(0.0), sr.errors.ParameterError, "data_scale must be at least 1e-150"),
        (lambda: sr.EquicorrelatedProblem(1.0, 1.2), sr.errors.ParameterError, r"correlation must lie in \[0, 1\]"),
        (lambda: sr.EquicorrelatedProblem(alignment=-2), sr.errors.ParameterError, r"alignment must lie in \[-1, 1\]"),
        (
            lambda: sr.EquicorrelatedProblem(feature_noise=-1),
            sr.errors.ParameterError,
            "feature_noise must be at least 0",
        ),
        (lambda: sr.EquicorrelatedProblem(1e-200), sr.errors.ParameterError, "data_scale must be at least 1e-150"),
        (lambda: sr.EquicorrelatedProblem(1e160), sr.errors.ParameterError, r"data_scale must lie in .*, got 1e\+160"),
        (
            lambda: sr.EquicorrelatedProblem(feature_noise=1e160),
            sr.errors.ParameterError,
            r"feature_noise must lie in \[0, 1e\+100\], got 1e\+160",
        ),
        (lambda: sr.EquicorrelatedProblem(label_noise=1e160), sr.errors.ParameterError, "label_noise must lie in"),
        (lambda: sr.Problem(np.eye(3), np.ones(3), label_noise=1e160), sr.errors.ParameterError, "label_noise must"),
        (lambda: sr.Problem(np.eye(3), np.full(3, 1e160)), sr.errors.ParameterError, "teacher_weights must lie in"),
        (lambda: sr.Problem(np.eye(3), np.ones(3), 1e308 * np.eye(3)), sr.errors.ParameterError, "covariance must lie"),
        (lambda: sr.EquicorrelatedProblem("big"), sr.errors.ParameterError, "data_scale must be a number"),
        (
            lambda: sr.EquicorrelatedProblem([1.0, 2.0]).realise(5),
            sr.errors.ParameterError,
            "data_scale must be one number",
        ),
        (
            lambda: sr.EquicorrelatedProblem().realise(0),
            sr.errors.ParameterError,
            "n_features must be a positive integer",
        ),
    ],
)
def test_bad_problems_are_refused_by_name(build, error, message):
    with pytest.raises(error, match=message):
        build()
