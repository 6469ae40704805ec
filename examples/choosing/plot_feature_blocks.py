"""
An ensemble wins: blocks of unequal relevance
=============================================

Four blocks of fifty features, the signal in one of them. One ridge must shrink all
features alike. Members on blocks get weights of their own, so the ensemble leaves out
the blocks without signal. The blocks are known here, as with sensors or kinds of
measurement.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import RidgeCV

import subridge as sr

rng = np.random.default_rng(0)
blocks = np.array_split(np.arange(200), 4)
weights = np.where(np.arange(200) < 50, rng.standard_normal(200), 0) / np.sqrt(50)


def draw(n):
    X = rng.standard_normal((n, 200))
    return X, X @ weights + 0.3 * rng.standard_normal(n)


X_new, y_new = draw(4000)
sizes = [60, 100, 150, 250, 400, 600]
models = {
    "one ridge (RidgeCV)": RidgeCV(np.logspace(-1, 4, 30)),
    "members on blocks, free weights": sr.RidgeEnsembleRegressor(
        subsets=blocks, ridge_scope="member", aggregation="free"
    ),
}
errors = {name: [] for name in models}
for n in sizes:
    samples = [draw(n) for _ in range(5)]
    for name, model in models.items():
        found = [
            ((y_new - model.fit(X, y).predict(X_new)) ** 2).mean()
            for X, y in samples
        ]
        errors[name].append(np.mean(found))

# %%
# Squared error on new rows. No error can be below the noise of the labels.

figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
for name, values in errors.items():
    axis.plot(sizes, values, "o-", label=name)
axis.axhline(0.09, color="0.5", ls=":", label="noise of the labels")
axis.set(xlabel="training rows", ylabel="squared error on new rows", ylim=(0, None))
axis.legend()
plt.show()
