"""The tasks that the package shares with others, each done by all of them on the same rows."""

import numpy as np
from himalaya.ridge import GroupRidgeCV
from himalaya.ridge import RidgeCV as HimalayaRidgeCV
from mapie.regression import CrossConformalRegressor
from settings import fig1a
from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    cross_val_predict,
    learning_curve,
)
from sklearn_ensemble_cv import Ensemble as EnsembleCV
from timing import Case

import subridge as sr
from subridge.simulation.run import Job
from subridge.simulation.simulate import GAUSSIAN
from subridge.simulation.training import draw_batch


def rows(n, M, targets=None, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, M))
    teacher = rng.standard_normal((M, targets) if targets else M) / np.sqrt(M)
    signal = X @ teacher
    return X, signal + noise * rng.standard_normal(signal.shape)


def apart(values, one, other):
    return f"largest difference of predictions {np.abs(values[one] - values[other]).max():.0e}"


def mean_of(subsets, **options):
    """The mean of given members, whose ridge alone is chosen, as by the packages beside it."""
    return sr.RidgeEnsembleRegressor(subsets=subsets, aggregation="mean", **options)


def one_ridge(quick):
    n, M = (300, 200) if quick else (2000, 1000)
    X, y = rows(n, M)
    Z, _ = rows(200, M, seed=1)
    ridges = np.logspace(-4, 1, 17)
    return Case(
        f"one ridge of 17 by leave-one-out, n = {n}, M = {M}",
        "subridge",
        {
            "subridge": lambda: mean_of([np.arange(M)], ridges=ridges).fit(X, y).predict(Z),
            "scikit-learn RidgeCV (leave-one-out)": lambda: RidgeCV(alphas=ridges * M).fit(X, y).predict(Z),
            "himalaya RidgeCV (5 folds)": lambda: himalaya_ridge(X, y, Z, ridges * M),
        },
        lambda values: apart(values, "subridge", "scikit-learn RidgeCV (leave-one-out)"),
    )


def himalaya_ridge(X, y, Z, alphas):
    model = HimalayaRidgeCV(alphas=alphas, fit_intercept=True, cv=5).fit(X, y[:, None] if y.ndim == 1 else y)
    return model.predict(Z)


def many_targets(quick):
    n, M, targets = (300, 200, 20) if quick else (1500, 1000, 500)
    X, Y = rows(n, M, targets)
    Z, _ = rows(200, M, seed=1)
    ridges = np.logspace(-4, 1, 9)
    return Case(
        f"one ridge of 9 for {targets} targets, n = {n}, M = {M}",
        "subridge, one ridge for all",
        {
            "subridge, one ridge for all": lambda: mean_of([np.arange(M)], ridges=ridges).fit(X, Y).predict(Z),
            "scikit-learn RidgeCV, one for all": lambda: RidgeCV(alphas=ridges * M).fit(X, Y).predict(Z),
            "himalaya RidgeCV (5 folds), one per target": lambda: himalaya_ridge(X, Y, Z, ridges * M),
        },
        lambda values: apart(values, "subridge, one ridge for all", "scikit-learn RidgeCV, one for all"),
        rounds=2,
    )


def members(quick):
    n, M, k = (300, 256, 8) if quick else (2000, 2048, 8)
    X, y = rows(n, M)
    Z, _ = rows(200, M, seed=1)
    N, ridges = M // k, np.logspace(-1, 3, 8)
    options = {"n_estimators": k, "max_features": N, "bootstrap": False, "random_state": 0}
    bag = BaggingRegressor(RidgeCV(alphas=ridges * N), **options)
    masks = bag.fit(X, y).estimators_features_
    ours = mean_of(masks, ridge_scope="member", ridges=ridges)
    common = mean_of(masks, ridges=ridges)
    return Case(
        f"{k} members of {N} features, 8 ridges, n = {n}, M = {M}",
        "subridge, a ridge for each member",
        {
            "subridge, a ridge for each member": lambda: ours.fit(X, y).predict(Z),
            "subridge, one ridge by the ensemble's own error": lambda: common.fit(X, y).predict(Z),
            "scikit-learn BaggingRegressor(RidgeCV)": lambda: bag.fit(X, y).predict(Z),
            "scikit-learn, 8 × BaggingRegressor(Ridge)": lambda: [
                BaggingRegressor(Ridge(ridge * N), **options).fit(X, y) for ridge in ridges
            ],
        },
        lambda values: apart(values, "subridge, a ridge for each member", "scikit-learn BaggingRegressor(RidgeCV)"),
    )


def error_of_an_ensemble(quick):
    n, M, k = (200, 100, 8) if quick else (1000, 400, 8)
    X, y = rows(n, M)
    N = M // k
    ours = mean_of("equal", n_estimators=k, ridge=1.0, random_state=0)

    def theirs():
        model = EnsembleCV(estimator=Ridge(N), n_estimators=k, max_samples=0.8, max_features=N, bootstrap=False,
                           random_state=0).fit(X, y)  # fmt: skip
        return model.compute_ecv_estimate(X, y, k, n_jobs=1)[-1]

    return Case(
        f"the error of {k} members without held-out rows, n = {n}, M = {M}",
        "subridge, exact leave-one-out",
        {
            "subridge, exact leave-one-out": lambda: ours.fit(X, y).loo_error_,
            "sklearn-ensemble-cv (ECV, 80 % of the rows each)": theirs,
        },
        lambda values: "estimates " + ", ".join(f"{float(v):.3f}" for v in values.values()),
    )


def intervals(quick):
    n, M, new = (150, 30, 100) if quick else (1000, 200, 500)
    X, y = rows(n, M, noise=1.0)
    Z, _ = rows(new, M, seed=1)

    def theirs():
        model = CrossConformalRegressor(Ridge(0.1 * M), confidence_level=0.9, method="plus", cv=LeaveOneOut())
        model.fit_conformalize(X, y)
        return model.predict_interval(Z)[1][:, :, 0]

    ours = mean_of([np.arange(M)], ridge=0.1)
    return Case(
        f"jackknife+ intervals of {new} new rows, n = {n}, M = {M}",
        "subridge",
        {"subridge": lambda: np.stack(ours.fit(X, y).predict_interval(Z, 0.9), axis=-1), f"MAPIE, {n} refits": theirs},
        lambda values: (
            f"widths {np.diff(values['subridge']).mean():.3f} and {np.diff(values[f'MAPIE, {n} refits']).mean():.3f}"
        ),
    )


def groups(quick):
    n, M, k, count = (200, 64, 4, 10) if quick else (1000, 512, 4, 25)
    X, y = rows(n, M)
    group, ridges = np.arange(n) % count, np.logspace(-2, 1, 9)
    plan = sr.subsets.equal(k, M, 0)

    def refits():
        left_out = [
            np.mean(
                [
                    cross_val_predict(Ridge(ridge * len(s)), X[:, s], y, groups=group, cv=LeaveOneGroupOut())
                    for s in plan.measurements
                ],
                axis=0,
            )
            for ridge in ridges
        ]
        return min(((y - each) ** 2).mean() for each in left_out)

    ours = mean_of(plan.measurements, ridges=ridges)
    return Case(
        f"leave-one-group-out of {k} members, {count} groups, 9 ridges, n = {n}, M = {M}",
        "subridge, fit included",
        {
            "subridge, fit included": lambda: ours.fit(X, y, groups=group).loo_path_.min(),
            "scikit-learn refits (Ridge, LeaveOneGroupOut)": refits,
        },
        lambda values: f"errors {', '.join(f'{float(value):.6f}' for value in values.values())}",
    )


def curves(quick):
    n, M = (200, 100) if quick else (1000, 500)
    X, y = rows(n, M)
    share, ridges = np.geomspace(0.15, 1.0, 8), np.logspace(-3, 1, 9)
    folds = KFold(5, shuffle=True, random_state=0)
    sizes = [n, 2 * n, 4 * n]
    ensembles = {"one": sr.Ensemble(sr.subsets.Equal(1), 0.1)}

    def law(model):
        return learning_curve(model, X, y, train_sizes=share, cv=folds, scoring="neg_mean_squared_error")

    return Case(
        f"a learning curve beyond the pilot, one ridge, n = {n}, M = {M}",
        "subridge forecast, fixed ridge",
        {
            "subridge forecast, fixed ridge": lambda: sr.forecast(X, y, sizes, ensembles),
            "subridge forecast, ridge chosen at every size": lambda: sr.forecast(
                X, y, sizes, {"one": sr.Ensemble(sr.subsets.Equal(1))}, ridges="auto"
            ),
            "scikit-learn learning_curve, fixed ridge": lambda: law(Ridge(0.1 * M)),
            "scikit-learn learning_curve, ridge of 9 by 5 folds": lambda: law(
                GridSearchCV(Ridge(), {"alpha": ridges * M}, scoring="neg_mean_squared_error")
            ),
        },
        lambda values: "learning_curve stops at the pilot's size; a law through it is not timed",
        rounds=9,
    )


def feature_spaces(quick):
    n, M = (200, 60) if quick else (600, 400)
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((n, M)), rng.standard_normal((2000, M))
    parts = np.array_split(np.arange(M), 4)
    teacher = np.concatenate([rng.standard_normal(len(p)) * s for p, s in zip(parts, (1, 0.3, 0.1, 0), strict=True)])
    teacher /= np.linalg.norm(teacher)
    y, truth = X @ teacher + 0.7 * rng.standard_normal(n), new @ teacher
    labels = np.repeat(np.arange(4), [len(p) for p in parts])
    iterations = 20
    ours = sr.RidgeEnsembleRegressor(subsets=parts, ridge_scope="member", aggregation="free")

    def theirs():
        quiet = {"n_iter": iterations, "progress_bar": False}
        model = GroupRidgeCV(groups=list(labels), fit_intercept=True, random_state=0, solver_params=quiet)
        model.fit(X, y[:, None])
        return model.predict(new)[:, 0]

    return Case(
        f"four feature spaces, n = {n}, M = {M}",
        "subridge, free weights",
        {
            "subridge, free weights": lambda: ours.fit(X, y).predict(new),
            f"himalaya GroupRidgeCV, {iterations} random candidates": theirs,
            "one scikit-learn RidgeCV": lambda: RidgeCV(alphas=np.logspace(-1, 4, 17)).fit(X, y).predict(new),
        },
        lambda values: (
            "R² "
            + ", ".join(f"{1 - ((v - truth) ** 2).mean() / truth.var():.3f}" for v in values.values())
            + " in this order"
        ),
    )


def by_scikit_learn(experiment, trial):
    """Exact risks, at every ridge and size, of what a fit each finds on the samples of a trial."""
    batch, plan = draw_batch(experiment, [trial], experiment.n_samples[-1]), experiment.plan_of(0)
    X, y, xi = batch.features[0], batch.labels[0], batch.readout[0]
    eta = experiment.noise_table[0]
    data = [np.ascontiguousarray(plan.measure(r, X)) for r in range(plan.n_members)]
    risks = np.empty((len(experiment.ridge_table), len(experiment.n_samples)))
    for l, p in np.ndindex(*risks.shape):
        P, weights = experiment.n_samples[p], []
        for r, N in enumerate(plan.subset_sizes):
            model = Ridge(alpha=experiment.ridge_table[l, r] * N, fit_intercept=False)
            model.fit(data[r][:P], y[:P] - eta[r] * xi[r, :P])
            weights.append(model.coef_ * np.sqrt(N))
        ensemble = sr.Ensemble(plan, readout_noise=eta)
        risks[l, p] = sr.risk_of_weights(experiment.finite_problem, ensemble, weights).total
    return risks


def experiment(quick):
    setting = fig1a(4, shrink=10 if quick else 4)
    job = Job(GAUSSIAN, setting)
    return Case(
        f"a trial of Fig. 1a, M = {setting.n_features}, 3 members, 20 sizes, 3 ridges, exact risks included",
        "subridge",
        {
            "subridge": lambda: job([0])["risk"][0, :, 0],
            "a loop of scikit-learn Ridge": lambda: by_scikit_learn(setting, 0),
        },
        lambda values: (
            "largest relative difference "
            f"{np.abs(values['subridge'] / values['a loop of scikit-learn Ridge'] - 1).max():.0e}"
        ),
    )


CASES = (
    one_ridge, many_targets, members, error_of_an_ensemble, intervals, groups, curves, feature_spaces, experiment,
)  # fmt: skip
