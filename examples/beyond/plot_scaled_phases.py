"""
The scaled mean and the phases of the paper
===========================================

The paper's Fig. 4 has three phases: one member, finitely many, and infinitely many are best.
With one free scale and the best ridge, one member is best everywhere if the teacher has no part
along the direction that features share (ρ = 0). With such a part the phases exist at any number
of features.
"""

import matplotlib.pyplot as plt
import numpy as np
import sympy as sp
from matplotlib.colors import LogNorm

import subridge as sr
from subridge.derivations import notation, scaled_mean

# %%
# **ρ = 0**, members at their best ridge: the mean as in the paper, and the scaled mean.

ratios, noises = np.linspace(0.02, 3, 60), np.linspace(0, 2, 50)
colours = {
    "norm": LogNorm(1, 50),
    "cmap": plt.colormaps["viridis"].with_extremes(over="white"),
    "shading": "nearest",
}
figure, panels = plt.subplots(
    1, 2, figsize=(8, 3.4), sharey=True, layout="constrained"
)
for axes, aggregation in zip(panels, ("mean", "scaled"), strict=True):
    found = sr.phase_diagram(
        ratios, readout_nsr=noises, ridge="optimal", aggregation=aggregation
    )
    image = axes.pcolormesh(
        ratios, noises, found.optimal_n_members.clip(max=1e6), **colours
    )
    axes.set(title=f"{aggregation}, ρ = 0", xlabel="sample ratio α")
panels[0].set_ylabel("readout noise H")
figure.colorbar(image, ax=panels, label="best number of members (white: ∞)")
plt.show()

# %%
# **ρ = 0.5** at finite size M, with c = 0.6: the scaled mean at its best ridge, from the exact
# form in T = scM.

_, _, error = scaled_mean.aligned_forms()
names = (
    notation.k,
    notation.sigma,
    notation.alpha,
    notation.rho,
    notation.H,
    notation.W,
    notation.Z,
    notation.T,
)
error = sp.lambdify(names, error)
members = np.unique(np.geomspace(1, 100, 20).round())
overlap = np.geomspace(1e-3, 1, 120)[:-1]  # σ as a share of its largest value
ratios, noises = np.linspace(0.05, 3, 30), np.linspace(0.01, 2, 25)
figure, panels = plt.subplots(
    1, 4, figsize=(11, 3), sharey=True, layout="constrained"
)
for axes, M in zip(panels, (1e2, 1e3, 1e4, 1e5), strict=True):
    k, alpha, H, x = np.meshgrid(members, ratios, noises, overlap, indexing="ij")
    risks = error(
        k, x * np.sqrt(alpha * k), alpha, 0.5, H, 0.0, 0.0, 0.6 / 0.4 * M
    ).min(axis=-1)
    image = axes.pcolormesh(
        ratios, noises, members[np.argmin(risks, axis=0)].T, **colours
    )
    axes.set(title=f"M = {M:,.0f}", xlabel="sample ratio α")
panels[0].set_ylabel("readout noise H")
figure.colorbar(image, ax=panels, label="best number of members")
plt.show()
