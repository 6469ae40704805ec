"""Features of labelled images, split into training and test, and how they were made."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from subridge.arrays.types import FloatArray, IntArray, Json
from subridge.model.errors import DataError


@dataclass(frozen=True, eq=False)
class FeatureSet:
    """What `simulate_classification` needs; unpacks as ``X, y, X_test, y_test``.

    Attributes
    ----------
    X, X_test : ndarray, shapes (n, M) and (n_test, M)
        Features, one image per row.
    y, y_test : ndarray of int, shapes (n,) and (n_test,)
        Positions in ``class_names``.
    class_names : tuple of str
        What the classes are called.
    name : str
        Of the set, for titles.
    attributes : dict
        Network, preprocessing, versions, licences: whatever tells how the features were made.

    Raises
    ------
    DataError
        If the shapes do not fit together.

    Examples
    --------
    >>> import numpy as np
    >>> data = FeatureSet(np.eye(2), np.array([0, 1]), np.eye(2), np.array([0, 1]), ("cat", "dog"), "toy")
    >>> X, y, X_test, y_test = data
    >>> data.n_features
    2
    >>> data.with_features(1).n_features
    1
    >>> data.with_sizes(1, None).X.shape
    (1, 2)
    """

    X: FloatArray
    y: IntArray
    X_test: FloatArray
    y_test: IntArray
    class_names: tuple[str, ...]
    name: str
    attributes: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for features, labels, part in ((self.X, self.y, "training"), (self.X_test, self.y_test, "test")):
            if features.ndim != 2 or labels.shape != (len(features),):
                raise DataError(f"{part} features {features.shape} and labels {labels.shape} do not fit together")
        if self.X.shape[1] != self.X_test.shape[1]:
            raise DataError(f"X has {self.X.shape[1]} features but X_test has {self.X_test.shape[1]}")

    def __iter__(self) -> Iterator[FloatArray | IntArray]:
        return iter((self.X, self.y, self.X_test, self.y_test))

    @property
    def n_features(self) -> int:
        """Number of features, M."""
        return int(self.X.shape[1])

    def without_constant_features(self, least_spread: float = 0.05) -> "FeatureSet":
        """Drop features whose standard deviation in training is below a share of the median one.

        A feature that hardly varies is zero in most training sets; it adds nothing to learn from and a singular Gram
        matrix.

        Parameters
        ----------
        least_spread : float
            That share.

        Returns
        -------
        FeatureSet
            The other features; its attributes tell how many were dropped.

        Examples
        --------
        >>> X = np.random.default_rng(0).standard_normal((50, 4)) * [1, 1, 0, 1e-3]
        >>> FeatureSet(X, np.zeros(50, int), X, np.zeros(50, int), ("a",), "toy").without_constant_features().n_features
        2
        """
        spread = self.X.std(axis=0)
        kept = spread > least_spread * np.median(spread)
        attributes = {**self.attributes, "dropped_features": int((~kept).sum()), "least_spread": least_spread}
        return self._with_columns(np.flatnonzero(kept), attributes)

    def with_features(self, count: int | None) -> "FeatureSet":
        """Keep so many features, spread evenly over the list.

        Parameters
        ----------
        count : int or None
            None keeps all.

        Returns
        -------
        FeatureSet
            The same images.
        """
        if count is None or count >= self.n_features:
            return self
        kept = np.linspace(0, self.n_features - 1, count).astype(int)
        return self._with_columns(kept, self.attributes)

    def _with_columns(self, kept: IntArray, attributes: Mapping[str, Json]) -> "FeatureSet":
        # np.take keeps rows together in memory, where indexing columns turns them: what gathers and hashes rows later
        # would copy a large set every time.
        parts = (np.take(self.X, kept, axis=1), self.y, np.take(self.X_test, kept, axis=1), self.y_test)
        return FeatureSet(*parts, self.class_names, self.name, attributes)

    def with_sizes(self, n_train: int | None, n_test: int | None) -> "FeatureSet":
        """Keep the first training and test images only.

        Parameters
        ----------
        n_train, n_test : int or None
            None keeps all.

        Returns
        -------
        FeatureSet
            The same features.
        """
        parts = (self.X[:n_train], self.y[:n_train], self.X_test[:n_test], self.y_test[:n_test])
        return FeatureSet(*parts, self.class_names, self.name, self.attributes)
