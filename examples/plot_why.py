"""
Three reasons to care
=====================

*Left:* 150 rows of a real table forecast the error with 1,200 rows. *Middle:* with
the signal in one of four known blocks of columns, members on blocks need a quarter of the
rows that one ridge needs. *Right:* theory gives the learning curve of an ensemble
before anything is trained, peaks included. Dots are models that were trained.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge, RidgeCV

import subridge as sr

figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(12, 3.8), layout="constrained"
)

# A forecast: one pixel of handwritten digits from all others.

pixels = load_digits().data
X, y = np.delete(pixels, 20, axis=1), pixels[:, 20]
pilot = np.random.default_rng(0).permutation(len(y))[:150]
X = X[:, (X[pilot] > 0).sum(axis=0) >= 10]
sizes = np.array([100, 150, 300, 600, 1200])
ridge = {"one": sr.Ensemble(sr.subsets.Equal(1), ridge=1.0)}
curve = sr.forecast(X[pilot], y[pilot], sizes, ridge).isel(ensemble=0)
band = curve.prediction_error_lower, curve.prediction_error_upper
left.fill_between(sizes, *band, alpha=0.2, label="90 % interval")
left.plot(sizes, curve.prediction_error, label="forecast from 150 rows")
truth = np.zeros((8, len(sizes)))
for (draw, place), _ in np.ndenumerate(truth):
    rows = np.random.default_rng((draw, place)).permutation(len(y))
    known, new = rows[: sizes[place]], rows[sizes[place] :]
    model = Ridge(X.shape[1]).fit(X[known], y[known])
    truth[draw, place] = ((y[new] - model.predict(X[new])) ** 2).mean()
left.plot(sizes, truth.mean(axis=0), "ko", label="trained on so many")
left.set(title="What would more rows bring?", xscale="log", xlabel="rows")
left.set(ylabel="squared error", ylim=(0, None))
left.set_xticks(sizes, sizes)
left.minorticks_off()
left.legend()

# An ensemble on known blocks of columns.

rng = np.random.default_rng(0)
blocks = np.array_split(np.arange(200), 4)
weights = np.where(np.arange(200) < 50, rng.standard_normal(200), 0) / np.sqrt(50)
models = {
    "one ridge": RidgeCV(np.logspace(-1, 4, 20)),
    "members on blocks": sr.RidgeEnsembleRegressor(
        subsets=blocks, ridge_scope="member", aggregation="free"
    ),
}
rows = [60, 100, 150, 250, 400, 600]
errors = np.zeros((len(models), 3, len(rows)))
for draw in range(3):
    for place, n in enumerate(rows):
        X = rng.standard_normal((n, 200))
        y = X @ weights + 0.3 * rng.standard_normal(n)
        for number, model in enumerate(models.values()):
            off = model.fit(X, y).coef_ - weights
            errors[number, draw, place] = (
                0.09 + off @ off
            )  # exact: features are independent
for name, values in zip(models, errors.mean(axis=1), strict=True):
    middle.plot(rows, values, "o-", label=name)
middle.axhline(0.09, color="0.5", ls=":", label="noise of the labels")
middle.set(title="Do members on parts help?", xlabel="rows", ylim=(0, None))
middle.legend()

# Theory and trained ensembles.

M, dense, few = (
    200,
    np.arange(8, 201),
    np.array([10, 20, 30, 36, 44, 60, 90, 140, 200]),
)
problem = sr.EquicorrelatedProblem(
    correlation=0.2, feature_noise=0.1, label_noise=0.2
)
problem = problem.realise(M, seed=0)
plans = {
    "equal": sr.subsets.equal(5, M, seed=0),
    "unequal": sr.subsets.dirichlet(5, M, 0.75, seed=3),
}
for name, plan in plans.items():
    ensemble = sr.Ensemble(plan, ridge=1e-3)
    theory = sr.risk(problem, ensemble, dense / M).total
    (line,) = right.plot(dense, theory, label=f"five {name} members, theory")
    trained = sr.simulate(problem, ensemble, few, n_trials=20, progress=False).risk
    right.plot(
        few, trained.mean("trial"), "o", color=line.get_color(), label="trained"
    )
right.set(title="What does theory say?", xlabel="training samples", ylim=(0, 2.5))
right.legend()
plt.show()
