"""
From your own data to theory
============================

`Problem.from_data` estimates covariance, teacher and label noise behind a sample, so that
theory predicts the learning curve of any ensemble on it. Here: deep features of images of
clothes, ten one-hot classes whose errors add up. Moments come from 4,000 rows; points are
ensembles trained on fewer and judged on other rows.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

data = sr.datasets.load_fashion_features()
X, X_test = np.asarray(data.X, dtype=float), np.asarray(data.X_test, dtype=float)
Y, Y_test = np.eye(10)[data.y], np.eye(10)[data.y_test]
M, unit = X.shape[1], X.var(axis=0).mean()

problems = sr.Problem.from_data(X, Y)  # one for each class
print(
    f"label noise: {sum(each.label_noise**2 for each in problems):.3f} "
    f"of {Y.var(axis=0).sum():.3f}"
)

# %%
# An intercept costs one row: theory at n - 1 rows, and 1/n of the error for the mean of the
# labels.

sizes, curve = (
    np.array([100, 200, 400, 800]),
    np.unique(np.geomspace(60, 1000, 30).astype(int)),
)
ensembles = {
    "8 equal members, hardly any ridge": sr.Ensemble(
        sr.subsets.equal(8, M, seed=3), ridge=1e-3 * unit
    ),
    "8 unequal members": sr.Ensemble(
        sr.subsets.dirichlet(8, M, 0.75, seed=5), ridge=0.03 * unit
    ),
    "16 equal members": sr.Ensemble(
        sr.subsets.equal(16, M, seed=4), ridge=0.03 * unit
    ),
}


def trained_error(ensemble, rows):
    x, y = X[rows].mean(axis=0), Y[rows].mean(axis=0)
    weights = sr.fit_members(X[rows] - x, Y[rows] - y, ensemble)
    outputs = [
        ensemble.plan.measure(r, X_test - x) @ w / np.sqrt(len(w))
        for r, w in enumerate(weights)
    ]
    return ((np.mean(outputs, axis=0) + y - Y_test) ** 2).sum(axis=1).mean()


figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for name, ensemble in ensembles.items():
    predicted = sum(
        sr.risk(each, ensemble, (curve - 1) / M).total + each.label_noise**2
        for each in problems
    )
    (line,) = axes.plot(curve, predicted * (1 + 1 / curve), label=name)
    for size in sizes:
        draws = [
            np.random.default_rng((size, draw)).permutation(len(X))[:size]
            for draw in range(4)
        ]
        errors = [trained_error(ensemble, rows) for rows in draws]
        axes.errorbar(
            size, np.mean(errors), np.std(errors), fmt="o", color=line.get_color()
        )
axes.set(xlabel="training rows", ylabel="squared error, all classes", xscale="log")
axes.legend()
plt.show()
