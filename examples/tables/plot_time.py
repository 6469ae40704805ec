"""
Rows in the order of time
=========================

Neighbouring rows of a series are alike. ``gap=h`` leaves out every row together with h
neighbours on either side. The estimated error then is that of rows far away in time.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import lfilter

import subridge as sr

# The estimator warns that the rows are not independent.
warnings.simplefilter("ignore", sr.errors.CorrelatedRowsWarning)
rng = np.random.default_rng(0)
memory = 0.8
weights = rng.standard_normal(20) / np.sqrt(20)


def series(n):
    """Features and noise that keep 0.8 of their value from one row to the next."""
    both = lfilter(
        [np.sqrt(1 - memory**2)],
        [1, -memory],
        rng.standard_normal((n + 50, 21)),
        axis=0,
    )
    both = both[50:]
    return both[:, :-1], both[:, :-1] @ weights + both[:, -1]


X_new, y_new = series(20_000)
gaps = [0, 1, 2, 4, 8, 16, 30]
estimated, true = np.zeros((2, 8, len(gaps)))
for draw in range(8):
    X, y = series(300)
    for place, gap in enumerate(gaps):
        model = sr.RidgeEnsembleRegressor(
            1, ridge=0.3, aggregation="mean", gap=gap
        ).fit(X, y)
        estimated[draw, place] = model.loo_error_
        true[draw, place] = ((y_new - model.predict(X_new)) ** 2).mean()

# %%

figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
for name, values in (
    ("estimated from left-out rows", estimated),
    ("on a new series", true),
):
    mean, error = values.mean(0), values.std(0) / np.sqrt(len(values))
    axis.errorbar(range(len(gaps)), mean, error, fmt="o-", capsize=3, label=name)
axis.set_xticks(range(len(gaps)), gaps)
axis.set(xlabel="gap: neighbours left out on either side", ylabel="squared error")
axis.legend()
plt.show()
