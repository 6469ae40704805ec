"""
What the default chooses
========================

Fitted without options, the estimator compares one ridge on all features with ensembles
on subsets. It judges all of them by exact leave-one-out errors and takes an ensemble
only if the gain exceeds 2.75 standard errors. On the diabetes table no ensemble does.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import scale

import subridge as sr

X, y = load_diabetes(return_X_y=True)
model = sr.RidgeEnsembleRegressor(random_state=0).fit(scale(X), y)
print(model.choice_)

# %%
# The same table as a picture: errors relative to one ridge, with 2.75 standard errors.
# Every ensemble has a larger error.

trials = sorted(model.choice_.trials, key=lambda trial: trial.error)
one = model.choice_.trials[0].error
names = [trial.name for trial in trials]
excess = 100 * np.array([-trial.gain for trial in trials]) / one
doubt = 275 * np.array([trial.standard_error for trial in trials]) / one

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.barh(names, excess, xerr=doubt, color="C0", ecolor="0.3")
axis.axvline(0, color="black", lw=1)
axis.invert_yaxis()
axis.set_xlabel("error more than that of one ridge, %")
plt.show()
