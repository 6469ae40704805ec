"""
One ridge wins: real tables
===========================

Five-fold cross-validated R² on the tables that come with scikit-learn. A tuned ridge on
all features is better than the mean of eight members on subsets, and the default of the
estimator chooses it.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import subridge as sr

cancer, wine = load_breast_cancer().data, load_wine().data
mixed = np.random.default_rng(0).permutation(len(wine))  # they are sorted by class
tables = {
    "diabetes": load_diabetes(return_X_y=True),
    "breast cancer: area": (
        np.delete(cancer, [2, 3, 22, 23], axis=1),
        cancer[:, 3],
    ),
    "wine: proline": (wine[mixed, :-1], wine[mixed, -1]),
}
models = {
    "RidgeCV": RidgeCV(np.logspace(-3, 4, 30)),
    "subridge, default": sr.RidgeEnsembleRegressor(random_state=0),
    "mean of 8 members": sr.RidgeEnsembleRegressor(
        8, aggregation="mean", random_state=0
    ),
}
# A number of members that is worse than one ridge gives a warning, which is the point here.
warnings.simplefilter("ignore", sr.errors.WorseThanOneRidgeWarning)

folds = KFold(5, shuffle=True, random_state=0)
scores = {
    name: [
        cross_val_score(
            make_pipeline(StandardScaler(), model), X, y, cv=folds
        ).mean()
        for X, y in tables.values()
    ]
    for name, model in models.items()
}
for name, values in scores.items():
    print(f"{name:20}", *(f"{value:6.3f}" for value in values))

# %%

figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
places = np.arange(len(tables))
for shift, (name, values) in zip((-0.25, 0, 0.25), scores.items(), strict=True):
    axis.bar(places + shift, values, width=0.23, label=name)
axis.set_xticks(places, tables)
axis.set(ylabel="R², five-fold", ylim=(0, 1.2))
axis.legend(loc="upper right", ncols=3)
plt.show()
