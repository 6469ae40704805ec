"""
How redundant are deep features?
================================

One classifier that sees a fraction of the 1,269 features of a network. A tenth of the
features gives most of the accuracy, because the features are redundant. Members on
subsets can therefore replace a model on all features, at some cost.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import RidgeClassifier

import subridge as sr

data = sr.datasets.load_fashion_features()
X, y, X_new, y_new = data.X[:1000], data.y[:1000], data.X_test, data.y_test
fractions = np.array([0.01, 0.03, 0.1, 0.3, 1.0])
rng = np.random.default_rng(0)
errors = np.empty((4, len(fractions)))
for draw in range(len(errors)):
    for place, fraction in enumerate(fractions):
        seen = rng.choice(X.shape[1], round(fraction * X.shape[1]), replace=False)
        model = RidgeClassifier(0.1 * len(seen)).fit(X[:, seen], y)
        errors[draw, place] = 1 - model.score(X_new[:, seen], y_new)

for fraction, error in zip(fractions, errors.mean(axis=0), strict=True):
    print(f"{fraction:5.0%} of the features: {error:.1%} wrong")

# %%

figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
axis.errorbar(
    100 * fractions, errors.mean(axis=0), errors.std(axis=0), fmt="o-", capsize=3
)
axis.set(
    xscale="log",
    xlabel="features seen, %",
    ylabel="share of wrong classes",
    ylim=(0, None),
)
axis.set_xticks(100 * fractions, [f"{100 * f:g}" for f in fractions])
plt.show()
