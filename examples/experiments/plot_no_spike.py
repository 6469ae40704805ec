"""
Real features without a spike
=============================

Ridgeless members on deep features of images of clothes. The error of one ridgeless model has a spike when there are as
many samples as features. An ensemble of unequal members has none, without a ridge and without a validation set.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

data = sr.datasets.load_fashion_features()
sizes = [20, 40, 80, 160, 320, 640]
ensembles = {
    "one member": sr.Ensemble(sr.subsets.Equal(1), aggregation="majority"),
    "16 unequal members": sr.Ensemble(sr.subsets.Dirichlet(16, 0.75), aggregation="majority"),
}

figure, axes = plt.subplots(figsize=(7, 4))
for name, ensemble in ensembles.items():
    curves = sr.simulate_classification(
        data.X, data.y, data.X_test[:500], data.y_test[:500], ensemble, n_samples=sizes, n_trials=2,
        progress=False,
    )  # fmt: skip
    axes.plot(sizes, np.ravel(curves.misclassification.mean("trial")), "o-", label=name)
axes.set(xlabel="training samples", ylabel="share of wrong classes", xscale="log")
axes.legend()
figure.tight_layout()
