"""
The ridge in two conventions
============================

``ridge=λ`` here is ``Ridge(alpha=λ * N)`` in scikit-learn, with N the number of features
that a member sees. One fit gives the left-out error of the whole path of ridges; the dot
is the ridge that was chosen.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.preprocessing import scale

import subridge as sr

X, y = load_diabetes(return_X_y=True)
X = scale(X)
model = sr.RidgeEnsembleRegressor(1, aggregation="mean").fit(X, y)
same = Ridge(alpha=model.ridge_ * X.shape[1]).fit(X, y)
print(f"λ = {model.ridge_:.3g}, alpha = {same.alpha:.3g}")
print(
    f"largest difference of coefficients: {np.abs(model.coef_ - same.coef_).max():.1e}"
)

# %%

figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
axis.plot(model.ridge_path_, model.loo_path_, "-")
nearest = np.argmin(np.abs(np.log(model.ridge_path_ / model.ridge_)))
axis.plot(model.ridge_, model.loo_path_[nearest], "o", label="chosen")
axis.set(xscale="log", xlabel="ridge λ", ylabel="left-out squared error")
top = axis.secondary_xaxis("top", functions=(lambda r: r * 10, lambda a: a / 10))
top.set_xlabel("alpha of scikit-learn's Ridge")
axis.legend()
plt.show()
