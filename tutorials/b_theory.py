"""
From a problem to a phase diagram
=================================

This page is for readers interested in the theory: how the error of an ensemble of ridge
regressions depends on the number of samples, on who sees which features, on ridges and on
noise. Describe a problem, get its learning curve, check it by simulation, draw a phase
diagram, and put in a covariance of your own. The letters are those of Ruben & Pehlevan
(2023), and :doc:`/theory/equations` has the equations.
"""

# %%
# The problem
# -----------
#
# Data are Gaussian: M features :math:`\psi` with a covariance, and labels
# :math:`y = w^{*\top}\psi/\sqrt{M} + \epsilon` with noise of standard deviation ζ. The true
# weights are :math:`w^*`. Labels depend on :math:`\psi`, but what members see is :math:`\psi`
# with noise added, the *feature noise*.
#
# The simplest problem has features that are all correlated alike. It needs five numbers
# and no matrix, because it stands for the limit of many features. We give three of them. The
# others keep their defaults: features have variance 1 (``data_scale``), and the true weights
# do not favour the direction that all features share (``alignment=0``).

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

problem = sr.EquicorrelatedProblem(
    correlation=0.4, feature_noise=0.3, label_noise=0.2
)

# %%
# An ensemble says who sees what. Here three members see 10, 30 and 50 % of the features,
# none of them in common, and their outputs are averaged.

ensemble = sr.Ensemble([0.1, 0.3, 0.5], ridge=0.01)

# %%
# The curve
# ---------
#
# ``risk`` gives the expected squared error, without the noise of the labels, for any number
# of samples per feature, :math:`\alpha = P/M` with P samples. It takes a millisecond.

ratios = np.linspace(0.02, 1.2, 400)
curve = sr.risk(problem, ensemble, ratios)
print("total", curve.total.shape, " pairs", curve.pairs.shape)

# %%
# ``total`` is the error of the ensemble. ``pairs`` is the matrix :math:`E_{rr'}` whose mean
# it is: its diagonal holds the errors of single members, the other entries the errors that
# two members have in common.

figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
for member, fraction in enumerate((0.1, 0.3, 0.5)):
    axis.plot(
        ratios,
        curve.pairs[:, member, member],
        lw=1,
        label=f"member that sees {fraction:.0%}",
    )
axis.plot(ratios, curve.total, "k", lw=2.5, label="ensemble")
axis.set(xlabel="samples per feature α", ylabel="risk", ylim=(0, 3))
axis.legend()
plt.show()

# %%
# A member that sees the fraction ν of the features has a peak near α = ν. There it has as
# many samples as features, and just fits all samples; without a ridge the peak is infinite.
# The matrix has nine entries, so the ensemble has a ninth of each peak. Had all members the
# same size, their peaks would fall together.
#
# The simulation
# --------------
#
# Is it true? ``realise`` turns the limit into a problem with finitely many features, and
# ``simulate`` trains ensembles on fresh samples. Their risk is computed exactly from the
# trained weights, without test data.

M = 200
finite = problem.realise(M, seed=0)
plan = sr.SubsetPlan.from_indices([range(20), range(20, 80), range(80, 180)], M)
members = sr.Ensemble(plan, ridge=0.01)
sizes = np.array([8, 14, 20, 30, 45, 60, 75, 85, 100, 120, 160, 200, 240])
runs = sr.simulate(finite, members, sizes, n_trials=60, progress=False)
theory = sr.risk(finite, members, sizes / M)
judged = sr.compare(theory, runs)
print("theory and experiment:", judged.attrs["verdict"])
print(f"largest distance: {abs(judged.z).max().item():.1f} standard errors")

# %%
# Two curves of the theory follow. One is for many features, as above (Proposition 2 of the
# paper). The other is for the very 200 features and weights that were drawn (Proposition 1),
# and this is the one that the dots should follow. Most of their error bars are smaller than
# the dots.

dense = np.arange(5, 241)
figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
axis.plot(ratios, curve.total, "0.6", label="many features (Prop. 2)")
axis.plot(
    dense / M,
    sr.risk(finite, members, dense / M).total,
    label="200 features (Prop. 1)",
)
axis.errorbar(
    sizes / M,
    judged["mean"],
    judged.standard_error,
    fmt="ko",
    ms=4,
    label="60 trained",
)
axis.set(xlabel="samples per feature α", ylabel="risk", ylim=(0, 1))
axis.legend()
plt.show()

# %%
# The phase diagram
# -----------------
#
# Let every member add noise to its output, the *readout noise*. Averaging reduces it, so
# more members help; but each sees fewer features. For k equal members without a ridge the
# best k follows exactly. It falls into three phases: one member, finitely many, infinitely
# many. The alignment says how far the true weights point along the direction that all
# features share.

ratios_of_map, noise = np.linspace(0.02, 2, 120), np.linspace(0, 2, 90)
diagram = sr.phase_diagram(ratios_of_map, readout_nsr=noise, alignment=0.3)
best = diagram.optimal_n_members

figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
axis.set_facecolor("0.85")
shown = np.log10(best.where(np.isfinite(best)))
image = axis.pcolormesh(
    ratios_of_map, noise, shown, vmin=0, vmax=2, rasterized=True
)
axis.contour(ratios_of_map, noise, diagram.phase, levels=[0.5], colors="white")
axis.text(0.45, 0.04, "one member", color="white", ha="center")
axis.text(1.3, 1.85, "infinitely many", ha="center")
axis.set(xlabel="samples per feature α", ylabel="readout noise H")
bar = figure.colorbar(image, label="best number of members")
bar.set_ticks([0, 1, 2], labels=["1", "10", "100"])
plt.show()

# %%
# H is the variance of the readout noise, divided by the part of a feature's variance that it
# does not share with the others. The code calls it ``readout_nsr``. Below the white line one
# member is best, and in the grey area infinitely many are. Yellow stands for 100 or more.
# :doc:`/how-to/read-a-phase-diagram` says more about the map.
#
# Your own covariance
# -------------------
#
# Real features are not all correlated alike. ``Problem`` takes any covariance and any target
# weights, and an ensemble any subsets. Here the spectrum falls as a power law, as those of
# deep features often do, and the target lies along its leading directions. We take a tiny
# ridge, and then the best one. The best ridge of theory may be negative; then we take zero.

M = 300
spectrum = np.arange(1.0, M + 1) ** -1.2
rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((M, M)))[0]
covariance = (rotation * spectrum) @ rotation.T
weights = rotation @ np.arange(1.0, M + 1) ** -0.5 * np.sqrt(M)
own = sr.Problem(covariance, weights, label_noise=0.1)

plans = {
    "one member": sr.subsets.equal(1, M, seed=0),
    "five equal members": sr.subsets.equal(5, M, seed=0),
    "five members on random halves": sr.subsets.overlapping(
        [M // 2] * 5, M, seed=0
    ),
}
ratios = np.linspace(0.05, 1.5, 150)
figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
for name, plan in plans.items():
    members = sr.Ensemble(plan, ridge=1e-4)
    (line,) = axis.plot(ratios, sr.risk(own, members, ratios).total, label=name)
    tuned = []
    for ratio in ratios[::10]:
        best = sr.optimal_ridge(own, members, ratio, scope="ensemble").item()
        tuned.append(
            sr.risk(own, sr.Ensemble(plan, ridge=max(best, 0)), ratio).total
        )
    axis.plot(ratios[::10], tuned, ":", color=line.get_color())
axis.set(xlabel="samples per feature α", ylabel="risk", yscale="log")
axis.legend(title="dotted: at the best ridge")
plt.show()

# %%
# With a tiny ridge every curve has a bump where its members have as many samples as features:
# near α = 1 for one member, 0.5 for halves and 0.2 for fifths. So ensembles move the bump to
# fewer samples, and near α = 1 both of them are better than one member. From α = 0.1 to 0.6
# one member is better. At the best ridge one member is best for nearly every α: ensembles
# help where the ridge cannot be chosen, where outputs are noisy, or where members see
# features of different relevance.
#
# Where to go on
# --------------
#
# - The equations, and the function for each: :doc:`/theory/equations`.
# - Sliders for all of this: the :doc:`explorer </explorer>`.
# - The figures of the paper: :doc:`/figures`.
