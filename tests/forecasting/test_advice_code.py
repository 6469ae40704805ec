"""The line to paste is the estimator that is advised, whatever was asked for and however the table was kept."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
import xarray
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import subridge as sr
from subridge.cli.show import WIDTH
from subridge.forecasting.advise import code_of
from subridge.results.files import write_result

NAMES = {
    "RidgeEnsembleRegressor": sr.RidgeEnsembleRegressor,
    "RidgeEnsembleClassifier": sr.RidgeEnsembleClassifier,
    "make_pipeline": make_pipeline,
    "StandardScaler": StandardScaler,
}


def data(n=40, M=10):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, M)) + 3.0
    return X, X @ rng.standard_normal(M) + rng.standard_normal(n)


def first(advice, name):
    """The advice, had that candidate been the best."""
    places = advice.table.candidate.values != name
    return replace(advice, table=advice.table.isel(candidate=np.argsort(places, kind="stable")))


@pytest.mark.parametrize(
    "fraction", [0.3, *(pytest.param(each, marks=pytest.mark.slow) for each in (0.95, 0.9999)), 1.0]
)
def test_members_see_as_many_features(fraction):
    X, y = data()
    advice = sr.advise(X, y, n_members=[2], fraction_spreads=[], overlapping_fractions=[fraction], weighted=False)
    name = f"2 overlapping ({fraction:g} each)"
    pasted = eval(first(advice, name).code, NAMES).fit(X, y)
    given = advice.estimator(name).fit(X, y)
    assert [len(subset) for subset in pasted.estimators_features_] == [
        len(subset) for subset in given.estimators_features_
    ]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_matrix])
def test_a_scaler_does_what_that_of_the_estimator_does(fit_intercept, form):
    X, y = data()
    advice = sr.advise(form(X), y, n_members=[2], standardise=True, fit_intercept=fit_intercept, weighted=False)
    advice = first(advice, "one ridge")
    pasted, given = (each.fit(form(X), y) for each in (eval(advice.code, NAMES), advice.estimator("one ridge")))
    np.testing.assert_allclose(pasted.predict(form(X)), given.predict(form(X)), rtol=1e-3)


def test_the_ridge_of_other_packages_has_an_intercept_only_where_ours_has():
    X, y = data()
    advice = first(sr.advise(X, y, n_members=[2], fit_intercept=False, weighted=False), "one ridge")
    _, _, named = advice.code.partition("the same as ")
    same = eval(named, {"Ridge": Ridge}).fit(X, y)
    np.testing.assert_allclose(same.predict(X), advice.estimator("one ridge").fit(X, y).predict(X), rtol=1e-3)


def test_tables_read_again_give_the_same_line_also_those_of_older_versions(tmp_path):
    X, y = data()
    advice = sr.advise(X, y, 400, n_members=[2], ridges=[1e-6, 1e-3, 1.0], weighted=False)
    write_result(advice.table, tmp_path / "advice.nc")
    table = xarray.load_dataset(tmp_path / "advice.nc")
    assert code_of(table) == advice.code
    del table.attrs["ridges"], table.attrs["standardised"]  # which the first tables did not have
    assert "chooses λ" in str(code_of(table))
    assert replace(advice, table=table).estimator().ridge == "auto"


def test_the_table_and_what_is_to_be_pasted_fit_on_a_page():
    from subridge.cli.tables import pasted

    X, y = data()
    labels = np.where(y > np.median(y), "high", "low")
    advice = first(sr.advise(X, labels, 400, n_members=[2]), "2 equal, free")
    assert "; chooses the weights of scores by left-out rows" in advice.code
    assert max(len(line) for line in pasted(advice.code).splitlines()) <= WIDTH
