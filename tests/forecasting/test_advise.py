import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import subridge as sr
from subridge.model.errors import ClassCodesWarning, CorrelatedRowsWarning, ParameterError
from subridge.results.numbers import interval, plain


def blocks(rng, n=300, M=400):
    """The signal sits in the first of four blocks (the example of the project's documentation)."""
    X = rng.standard_normal((n, M))
    return X, X[:, : M // 4] @ rng.standard_normal(M // 4) / np.sqrt(M // 4) + 0.3 * rng.standard_normal(n)


def errors_of_block_weights(X, y, weights, ridge):
    """True errors of weighted blocks of `blocks` at a ridge: of the given weights, and of the best.

    Features are uncorrelated with variance one, so that a sum of members errs by the squared distance of its weights
    on features from the true ones, and label noise .09.
    """
    signal = np.random.default_rng(0)
    signal.standard_normal(X.shape)
    true = np.append(signal.standard_normal(100) / 10, np.zeros(300))
    fitted = np.zeros((4, 400))
    for r in range(4):
        F = X[:, 100 * r : 100 * r + 100] - X[:, 100 * r : 100 * r + 100].mean(axis=0)
        fitted[r, 100 * r : 100 * r + 100] = np.linalg.solve(F.T @ F + ridge * 100 * np.eye(100), F.T @ (y - y.mean()))
    best = np.linalg.lstsq(fitted.T, true)[0]
    given, least = (float(((true - each @ fitted) ** 2).sum() + 0.09) for each in (weights, best))
    return given, least


def test_weights_on_one_tuned_member_beat_one_tuned_ridge_where_the_signal_is_in_one_block():
    X, y = blocks(np.random.default_rng(0))
    plan = sr.SubsetPlan.from_indices(np.arange(400).reshape(4, 100), 400)
    advice = sr.advise(X, y, n_members=[4], ensembles={"blocks": sr.Ensemble(plan)})
    assert advice.best == "blocks, free"
    row = advice.table.sel(candidate="blocks, free")
    true_error, least = errors_of_block_weights(X, y, advice.weights[advice.best], float(row.ridge))
    assert true_error < 1.01 * least
    assert float(row.gain) > 0.4
    assert advice.reasons[0].startswith("Ensemble:")
    assert advice.estimator().fit(X, y).choice_.trials[0].error == pytest.approx(float(row.prediction_error))
    assert float(row.prediction_error) == pytest.approx(true_error, rel=0.03)


@pytest.mark.slow
def test_for_isotropic_data_it_says_tune_the_ridge():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 200))
    y = X @ rng.standard_normal(200) / 14 + 0.5 * rng.standard_normal(300)
    advice = sr.advise(X, y, 1500, n_members=[2, 4, 8], overlapping_fractions=[])
    assert advice.best == "one ridge"
    assert advice.reasons[0].startswith("Do not ensemble")
    assert (advice.table.gain.values[advice.table.strategy.values != "single"] < 0).all()


def test_readout_noise_makes_members_pay():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 100))
    y = X @ rng.standard_normal(100) / 10 + 0.3 * rng.standard_normal(200)
    advice = sr.advise(X, y, n_members=[2, 8], readout_noise=2.0)
    assert int(advice.table.n_members[0]) == 8
    assert "readout noise" in advice.reasons[1]


def test_candidates_come_ordered_with_the_single_ridge_among_them():
    X, y = blocks(np.random.default_rng(0), n=80, M=40)
    table = sr.advise(X, y, 200, n_members=[2, 4, 100]).table
    assert str(table.candidate.values[0]) == table.attrs["reference"] == "one ridge"
    assert not table.surely_better.values[0]
    assert (np.diff(table.prediction_error_upper.values[1:]) >= 0).all()
    assert set(table.n_members.values) <= {1, 2, 4}
    assert {"mean", "scaled", "free"} == set(table.aggregation.values)
    plain = table.where(table.aggregation == "mean", drop=True)
    np.testing.assert_allclose(plain.effective_members.values, plain.n_members.values)


def test_classes_get_a_classifier():
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=120)
    X = rng.standard_normal((120, 20)) + codes[:, None]
    labels = np.array(["no", "yes"])[codes]
    advice = sr.advise(X, labels, n_members=[2])
    assert np.isfinite(advice.table.misclassification.values).any()
    for name, weights in advice.weights.items():
        fitted = advice.estimator(name).fit(X, labels)
        assert fitted.score(X, labels) > 0.9
        np.testing.assert_allclose(fitted.weights_, weights, rtol=1e-6)
    with pytest.raises(ParameterError, match="name must be one of"):
        advice.estimator("nothing")


def test_it_reads_as_two_sentences():
    X, y = blocks(np.random.default_rng(0), n=80, M=40)
    advice = sr.advise(X, y, n_members=[2])
    what, why = advice.reasons
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in advice.reasons)
    best = advice.table.isel(candidate=0)
    assert interval(*(float(best[f"prediction_error{end}"]) for end in ("", "_lower", "_upper"))) in what
    assert f"ζ² = {plain(advice.table.attrs['label_noise'] ** 2)}" in why
    assert str(advice) == f"{what} {why}"


def test_given_ensembles_keep_their_noise_and_their_names():
    X, y = blocks(np.random.default_rng(0), n=80, M=40)
    plan = sr.subsets.equal(2, 40, 0)
    advice = sr.advise(X, y, n_members=[2], ensembles={"loud": sr.Ensemble(plan, readout_noise=5.0)})
    assert float(advice.table.prediction_error.sel(candidate="loud")) > 5.0**2 / 2
    with pytest.raises(ParameterError, match="one ridge"):
        sr.advise(X, y, n_members=[2], ensembles={"one ridge": sr.Ensemble(plan)})


@pytest.mark.parametrize("planned", [80, 200])
def test_the_present_error_is_what_an_estimator_at_that_ridge_reports(planned):
    X, y = blocks(np.random.default_rng(0), n=80, M=40)
    advice = sr.advise(X, y, planned, n_members=[4], fraction_spreads=[0.0], overlapping_fractions=[])
    for name, ensemble in advice.ensembles.items():
        present = float(advice.table.pilot_prediction_error.sel(candidate=name))
        fitted = advice.estimator(name).set_params(ridge=float(ensemble.ridge[0])).fit(X, y)
        assert fitted.choice_.trials[0].error == pytest.approx(present, rel=1e-6), name
        if ensemble.aggregation.is_mean:  # weights are judged again with pairs of rows left out
            assert fitted.loo_error_ == pytest.approx(present, rel=1e-6), name


def advised(planned=None, **options):
    X, y = blocks(np.random.default_rng(0), n=80, M=40)
    return sr.advise(X, y, planned, n_members=[4], fraction_spreads=[0.0], overlapping_fractions=[], **options)


def tables():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 30))
    yield pytest.param(X, X @ rng.standard_normal(30) / 5 + rng.standard_normal(60), "one ridge", id="isotropic")
    X = rng.standard_normal((80, 200)) * np.arange(1, 201) ** -0.7
    yield pytest.param(X, X @ rng.standard_normal((200, 2)), "one ridge", id="two targets")
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 30))
    yield pytest.param(X, np.sign(X[:, 0]) + 0.2 * rng.standard_normal(60), "8 equal, free", id="one column")
    rng = np.random.default_rng(1)
    codes = rng.integers(3, size=45)
    X = rng.standard_normal((3, 20))[codes] + 2 * rng.standard_normal((45, 20))
    yield pytest.param(X, np.array(["ant", "bee", "cat"])[codes], "4 heterogeneous (0.75), scaled", id="classes")


@pytest.mark.parametrize(("X", "y", "name"), list(tables()))
def test_at_the_pilots_size_the_advice_is_what_a_fit_takes(X, y, name):
    estimator = sr.RidgeEnsembleClassifier if y.dtype.kind == "U" else sr.RidgeEnsembleRegressor
    fitted = estimator(random_state=0).fit(X, y)
    seed, _ = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=2)  # draws the subsets of a fit
    advice = sr.advise(X, y, seed=int(seed))
    assert advice.best == fitted.choice_.name == name
    assert sorted(advice.ensembles) == sorted(trial.name for trial in fitted.choice_.trials)
    same = advice.estimator().fit(X, y)
    np.testing.assert_allclose(same.coef_, fitted.coef_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("planned", [None, 80, 40])
def test_without_more_rows_to_come_the_estimator_has_the_ridge_of_the_table(planned):
    advice = advised(planned)
    for name, ensemble in advice.ensembles.items():
        assert advice.estimator(name).ridge == ensemble.ridge[0]
    assert f"ridge={float(advice.table.ridge[0]):.4g}" in advice.code


@pytest.mark.slow
def test_with_more_rows_to_come_the_estimator_chooses_its_ridge_by_them():
    advice, (X, y) = advised(800), blocks(np.random.default_rng(1), n=800, M=40)
    best = min(
        sr.RidgeEnsembleRegressor(1, subsets="equal", ridge=ridge).fit(X, y).loo_error_
        for ridge in np.geomspace(1e-3, 1e2, 31)
    )
    assert advice.estimator("one ridge").ridge == "auto"
    assert advice.estimator("one ridge").fit(X, y).loo_error_ < 1.002 * best
    assert "ridge=" not in advice.code.partition("#")[0]
    assert "chooses λ on its training rows; on this pilot it is" in advice.code


def test_the_estimator_chooses_from_the_ridges_that_were_given():
    advice = advised(200, ridges=[0.05, 0.01, 0.001, 0.1])
    assert advice.estimator().ridges == [0.001, 0.01, 0.05, 0.1]
    assert "ridges=[0.001, 0.01, 0.05, 0.1]" in advice.code
    assert advised(200, ridges=[0.05]).estimator().ridge == 0.05


def test_a_ridge_for_readout_noise_is_kept():
    advice = advised(200, readout_noise=1.0)
    assert advice.estimator("4 equal").ridge == advice.ensembles["4 equal"].ridge[0]
    loud = sr.Ensemble(sr.subsets.equal(2, 40, 0), readout_noise=5.0)
    advice = advised(200, ensembles={"loud": loud})
    assert advice.estimator("loud").ridge == advice.ensembles["loud"].ridge[0]
    assert advice.estimator("4 equal").ridge == "auto"


@pytest.mark.parametrize("planned", [None, 200])
@pytest.mark.parametrize(
    "options", [{}, {"ridges": [0.001, 0.01, 0.05, 0.1]}, {"readout_noise": 0.5}, {"standardise": True}]
)
def test_the_line_to_paste_is_the_estimator(planned, options):
    advice = advised(planned, **options)
    names = {"RidgeEnsembleRegressor": sr.RidgeEnsembleRegressor, "make_pipeline": make_pipeline}
    pasted = eval(advice.code, names | {"StandardScaler": StandardScaler})
    given = advice.estimator()
    pasted, given = (each[-1] if "standardise" in options else each for each in (pasted, given))
    assert pasted.ridge == (given.ridge if given.ridge == "auto" else pytest.approx(given.ridge, rel=1e-3))
    assert pasted.ridges == given.ridges
    assert pasted.aggregation == given.aggregation


def test_equal_weights_alone_on_request():
    X, y = blocks(np.random.default_rng(0), n=80, M=40)
    assert set(sr.advise(X, y, n_members=[2, 4], weighted=False).table.aggregation.values) == {"mean"}


def test_the_ridge_of_one_ridge_is_that_of_least_left_out_error():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((120, 60))
    y = X @ rng.standard_normal(60) / 8 + rng.standard_normal(120)
    advice = sr.advise(X, y, 1000, n_members=[2])
    ridge = float(advice.table.ridge.sel(candidate="one ridge"))
    fits = {
        scale: sr.RidgeEnsembleRegressor(1, subsets="equal", ridge=ridge * scale).fit(X, y).loo_error_
        for scale in (0.1, 0.5, 1.0, 2.0, 10.0)
    }
    assert min(fits, key=fits.__getitem__) in (0.5, 1.0)  # the clipped errors may ask for a step more


def test_columns_that_are_constant_in_the_pilot_do_not_end_the_advice():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 80))
    X[:, 30:] = 0.0
    y = X[:, 0] + 0.3 * rng.standard_normal(60)
    advice = sr.advise(X, y, 120, n_members=[2, 8, 32])
    assert advice.table.n_members.values.max() == 8
    plan = advice.ensembles["8 heterogeneous (0.75)"].plan
    seen = [np.asarray(plan.measurements[r]) for r in range(8)]
    assert sorted(np.concatenate(seen)) == list(range(80))
    assert all((subset < 30).any() for subset in seen)


@pytest.mark.slow
def test_columns_are_standardised_on_request_and_the_estimator_does_so_too():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 30))
    y = X @ rng.standard_normal(30) + rng.standard_normal(80)
    scales = np.geomspace(0.1, 10, 30)
    plain, scaled = (sr.advise(each, y, n_members=[2], standardise=True) for each in (X, X * scales))
    np.testing.assert_allclose(scaled.table.prediction_error.values, plain.table.prediction_error.values, rtol=1e-8)
    first, second = plain.estimator().fit(X, y), scaled.estimator().fit(X * scales, y)
    np.testing.assert_allclose(second.predict(X * scales), first.predict(X), rtol=1e-8)
    assert scaled.code.startswith("make_pipeline(StandardScaler(with_mean=False), RidgeEnsembleRegressor(")
    assert sr.advise(X, y, n_members=[2]).code.startswith("RidgeEnsembleRegressor(")


def test_where_a_lead_is_noise_it_says_that_it_is_not_sure():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((40, 60))
    y = X @ rng.standard_normal(60) / 8 + rng.standard_normal(40)
    advice = sr.advise(X, y, n_members=[2, 4, 8])
    assert advice.best == "one ridge"
    assert "which is not sure" in advice.reasons[0]


def test_few_whole_numbers_taken_for_numbers_are_warned_of_by_name():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 10))
    codes = rng.integers(3, size=80)
    with pytest.warns(ClassCodesWarning, match="task='classification'"):
        sr.advise(X, codes, n_members=[2], weighted=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sr.advise(X, codes, n_members=[2], weighted=False, task="regression")


def test_rows_in_an_order_that_matters_are_warned_of():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 10))
    y = X[:, 0] + np.cumsum(rng.standard_normal(200))
    with pytest.warns(CorrelatedRowsWarning):
        sr.advise(X, y, n_members=[2])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::subridge.model.errors.SubridgeWarning")
@pytest.mark.parametrize("seed", [1, 4, 26])
def test_where_one_label_carries_their_variance_no_gain_is_sure(seed):
    """Sizes of firms or nations: features and labels are powers of one number. Left-out errors of 80 rows said that
    ensembles err 8, 79 and 80 % less than one ridge; trained on 160 rows they erred 30, 63 and 46 % more.
    """
    rng = np.random.default_rng(seed)
    powers = rng.random(40)
    sizes = np.exp(2 * rng.standard_normal(80))
    X = np.exp(0.4 * rng.standard_normal((80, 40))) * sizes[:, None] ** powers / np.exp(4 * powers**2 + 0.1)
    y = sizes * np.exp(0.3 * rng.standard_normal(80))
    advice = sr.advise(X, y, 160, n_members=[4, 8], fraction_spreads=[0.0])
    assert advice.best == "one ridge"
    assert not advice.table.surely_better.values.any()
    assert "less, which is not sure" in advice.reasons[0]


def test_what_is_known_only_by_a_bound_is_not_ranked_before_a_forecast():
    """More features than rows and little noise: at 100 n the best ridge of one ridge is far below any it can judge."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 150)) / np.arange(1, 151)
    y = X @ rng.standard_normal(150) + 0.01 * rng.standard_normal(60)
    eight = {"eight": sr.Ensemble(sr.subsets.Equal(8))}
    advice = sr.advise(X, y, 6000, n_members=[2], overlapping_fractions=[], ensembles=eight)
    table = advice.table
    assert bool(table.is_bound.sel(candidate="one ridge"))
    assert advice.best == "one ridge"  # nothing is surely better than what is only bounded
    assert "at most" in advice.reasons[0]
    bounds = table.is_bound.values[1:]
    assert not bounds.all()
    assert (np.diff(bounds.astype(int)) >= 0).all()


def test_advice_and_choices_show_one_line_and_a_table():
    X, y = blocks(np.random.default_rng(0), 60, 20)
    advice = sr.advise(X, y, n_members=[2])
    choice = sr.RidgeEnsembleRegressor(random_state=0).fit(X, y).choice_
    assert repr(advice) == f"Advice(best={advice.best!r}, n_samples=60, n_candidates={len(advice.ensembles)})"
    assert repr(choice) == f"Choice(name={choice.name!r}, n_candidates={len(choice.trials)})"
    for page, names in (
        (advice._repr_html_(), advice.ensembles),
        (choice._repr_html_(), [t.name for t in choice.trials]),
    ):
        assert page.count("<tr>") == 1 + min(len(list(names)), 12 if page == advice._repr_html_() else 99)
        assert all(name in page for name in list(names)[:12])


@pytest.mark.parametrize("seed", [0, 1])
def test_a_gain_that_is_sure_now_and_not_at_the_planned_size_is_not_advised(seed):
    """Members on blocks pay with few rows; with four times as many the forecast gain is within its doubt."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((120, 80))
    y = X[:, :20] @ rng.standard_normal(20) + 3 * rng.standard_normal(120)
    blocks = {"blocks": sr.Ensemble(sr.SubsetPlan.from_indices(np.arange(80).reshape(4, 20), 80))}
    now, later = (sr.advise(X, y, size, n_members=[2], ensembles=blocks) for size in (120, 480))
    assert now.best == "blocks, free"
    planned = later.table.sel(candidate="blocks, free")
    assert 0 < float(planned.gain) < 2 * float(planned.gain_standard_error)
    assert later.best == "one ridge"
