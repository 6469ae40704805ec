"""
What would more rows bring?
===========================

150 rows of a real table forecast the error of a ridge with many more. The other rows of
the table, which the forecast does not use, show how good the forecast is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge

import subridge as sr

pixels = load_digits().data
X, y = np.delete(pixels, 20, axis=1), pixels[:, 20]  # one pixel from all others
order = np.random.default_rng(0).permutation(len(y))
pilot = order[:150]
X = X[
    :, (X[pilot] > 0).sum(axis=0) >= 10
]  # leave out pixels that are almost always empty

sizes = np.array([100, 150, 300, 600, 1200])
ensembles = {"one ridge": sr.Ensemble(sr.subsets.Equal(1), ridge=1.0)}
curve = sr.forecast(X[pilot], y[pilot], sizes, ensembles).isel(ensemble=0)


def trained(n, draw):
    """The error of a ridge trained on n rows, on all others."""
    rows = np.random.default_rng((n, draw)).permutation(len(y))
    model = Ridge(1.0 * X.shape[1]).fit(X[rows[:n]], y[rows[:n]])
    return ((y[rows[n:]] - model.predict(X[rows[n:]])) ** 2).mean()


truth = [np.mean([trained(n, draw) for draw in range(10)]) for n in sizes]

# %%

figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
lower, upper = curve.prediction_error_lower, curve.prediction_error_upper
axis.fill_between(sizes, lower, upper, alpha=0.2, label="90 % interval")
axis.plot(sizes, curve.prediction_error, label="forecast from 150 rows")
axis.plot(sizes, truth, "ko", label="trained on so many rows")
axis.set(xscale="log", xlabel="rows", ylabel="squared error on new rows")
axis.set_xticks(sizes, sizes)
axis.minorticks_off()
axis.legend()
plt.show()
