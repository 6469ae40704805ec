"""
Where the error comes from
==========================

`error_sources` splits the risk of an ensemble into the bias of its mean predictor and the
variance over data, subsets, label noise and readout noise. One member that sees half of the
features has a spike in its variance over data. Averaging six of them removes most of this
variance, and none of the bias.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

problem = sr.EquicorrelatedProblem(
    correlation=0.3, feature_noise=0.3, label_noise=0.3
)
ratios = np.linspace(0.05, 2, 200)
# Six members that see half of the features each, drawn independently.
half = np.full((6, 6), 0.25) + 0.25 * np.eye(6)

# %%
# One member: half of all variance is over which features it happened to see.

one = sr.error_sources(
    problem, sr.Ensemble([0.5], ridge=0.01, readout_noise=0.2), ratios
)

# %%
# Six members of the same size.

six = sr.error_sources(
    problem, sr.Ensemble(half, ridge=0.01, readout_noise=0.2), ratios
)

# %%
# Both, stacked. `sr.figures.plot_sources(six)` draws one of them.

figure, panels = plt.subplots(
    1, 2, figsize=(8, 3.2), sharey=True, layout="constrained"
)
for axes, found, title in zip(
    panels, (one, six), ("one member", "six members"), strict=True
):
    parts = found.risk.transpose("source", "sample_ratio").values
    axes.stackplot(ratios, parts, labels=found.source.values, alpha=0.85)
    axes.set(title=title, xlabel="sample ratio α", ylim=(0, 1.5))
panels[0].set_ylabel("risk")
panels[1].legend(fontsize="small", reverse=True)
plt.show()

# %%
# What is left of each part when six members are averaged, at as many samples as a member has
# features:

for source in one.source.values:
    before, after = (
        float(each.risk.sel(source=source).interp(sample_ratio=0.5))
        for each in (one, six)
    )
    print(f"{source:26} {before:.3f} → {after:.3f}")
