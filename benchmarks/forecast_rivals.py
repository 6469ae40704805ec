"""What people use now in place of a forecast, for benchmarks/forecast_real.py."""

import numpy as np
from real_tables import Losses, fits, judged, split
from scipy.optimize import curve_fit
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, learning_curve

try:
    from sklearn_ensemble_cv import Ensemble as CvEnsemble
except ImportError:  # pip install sklearn-ensemble-cv
    CvEnsemble = None

SHARE = 0.8  # of the pilot's rows in every subsample of sklearn-ensemble-cv


class SubsetRidges(RegressorMixin, BaseEstimator):
    """Mean of scikit-learn's ridge regressions on given subsets of features."""

    def __init__(self, subsets, ridge):
        self.subsets = subsets
        self.ridge = ridge

    def fit(self, X, y):
        self.members_ = [Ridge(alpha=self.ridge * len(s)).fit(X[:, s], y) for s in self.subsets]
        return self

    def predict(self, X):
        return sum(m.predict(X[:, s]) for m, s in zip(self.members_, self.subsets, strict=True)) / len(self.subsets)


def power_law(X, Y, subsets, ridge, sizes):
    """a + b n^-c through a cross-validated learning curve of the pilot, at other sizes."""
    model = Ridge(alpha=ridge * X.shape[1]) if len(subsets) == 1 else SubsetRidges(subsets, ridge)
    counts, _, scores = learning_curve(
        model,
        X,
        Y,
        train_sizes=np.geomspace(0.15, 1.0, 8),
        cv=KFold(5, shuffle=True, random_state=0),
        scoring="neg_mean_squared_error",
    )
    errors = -scores.mean(axis=1) * Y.shape[1]

    def law(n, a, b, c):
        return a + b * (n / counts[0]) ** -c

    best, least = None, np.inf
    for floor in (0.0, 0.5, 0.9):
        for c in (0.3, 1.0):
            start = (floor * errors.min(), max(errors[0] - floor * errors.min(), 1e-6), c)
            try:
                found, _ = curve_fit(law, counts, errors, start, bounds=(0, [np.inf, np.inf, 5]), max_nfev=2000)
            except RuntimeError:
                continue
            left = ((law(counts, *found) - errors) ** 2).sum()
            if left < least:
                best, least = found, left
    return np.full(len(sizes), np.nan) if best is None else law(np.asarray(sizes, float), *best)


def extrapolated_cv(X, Y, ridge, k, share_of_features):
    """ECV of k ridges on random rows and features: estimated error of one and of k, summed over targets."""
    N = max(1, round(share_of_features * X.shape[1]))
    model = CvEnsemble(
        estimator=Ridge(alpha=ridge * N),
        n_estimators=k,
        max_samples=SHARE,
        max_features=N,
        bootstrap=False,
        random_state=0,
    ).fit(X, Y if Y.shape[1] > 1 else Y[:, 0])
    estimate = model.compute_ecv_estimate(X, Y if Y.shape[1] > 1 else Y[:, 0], k, n_jobs=1) * Y.shape[1]
    return estimate[0], estimate[-1]


def measure_subagged(table, n, ridges, k, n_trials):
    """Measured error of what `extrapolated_cv` estimates; {ridge: Losses}."""
    M = table.X.shape[1]
    N, m = round(M / k), int(SHARE * n)
    losses = {ridge: Losses(len(table.X)) for ridge in ridges}
    for trial in range(n_trials):
        rng = np.random.default_rng((7, n, trial))
        train, test = split(len(table.X), n, (8, n, trial))
        scores = []
        for _ in range(k):
            rows, s = rng.choice(train, m, replace=False), rng.choice(M, N, replace=False)
            scores.append(fits(table.X[rows][:, s], table.Y[rows], table.X[test][:, s], ridges))
        for i, ridge in enumerate(ridges):
            losses[ridge].add(test, *judged(np.stack(scores)[:, i], table, test))
    return losses
