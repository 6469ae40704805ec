"""Probabilities of classes."""

import numpy as np
import pytest

from subridge.ridge.classes import fit_temperature, softmax


def test_probabilities_sum_to_one_and_keep_the_order():
    decision = np.random.default_rng(0).standard_normal((4, 50))
    probabilities = softmax(decision, 3.0)
    np.testing.assert_allclose(probabilities.sum(axis=0), 1.0)
    np.testing.assert_array_equal(probabilities.argmax(axis=0), decision.argmax(axis=0))


def test_temperature_recovers_the_law_of_the_labels():
    rng = np.random.default_rng(0)
    decision = rng.standard_normal((3, 40_000))
    labels = np.array([rng.multinomial(1, p) for p in softmax(decision, 2.5).T]).T.astype(float)
    # The Fisher information of beta is about 0.3 per sample here: a standard error of 0.01.
    assert fit_temperature(decision, labels, np.ones(40_000)) == pytest.approx(2.5, abs=0.04)


def test_temperature_is_finite_when_nothing_is_misclassified_and_positive_when_everything_is():
    decision = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert 0.5 < fit_temperature(decision, np.eye(2), np.ones(2)) < 10
    assert 0 < fit_temperature(decision, np.eye(2)[::-1], np.ones(2)) < 0.01
