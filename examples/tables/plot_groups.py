"""
Rows of the same person
=======================

Six rows of each of forty persons. If a single row is left out, the other rows of the
person still partly determine it: the estimated error is too small, and so is the ridge. With
``groups=`` whole persons are left out, and the estimate holds for new persons.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

# The estimator warns that the rows are not independent.
warnings.simplefilter("ignore", sr.errors.CorrelatedRowsWarning)
rng = np.random.default_rng(1)
weights = rng.standard_normal(30) / np.sqrt(30)


def draw(n_persons):
    """Six rows a person; half of the features' and of the noise's variance is shared."""
    person = np.repeat(np.arange(n_persons), 6)
    shared = rng.standard_normal((n_persons, 31))[person]
    own = rng.standard_normal((len(person), 31))
    both = (shared + own) / np.sqrt(2)
    return both[:, :-1], both[:, :-1] @ weights + both[:, -1], person


X_new, y_new, _ = draw(3000)
estimated, true = {"rows": [], "persons": []}, {"rows": [], "persons": []}
for _ in range(10):
    X, y, person = draw(40)
    for name, groups in (("rows", None), ("persons", person)):
        model = sr.RidgeEnsembleRegressor(1, aggregation="mean").fit(
            X, y, groups=groups
        )
        estimated[name].append(model.loo_error_)
        true[name].append(((y_new - model.predict(X_new)) ** 2).mean())

for name in estimated:
    ratio = np.mean(estimated[name]) / np.mean(true[name])
    print(f"leaving out {name:8} estimated / true error: {ratio:.2f}")

# %%
# One dot is one sample of forty persons. Dots below the line are too optimistic.

figure, axis = plt.subplots(figsize=(5, 4.5), layout="constrained")
for name in estimated:
    axis.scatter(true[name], estimated[name], label=f"leaving out {name}")
axis.axline((1, 1), slope=1, color="black", lw=1)
axis.set(xlabel="error on new persons", ylabel="estimated error")
axis.set(xlim=(0.5, 1.8), ylim=(0.5, 1.8), aspect="equal")
axis.legend(loc="upper left")
plt.show()
