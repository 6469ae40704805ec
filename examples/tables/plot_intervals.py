"""
Intervals for single predictions
================================

``predict_interval`` gives the jackknife+ interval of every new row. All leave-one-out
models come from the factors of one fit, so nothing is refitted. About 90 % of the new
rows lie inside their intervals.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

import subridge as sr

X, y = load_diabetes(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
model = sr.RidgeEnsembleRegressor(random_state=0).fit(X, y)
lower, upper = model.predict_interval(X_new, level=0.9)
inside = (lower <= y_new) & (y_new <= upper)
print(f"{inside.mean():.1%} of {len(y_new)} new rows lie in their 90 % intervals")

# %%
# Rows sorted by their prediction. Dots are the truth; red ones are outside.

order = np.argsort(model.predict(X_new))
place = np.arange(len(order))
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.fill_between(
    place, lower[order], upper[order], alpha=0.25, step="mid", label="90 % interval"
)
axis.plot(place, model.predict(X_new)[order], color="C0", label="prediction")
axis.scatter(place, y_new[order], s=8, c=np.where(inside[order], "black", "red"))
axis.set(xlabel="new rows, by prediction", ylabel="disease progression")
axis.legend(loc="upper left")
plt.show()
