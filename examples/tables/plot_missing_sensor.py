"""
A sensor fails
==============

Five sensors measure the same thing, each with noise of its own, and every member of the
ensemble sees one of them. When a sensor fails, its member is left out and the others get
new weights (``missing="drop-members"``). Nothing is refitted. The usual remedy, filling
the gap with column means, has a much larger error here.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import RidgeCV

import subridge as sr

rng = np.random.default_rng(0)
weights = rng.standard_normal(8)


def draw(n):
    """Eight quantities, and what five sensors say of each: 40 columns."""
    true = rng.standard_normal((n, 8))
    X = np.concatenate(
        [true + rng.standard_normal((n, 8)) for _ in range(5)], axis=1
    )
    return X, true @ weights + 0.3 * rng.standard_normal(n)


X, y = draw(400)
X_new, y_new = draw(3000)
sensors = np.array_split(np.arange(40), 5)
ensemble = sr.RidgeEnsembleRegressor(
    subsets=sensors, aggregation="free", missing="drop-members"
)
ensemble.fit(X, y)
one = RidgeCV(np.logspace(-2, 4, 30)).fit(X, y)

errors = {
    "members dropped": [],
    "one ridge, filled with means": [],
    "one ridge, refitted": [],
}
for n_dead in range(5):
    dead = np.arange(40) < 8 * n_dead
    rows = {
        "members dropped": (ensemble, np.where(dead, np.nan, X_new)),
        "one ridge, filled with means": (
            one,
            np.where(dead, X.mean(axis=0), X_new),
        ),
        "one ridge, refitted": (
            RidgeCV(one.alphas).fit(X[:, ~dead], y),
            X_new[:, ~dead],
        ),
    }
    for name, (model, new) in rows.items():
        errors[name].append(((y_new - model.predict(new)) ** 2).mean())

# %%

figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
for (name, values), style in zip(errors.items(), ("o-", "s--", "k:"), strict=True):
    axis.plot(range(5), values, style, label=name)
axis.set(xlabel="sensors that have failed", ylabel="squared error on new rows")
axis.set_xticks(range(5))
axis.legend()
plt.show()
