"""Features of labelled images as training and test sets: bundled, from the cache, or from a store."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import IO

import numpy as np

from subridge.arrays.types import FloatArray, IntArray, Json
from subridge.datasets.images.features import StoredFeatures, read_features
from subridge.datasets.images.published import COLLECTIONS, read_cached
from subridge.model.checks import non_negative, of_kind, one_number, positive_integer, stream
from subridge.model.errors import DataError
from subridge.store.tasks import is_store

# Share of the images that are held out if the folder has no split of its own.
_TEST_SHARE = 0.3


@dataclass(frozen=True, eq=False)
class FeatureSet:
    """Data for `simulate_classification`; unpacks as ``X, y, X_test, y_test``.

    Attributes
    ----------
    X, X_test : ndarray, shapes (n, M) and (n_test, M)
        Features, one image per row.
    y, y_test : ndarray of int, shapes (n,) and (n_test,)
        Positions in ``class_names``.
    class_names : tuple of str
        Names of the classes.
    name : str
        Name of the set, for titles.
    attributes : dict
        How the features were made: network, preprocessing, versions, licences.

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
            if features.shape != (*labels.shape, self.X.shape[-1]) or labels.ndim != 1:
                raise DataError(
                    f"{part} features {features.shape} and labels {labels.shape} do not fit together, or to X of shape "
                    f"{self.X.shape}"
                )

    def __iter__(self) -> Iterator[FloatArray | IntArray]:
        return iter((self.X, self.y, self.X_test, self.y_test))

    @property
    def n_features(self) -> int:
        """Number of features, M."""
        return int(self.X.shape[1])

    def without_constant_features(self, least_spread: float = 0.05) -> "FeatureSet":
        """Drop features whose standard deviation in training is below a share of the median one.

        A feature that hardly varies is zero in most training sets. It carries no information and makes the Gram matrix
        singular.

        Parameters
        ----------
        least_spread : float
            The share.

        Returns
        -------
        FeatureSet
            The other features; its attributes say how many were dropped.

        Raises
        ------
        ParameterError
            If the share is negative.

        Examples
        --------
        >>> X = np.random.default_rng(0).standard_normal((50, 4)) * [1, 1, 0, 1e-3]
        >>> y = np.zeros(50, int)
        >>> FeatureSet(X, y, X, y, ("a",), "toy").without_constant_features().n_features
        2
        """
        least_spread = one_number("least_spread", non_negative("least_spread", least_spread))
        spread = self.X.std(axis=0)
        kept = spread > least_spread * np.median(spread)
        attributes = {**self.attributes, "dropped_features": int((~kept).sum()), "least_spread": least_spread}
        return replace(self._with_columns(np.flatnonzero(kept)), attributes=attributes)

    def with_features(self, count: int | None) -> "FeatureSet":
        """Keep `count` features, spread evenly over the list.

        Parameters
        ----------
        count : int or None
            None keeps all.

        Returns
        -------
        FeatureSet
            The same images.

        Raises
        ------
        ParameterError
            If `count` is not a positive integer.
        """
        if count is None or positive_integer("count", count) >= self.n_features:
            return self
        return self._with_columns(np.linspace(0, self.n_features - 1, int(count)).astype(int))

    def _with_columns(self, kept: IntArray) -> "FeatureSet":
        # Unlike indexing, np.take keeps rows contiguous; otherwise later code that gathers and hashes rows would copy a
        # large set every time.
        return replace(self, X=self.X.take(kept, axis=1), X_test=self.X_test.take(kept, axis=1))

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

        Raises
        ------
        ParameterError
            If a number is not a positive integer.
        """
        if n_train is not None:
            n_train = positive_integer("n_train", n_train)
        if n_test is not None:
            n_test = positive_integer("n_test", n_test)
        return replace(
            self, X=self.X[:n_train], y=self.y[:n_train], X_test=self.X_test[:n_test], y_test=self.y_test[:n_test]
        )


def load_set(name: str | Path) -> FeatureSet:
    """Load a set by name or path.

    Parameters
    ----------
    name : {"bundled", "cifar10", "fashion"} or path
        "cifar10" is CIFAR-10 × EfficientNet-lite0, "fashion" is Fashion-MNIST × AugNet ResNet-50; both are made by
        ``make data``. A path leads to a store of `subridge features`.

    Returns
    -------
    FeatureSet
        A set without features that hardly vary.

    Raises
    ------
    ParameterError
        If `name` is neither text nor a path.
    StoreError
        If the path cannot be read.
    DataError
        If there is no such set, or it has not been made yet.

    See Also
    --------
    load_store : All features of a store.
    load_fashion_features : The set "bundled".

    Examples
    --------
    >>> load_set("bundled").class_names[9]
    'ankle boot'
    """
    of_kind("name", name, str, Path)
    if name == "bundled":
        return load_fashion_features()
    if name in COLLECTIONS:
        title = f"{name} x {COLLECTIONS[name].extraction.network}"
        return _feature_set(read_cached(name), title, seed=0).without_constant_features()
    if is_store(name):
        return load_store(name).without_constant_features()
    raise DataError(
        f"data must be bundled, {', '.join(COLLECTIONS)} or the path of a features store, got {str(name)!r}"
    )


def load_store(path: str | Path, *, seed: int = 0) -> FeatureSet:
    """Load the features that `extract_folder` put into a store.

    Parameters
    ----------
    path : path
        The store, a zarr directory.
    seed : int
        Seed of the random split, which holds out three of ten images, if the folder had no test images.

    Returns
    -------
    FeatureSet
        A set with all features, also those that hardly vary.

    Raises
    ------
    StoreError
        If there is no such store, or it is not finished.

    See Also
    --------
    extract_folder : Make a store.

    Examples
    --------
    >>> X, y, X_test, y_test = load_store("photos.zarr")  # doctest: +SKIP
    >>> load_store("no such store.zarr")
    Traceback (most recent call last):
    subridge.model.errors.StoreError: ...
    """
    return _feature_set(read_features(path), Path(path).stem, seed)


def _feature_set(stored: StoredFeatures, name: str, seed: int) -> FeatureSet:
    n = len(stored.labels)
    is_test = stored.is_test if stored.is_test.any() else stream(seed).permutation(n) < _TEST_SHARE * n
    return FeatureSet(
        X=stored.features[~is_test].astype(float),
        y=stored.labels[~is_test],
        X_test=stored.features[is_test].astype(float),
        y_test=stored.labels[is_test],
        class_names=stored.class_names,
        name=name,
        attributes=stored.attributes,
    )


def load_fashion_features() -> FeatureSet:
    """Fashion-MNIST seen by EfficientNet-lite0: 4,000 training and 2,000 test images, 10 classes.

    The first 4,000 training and the first 2,000 test images of Fashion-MNIST (Xiao et al. 2017, MIT licence), enlarged
    to 128 pixels, as pooled activations of EfficientNet-lite0 (Tan & Le 2019, weights under Apache-2.0). Of its 1,280
    features those that hardly vary are left out. Entries are stored in one byte each;
    ``tools/make_fashion_features.py`` made the file and states the error of that.

    Returns
    -------
    FeatureSet
        A set with about a thousand features.

    See Also
    --------
    load_set : Larger sets by name.

    Examples
    --------
    >>> import subridge as sr
    >>> data = sr.datasets.load_fashion_features()
    >>> len(data.X), len(data.X_test), len(data.class_names)
    (4000, 2000, 10)
    """
    with files("subridge.datasets").joinpath("data/fashion_lite0.npz").open("rb") as file:
        return read_quantised(file, "fashion-mnist x efficientnet-lite0")


def read_quantised(file: Path | IO[bytes], name: str) -> FeatureSet:
    """Read a set with one byte per entry, as ``tools/make_fashion_features.py`` writes it."""
    with np.load(file) as table:
        scale = table["scale"]
        offset = table["offset"]
        # The file is in column order, which compresses better; later code gathers and hashes rows.
        return FeatureSet(
            X=table["train"].astype(float, order="C") * scale + offset,
            y=table["train_labels"].astype(int),
            X_test=table["test"].astype(float, order="C") * scale + offset,
            y_test=table["test_labels"].astype(int),
            class_names=tuple(map(str, table["class_names"])),
            name=name,
            attributes=dict(str(line).split("=", 1) for line in table["attributes"]),
        )
