"""
Leave-one-out without refitting
===============================

Left-out predictions of an ensemble follow from one factorisation for each member. They
equal those of n refits, to rounding.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale

import subridge as sr

X, y = load_diabetes(return_X_y=True)
X, y = scale(X)[:200], y[:200]
plan = sr.subsets.equal(3, 10, seed=0)
model = sr.RidgeEnsembleRegressor(subsets=plan, ridge=0.1, aggregation="mean")

started = time.perf_counter()
closed_form = model.fit(X, y).loo_predictions_
seconds = time.perf_counter() - started

started = time.perf_counter()
refitted = np.empty(len(y))
for row in range(len(y)):
    others = np.arange(len(y)) != row
    refitted[row] = model.fit(X[others], y[others]).predict(X[[row]])[0]
slow = time.perf_counter() - started

print(f"largest difference {np.abs(closed_form - refitted).max():.1e}")
print(f"one fit is {slow / seconds:.0f} times as fast as {len(y)} refits")

# %%

figure, axis = plt.subplots(figsize=(5, 4.5), layout="constrained")
axis.plot(refitted, closed_form, ".", label="left-out predictions")
axis.axline((150, 150), slope=1, color="black", lw=1)
axis.set(
    xlabel="by refitting without the row", ylabel="from one fit", aspect="equal"
)
axis.legend()
plt.show()
