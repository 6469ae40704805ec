"""
Real features without a spike
=============================

Ridgeless classifiers on 300 deep features of images of clothes. The error of one
classifier has a spike at 300 training images, as many as features. Members of unequal
size have no common spike, and their vote has none: no ridge had to be chosen. With a
well chosen ridge one classifier is better still.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

data = sr.datasets.load_fashion_features()
rng = np.random.default_rng(0)
seen = rng.choice(data.X.shape[1], 300, replace=False)
X, X_new = data.X[:, seen], data.X_test[:800][:, seen]
sizes = [50, 100, 150, 200, 250, 300, 350, 400, 500, 700, 1000]
ensembles = {
    "one member, no ridge": (sr.subsets.Equal(1), 0.0),
    "16 equal members, no ridge": (sr.subsets.Equal(16), 0.0),
    "16 unequal members, no ridge": (sr.subsets.Dirichlet(16, 0.75), 0.0),
    "one member, ridge 0.3": (sr.subsets.Equal(1), 0.3),
}

# %%

figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
for name, (subsets, ridge) in ensembles.items():
    runs = sr.simulate_classification(
        X, data.y, X_new, data.y_test[:800],
        sr.Ensemble(subsets, aggregation="majority"),
        ridges=[ridge], n_samples=sizes, n_trials=3, progress=False,
    )  # fmt: skip
    style = ":" if ridge else "o-"
    axis.plot(
        sizes,
        np.ravel(runs.misclassification.mean("trial")),
        style,
        ms=4,
        label=name,
    )
axis.axvline(300, color="0.7", lw=0.8)
axis.set(xlabel="training images", ylabel="share of wrong classes")
axis.legend()
plt.show()
