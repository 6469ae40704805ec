"""
Power laws
==========

Eigenvalues of real data fall like a power law, i^(-a), and so does the teacher's power, i^(-b).
Three questions: how fast does the error fall with the number of samples, how many members are
best, and does heterogeneity help?
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

# %%
# **The exponent of the learning curve.** Features that are the eigenvectors themselves need no
# matrix: a hundred thousand of them take a tenth of a second. Without noise the error falls
# like P^(-min(b-1, 2a)).

M, samples = 100_000, np.unique(np.geomspace(30, 3000, 20).astype(int))
i = np.arange(1.0, M + 1)
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for a, b in ((1.5, 1.5), (1.5, 2.5), (2.0, 3.0), (1.2, 4.5)):
    problem = sr.Problem(sr.covariance.power_law(M, a), np.sqrt(M * i ** (a - b)))
    risk = sr.risk(
        problem, sr.Ensemble(sr.subsets.equal(1, M, seed=0)), samples / M
    ).total
    slope = np.polyfit(np.log(samples), np.log(risk), 1)[0]
    axes.loglog(
        samples,
        risk,
        "o-",
        markersize=3,
        label=f"a = {a:g}, b = {b:g}: {slope:.2f} ({-min(b - 1, 2 * a):g})",
    )
axes.set(xlabel="samples P", ylabel="error")
axes.legend(title="slope (limit)")
plt.show()

# %%
# **The best number of members**, at the best common ridge, for features that each mix all
# eigenvectors. Readout noise H is in units of the target's power. For a flat spectrum the
# scaled mean of one member is best. The steeper the spectrum, the more members see the same few
# strong directions, and averaging over readout noise costs them little.

M, sizes, H = 128, [1, 2, 4, 8, 16, 32], 0.5
exponents, ridges = [0.0, 0.5, 1.0, 1.5, 2.0], np.geomspace(1e-5, 1e3, 33)[:, None]
figure, panels = plt.subplots(
    1, 2, figsize=(9, 3.6), sharey=True, layout="constrained"
)
for axes, aggregation in zip(panels, ("mean", "scaled"), strict=True):
    for a in exponents:
        covariance, w = (
            sr.covariance.power_law(M, a, seed=3),
            np.random.default_rng(0).standard_normal(M),
        )
        problem, risks = sr.Problem(covariance, w), []
        power, unit = (
            w @ covariance.apply(w) / M,
            covariance.variances_of_features().mean(),
        )
        for k in sizes:
            plan = sr.subsets.equal(k, M, seed=1)
            ensemble = sr.Ensemble(
                plan, ridges * unit, np.sqrt(H * power), aggregation
            )
            risks.append(sr.risk(problem, ensemble, 1.0).total.min() / power)
        (line,) = axes.loglog(sizes, risks, label=f"a = {a:g}", base=2)
        axes.plot(
            sizes[int(np.argmin(risks))], min(risks), "o", color=line.get_color()
        )
    axes.set(
        title=f"{aggregation}, H = {H:g}, as many samples as features",
        xlabel="members k",
    )
panels[0].set_ylabel("error / power of the target")
panels[1].legend()
plt.show()

# %%
# **Heterogeneity**, with hardly any ridge. A power law is an implicit ridge (the weak
# directions regularise the strong ones), so that peaks are lower the steeper it is, and unequal
# members gain less.

ratios = np.linspace(0.05, 1.2, 100)
figure, panels = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
for axes, a in zip(panels, (0.0, 1.0, 2.0), strict=True):
    problem = sr.Problem(
        sr.covariance.power_law(M, a, seed=3), np.ones(M), label_noise=0.1
    )
    for name, plan in {
        "4 equal": sr.subsets.equal(4, M, seed=0),
        "4 unequal": sr.SubsetPlan.from_indices(
            np.split(np.arange(M), [8, 28, 64]), M
        ),
    }.items():
        axes.semilogy(
            ratios,
            sr.risk(problem, sr.Ensemble(plan, ridge=1e-6), ratios).total,
            label=name,
        )
    axes.set(title=f"a = {a:g}", xlabel="samples per feature")
panels[0].set_ylabel("error")
panels[0].legend()
plt.show()
