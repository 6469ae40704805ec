"""
More rows than memory holds
===========================

``partial_fit`` keeps the moments of the rows, not the rows. After every block the model
is that of all rows so far.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

rng = np.random.default_rng(0)
weights = rng.standard_normal(60)


def block(n):
    X = rng.standard_normal((n, 60))
    return X, X @ weights + 3 * rng.standard_normal(n)


X_new, y_new = block(5000)
model, rows, estimated, true = sr.RidgeEnsembleRegressor(), [], [], []
for size in [80, 20, 50, 150, 300, 600, 1200]:
    model.partial_fit(*block(size))
    rows.append(size + (rows[-1] if rows else 0))
    estimated.append(model.loo_error_)
    true.append(((y_new - model.predict(X_new)) ** 2).mean())

# %%
# The error that is estimated from moments alone, and the error on new rows.

figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
axis.plot(rows, estimated, "o-", label="estimated from moments")
axis.plot(rows, true, "s--", label="on new rows")
axis.axhline(9, color="0.5", ls=":", label="noise of the labels")
axis.set(xscale="log", xlabel="rows so far", ylabel="squared error")
axis.legend()
plt.show()
