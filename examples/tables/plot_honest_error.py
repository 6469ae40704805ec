"""
The error after choosing
========================

The least of many left-out errors is too small, because it was chosen to be the least.
``loo_error_`` repeats the choice without each row. On average it equals the error on new
rows.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

rng = np.random.default_rng(0)
n, p, draws = 30, 40, 150
least, honest, true = np.empty((3, draws))
for draw in range(draws):
    weights = rng.standard_normal(p) / np.sqrt(4 * p)
    X = rng.standard_normal((n, p))
    y = X @ weights + rng.standard_normal(n)
    model = sr.RidgeEnsembleRegressor(1, aggregation="mean").fit(X, y)
    least[draw], honest[draw] = model.loo_path_.min(), model.loo_error_
    # The error on new rows, exactly: these features are independent, of variance one.
    true[draw] = 1 + ((model.coef_ - weights) ** 2).sum() + model.intercept_**2

# %%
# Means over 150 samples of pilots with 30 rows, with standard errors.

figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
bars = {
    "least left-out error": least,
    "loo_error_": honest,
    "error on new rows": true,
}
means = [values.mean() for values in bars.values()]
doubts = [values.std() / np.sqrt(draws) for values in bars.values()]
axis.bar(list(bars), means, yerr=doubts, capsize=6, color=["C3", "C0", "0.6"])
axis.set(ylabel="squared error", ylim=(0.9, None))
plt.show()
