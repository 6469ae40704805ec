"""
A ridge for every feature space
===============================

Four feature spaces, ten runs and forty targets. Each target needs some of the spaces and not
the others. One model with a ridge per space and target finds out which, by exact errors on
left-out runs.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

rng = np.random.default_rng(0)
names = ["words", "sounds", "pictures", "faces"]
n, p, n_targets = 300, 100, 40
spaces = {name: slice(i * p, (i + 1) * p) for i, name in enumerate(names)}
X = rng.standard_normal((n + 1000, 4 * p))
needs = rng.uniform(size=(4, n_targets)) ** 4
weights = rng.standard_normal((4 * p, n_targets)) * np.repeat(needs, p, axis=0)
signal = X @ weights
Y = signal / signal.std(axis=0) + 0.7 * rng.standard_normal(signal.shape)
runs = np.repeat(np.arange(10), n // 10)

# %%
# The same estimator without spaces has one ridge per target.

banded = sr.BandedRidge(spaces, random_state=0).fit(X[:n], Y[:n], groups=runs)
single = sr.BandedRidge().fit(X[:n], Y[:n], groups=runs)


def r2(model):
    residual = ((Y[n:] - model.predict(X[n:])) ** 2).mean(axis=0)
    return 1 - residual / Y[n:].var(axis=0)


print(f"mean R² on new rows: one ridge {r2(single).mean():.3f}", end=", ")
print(f"a ridge per space {r2(banded).mean():.3f}")
print(f"mean R² on left-out runs: {banded.loo_r2_.mean():.3f}")

# %%
# Every dot on the left is a target. On the right, the shares that the fit gives to the spaces,
# for targets in the order of their need of words.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot(r2(single), r2(banded), "o", markersize=4)
left.plot([0, 0.7], [0, 0.7], color="0.6", linewidth=1)
left.set(
    xlabel="R² on new rows, one ridge", ylabel="R² on new rows, a ridge per space"
)
order = np.argsort(needs[0])
below = np.zeros(n_targets)
for name, share in zip(names, banded.shares_[order].T, strict=True):
    right.bar(np.arange(n_targets), share, bottom=below, width=1.0, label=name)
    below += share
right.set(xlabel="targets, by their need of words", ylabel="shares of the spaces")
right.legend(
    loc="upper center", ncols=4, fontsize="small", bbox_to_anchor=(0.5, 1.12)
)
plt.show()
