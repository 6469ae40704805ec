"""
From a table to an answer
=========================

You know ridge regression, and you have a table of numbers with a column to predict. In
ten minutes this page leads from the table to a model, to intervals for its predictions,
and to a forecast of its error with more rows. You need no validation set and no theory.

All code on this page runs when the site is built. Copy it, and replace our table by yours.
"""

# %%
# The table
# ---------
#
# Ours has 442 patients: ten measurements each, and how far their diabetes progressed
# within a year. A table of your own comes from ``pandas.read_csv``. Every column must hold
# numbers, and no cell may be empty. ``sr.datasets.read_table`` helps where this is not so:
# with ``categories="one-hot"`` it turns text into columns, with ``missing="drop"`` it leaves
# out rows with empty cells.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

import subridge as sr

patients = load_diabetes(as_frame=True, scaled=False).frame
patients.head()

# %%
# A ridge treats all columns alike, so their units matter. We centre every column and divide
# it by its standard deviation, as one does for any ridge regression.

scaler = StandardScaler().set_output(transform="pandas")
X = scaler.fit_transform(patients.drop(columns="target"))
y = patients["target"]
print(f"{X.shape[0]} rows, {X.shape[1]} columns")
print(f"target: mean {y.mean():.0f}, standard deviation {y.std():.0f}")

# %%
# We put aside 92 patients, drawn at random. No model is trained on them; only the scaling has
# seen them. They show whether the estimates hold.

order = np.random.default_rng(0).permutation(len(y))
ours, later = order[:350], order[350:]
X_ours, y_ours = X.iloc[ours], y.iloc[ours]

# %%
# The choice and the model
# ------------------------
#
# Fitted without options, the estimator compares one ridge on all columns with *ensembles*:
# several ridge regressions, called members, that each see a part of the columns, and whose
# outputs are combined. Every candidate is judged by leave-one-out: each row is predicted by
# a model that was trained on all others. For ridge regression this has a closed form, so
# nothing is trained twice.

model = sr.RidgeEnsembleRegressor(random_state=0).fit(X_ours, y_ours)
print(model.choice_)

# %%
# The arrow marks what was taken. A row names how many members there are, and what they see:
# *equal* parts of the columns, *heterogeneous* parts of unequal sizes, or random parts that
# *overlap*. Then comes how their outputs are combined: by their mean, by the mean times one
# fitted number (*scaled*), or with a fitted weight for each member (*free*). One ridge may be
# scaled as well. All are compared with one plain ridge.
#
# Gains come with their standard errors. An ensemble replaces one ridge only if its gain
# exceeds 2.75 of them. Here every ensemble is worse, and the model is one ridge. That is the
# usual outcome. More than two members are tried only where two of them help.
#
# What error should we expect on new patients? ``loo_error_`` is the left-out squared error,
# corrected for the fact that a ridge and a candidate were chosen by it.

rmse = np.sqrt(model.loo_error_)
r2 = 1 - model.loo_error_ / y_ours.var(ddof=0)
print(f"estimated: root mean squared error {rmse:.1f}, R² {r2:.2f}")
errors = y.iloc[later] - model.predict(X.iloc[later])
print(f"on the patients put aside: {np.sqrt((errors**2).mean()):.1f}")

# %%
# The two agree within chance: 92 patients determine the error only to about ± 4.
#
# The model is linear, and its coefficients are those of any linear model.

figure, axis = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
axis.bar(X.columns, model.coef_)
axis.axhline(0, color="black", lw=0.8)
axis.set_ylabel("progression per standard deviation")
plt.show()

# %%
# Intervals
# ---------
#
# A prediction without an interval is half an answer. ``predict_interval`` gives lower and
# upper bounds for each row, by a method called jackknife+. For every training row there is a
# model that was trained without it. The method asks each of these models for a prediction,
# and widens it by the error of that model on the row it had not seen.

lower, upper = model.predict_interval(X.iloc[later], level=0.9)
inside = (lower <= y.iloc[later]) & (y.iloc[later] <= upper)
print(f"{inside.mean():.0%} of the patients put aside lie in their 90 % intervals")

# %%

predicted = model.predict(X.iloc[later])
by_prediction = np.argsort(predicted)
figure, axis = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
place = np.arange(len(later))
band = lower[by_prediction], upper[by_prediction]
axis.fill_between(place, *band, alpha=0.25, label="90 % interval")
axis.plot(place, predicted[by_prediction], label="prediction")
axis.plot(place, y.iloc[later].to_numpy()[by_prediction], "k.", label="truth")
axis.set(xlabel="patients put aside, by prediction", ylabel="progression")
axis.legend()
plt.show()

# %%
# What more rows bring
# --------------------
#
# Would it pay to measure a thousand more patients? ``forecast`` answers from the rows at
# hand, because theory predicts how the error of a ridge depends on the number of rows. We
# pretend that only 120 patients are known, and ask for up to 2,000. ``Equal(1)`` stands for
# one member that sees all columns, and ``ridges="auto"`` chooses its ridge.

pilot = ours[:120]
sizes = np.array([80, 120, 200, 350, 600, 1000, 2000])
one_ridge = {"one ridge": sr.Ensemble(sr.subsets.Equal(1))}
curve = sr.forecast(
    X.iloc[pilot], y.iloc[pilot], sizes, one_ridge, ridges="auto"
).isel(ensemble=0)
for name in (
    "n_samples",
    "prediction_error",
    "prediction_error_lower",
    "prediction_error_upper",
):
    print(f"{name:24}", *(f"{value:7.0f}" for value in curve[name].values))

# %%
# We do know what happens up to 350 rows. A dot is the mean of eight models, each trained on
# so many patients that are drawn at random, and judged on those put aside.

axis = plt.figure(figsize=(6.5, 3.8), layout="constrained").subplots()
band = curve.prediction_error_lower, curve.prediction_error_upper
axis.fill_between(sizes, *band, alpha=0.2, label="90 % interval")
axis.plot(sizes, curve.prediction_error, label="forecast from 120 patients")
for n in (80, 120, 200, 350):
    found = []
    for draw in range(8):
        rows = np.random.default_rng(draw).choice(ours, n, replace=False)
        trained = sr.RidgeEnsembleRegressor(1, aggregation="mean").fit(
            X.iloc[rows], y.iloc[rows]
        )
        found.append(((y.iloc[later] - trained.predict(X.iloc[later])) ** 2).mean())
    label = "trained on so many" if n == 80 else None
    axis.plot(n, np.mean(found), "ko", label=label)
axis.axhline(
    curve.attrs["label_noise"] ** 2,
    color="0.5",
    ls=":",
    label="noise of the target",
)
axis.set(xscale="log", xlabel="patients", ylabel="squared error on new patients")
axis.set_xticks(sizes, sizes)
axis.minorticks_off()
axis.legend()
plt.show()

# %%
# All dots lie within the interval, but above the curve. The forecast uses only 120
# patients, and the dots only 92 test patients, so the level of both depends on which
# patients were drawn. The interval is wide for this reason. From 80 to 350 patients both
# fall by about as much.
#
# The curve is nearly flat from 350 patients on. What is left is noise that no linear model
# of these ten columns predicts. More patients would bring little; better measurements might.
# Asked the other way round, how many patients does a given error need?

for error in (3000, 2200):
    needed = sr.samples_needed(
        X.iloc[pilot], y.iloc[pilot], error, one_ridge, ridges="auto"
    )
    print(f"squared error {error}: {needed.answer.item()}")

# %%
# The first answer is 215 patients, with an interval from 30 to never (∞): an error of 3,000
# lies close to the noise. The second error lies below the noise, so no number of
# patients is enough.
#
# When not to ensemble, and when to
# ---------------------------------
#
# On this table an ensemble loses, and we can see why: with 35 rows for each column one
# ridge estimates every coefficient well, while a member of an ensemble lacks most columns.
# So
#
# - **take the default** if you know nothing special about the columns. It ends with one
#   ridge unless an ensemble is surely better;
# - **name the members** if you know which columns belong together.
#
# The second case is where ensembles win. Here are 120 rows of 200 columns from four sensors,
# and only the first sensor carries information about the target. We give each sensor a
# member of its own, with a ridge (``ridge_scope="member"``) and a weight
# (``aggregation="free"``) of its own.

rng = np.random.default_rng(0)
readings = rng.standard_normal((120, 200))
target = readings[:, :50] @ rng.standard_normal(50) / 7 + 0.3 * rng.standard_normal(
    120
)
sensors = np.array_split(np.arange(200), 4)

together = sr.RidgeEnsembleRegressor(1).fit(readings, target)
apart = sr.RidgeEnsembleRegressor(
    subsets=sensors, ridge_scope="member", aggregation="free"
).fit(readings, target)
print(f"one ridge on all columns: left-out squared error {together.loo_error_:.2f}")
print(f"one member for each sensor:                      {apart.loo_error_:.2f}")
print("weights of the members", apart.weights_.round(2))

# %%
# The ensemble found the sensor that matters. A weight multiplies the output of its member,
# and the outputs of the other sensors' members are close to zero. So look at the
# coefficients, which include the weights. One ridge has to shrink all columns alike.

figure, axis = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
axis.plot(np.abs(together.coef_), ".", label="one ridge")
axis.plot(np.abs(apart.coef_), ".", label="one member for each sensor")
for edge in (50, 100, 150):
    axis.axvline(edge - 0.5, color="0.7", lw=0.8)
axis.set(xlabel="column", ylabel="size of its coefficient")
axis.legend()
plt.show()

# %%
# Where to go on
# --------------
#
# - Rows that belong together, such as several visits of a patient, need ``groups=``:
#   :doc:`/groups`.
# - From the shell: ``patients.to_csv("patients.csv", index=False)`` writes the table, and
#   ``subridge advise patients.csv --target target`` advises on it.
# - All options of the estimators: :doc:`/estimators`.
# - How accurate forecasts are on real tables: :doc:`/forecasting_accuracy`.
