"""Second-order statistics of a feature matrix: Gram matrix, covariance, spectrum and its power law."""

import numpy as np
import xarray as xr

from subridge.arrays.types import ArrayLike
from subridge.results.schemas import result_attributes


def feature_statistics(X: ArrayLike, y: ArrayLike, n_images: int, n_fitted: int) -> xr.Dataset:
    """Statistics of centred features of images X, shape (n, M), with classes y, shape (n,).

    The dataset has ``gram`` (image, other_image), Φ Φᵀ/M of centred features Φ of `n_images` spread evenly over the
    list sorted by class; ``label`` (image); ``covariance`` (feature, other_feature); ``eigenvalue`` (rank); and the
    scalars ``power`` and ``prefactor`` of eigenvalue ≈ prefactor · rank^power, by least squares of logarithms of the
    `n_fitted` largest.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((4000, 50)) * np.arange(1, 51) ** -0.5
    >>> stats = feature_statistics(X, np.arange(4000) % 2, 10, 40)
    >>> abs(float(stats.power) + 1) < 0.1
    True
    """
    features, labels = np.asarray(X, dtype=np.float64), np.asarray(y)
    centred = features - features.mean(axis=0)
    covariance = centred.T @ centred / len(centred)
    eigenvalues = np.linalg.eigvalsh(covariance)[::-1]
    order = np.argsort(labels, kind="stable")
    chosen = order[np.linspace(0, len(order) - 1, min(n_images, len(order))).astype(int)]
    ranks = np.arange(1, len(eigenvalues) + 1)
    n = min(n_fitted, int((eigenvalues > 0).sum()))
    power, offset = np.polyfit(np.log(ranks[:n]), np.log(eigenvalues[:n]), 1)
    return xr.Dataset(
        {
            "gram": (("image", "other_image"), centred[chosen] @ centred[chosen].T / features.shape[1]),
            "label": ("image", labels[chosen]),
            "covariance": (("feature", "other_feature"), covariance),
            "eigenvalue": ("rank", eigenvalues),
            "power": float(power),
            "prefactor": float(np.exp(offset)),
            "n_fitted": n,
        },
        {"rank": ranks},
        result_attributes("feature_statistics", 1, "Gram matrix, covariance and spectrum of centred features."),
    )
