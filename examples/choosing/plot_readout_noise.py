"""
An ensemble wins: noisy outputs
===============================

Members on noisy hardware add noise to their outputs. Averaging k members divides the
variance of this noise by k. With little noise one member that sees everything is best;
with more noise the best number of members grows.
"""

import matplotlib.pyplot as plt
import numpy as np

import subridge as sr

members = np.arange(1, 21)
figure, axis = plt.subplots(figsize=(6.5, 4), layout="constrained")
for noise in (0.1, 0.4, 0.8, 1.2):
    error = sr.reduced_risk(
        members, sample_ratio=3.0, alignment=0.6, reduced_ridge=0.0,
        readout_nsr=noise, feature_nsr=0.0, label_nsr=0.1,
    )  # fmt: skip
    best = int(np.argmin(error))
    (line,) = axis.plot(members, error, label=f"readout noise H = {noise}")
    axis.plot(members[best], error[best], "o", color=line.get_color())
axis.set(
    xlabel="members k",
    ylabel="error, in units of the signal",
    ylim=(0, 2),
    xticks=[1, 5, 10, 15, 20],
)
axis.legend(title="dots: the best k")
plt.show()
