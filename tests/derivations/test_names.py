"""Subjects of the derivations are found under their own names, also those that share a module."""

import pytest

import subridge as sr


@pytest.mark.parametrize(
    ("subject", "name"),
    [
        ("block_printing", "block_latex"),
        ("effective_ridge", "ridge_slope"),
        ("large_ensembles", "optimal_boundary"),
        ("limits", "ridgeless_gamma"),
        ("optimal_ridge", "optimal_ridge"),
        ("saddle_point", "sigma_closed_form"),
        ("spectral_sums", "canonical"),
    ],
)
def test_a_subject_is_found_under_its_name(subject, name):
    assert subject in dir(sr.derivations)
    assert callable(getattr(getattr(sr.derivations, subject), name))
