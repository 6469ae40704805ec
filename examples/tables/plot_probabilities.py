"""
Classes and their probabilities
===============================

The classifier adds the scores of its members, fits one bias for each class, and turns
scores into probabilities by one temperature. All of these are fitted to left-out rows.
The probabilities are then well calibrated.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import subridge as sr

X, y = load_digits(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, train_size=500, random_state=0)
model = sr.RidgeEnsembleClassifier(random_state=0).fit(X, y)
print(f"accuracy on new rows {model.score(X_new, y_new):.3f}")

# %%
# Of all classes to which a probability of, say, 60 % is given, about 60 % are right.

probability = model.predict_proba(X_new).ravel()
right = (y_new[:, None] == model.classes_).ravel()
share, said = calibration_curve(right, probability, n_bins=8)
figure, axis = plt.subplots(figsize=(5, 4.5), layout="constrained")
axis.plot(said, share, "o-", label="digits")
axis.axline((0.5, 0.5), slope=1, color="black", lw=1, label="as it should be")
axis.set(xlabel="probability of a class", ylabel="share that is right")
axis.legend()
plt.show()
