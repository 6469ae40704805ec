"""Real data that comes with the package."""

from importlib.resources import files

from subridge.datasets.images.feature_set import FeatureSet
from subridge.datasets.images.quantised import read_quantised


def load_fashion_features() -> FeatureSet:
    """Fashion-MNIST seen by EfficientNet-lite0: 4,000 training and 2,000 test images, 10 classes.

    The first 4,000 training and the first 2,000 test images of Fashion-MNIST (Xiao et al. 2017, MIT licence), enlarged
    to 128 pixels, as pooled activations of EfficientNet-lite0 (Tan & Le 2019, weights under Apache-2.0). Of its 1,280
    features those that hardly vary are left out. Entries are stored in one byte each;
    ``tools/make_fashion_features.py`` made the file and states the error of that.

    Returns
    -------
    FeatureSet

    Examples
    --------
    >>> import subridge as sr
    >>> data = sr.datasets.load_fashion_features()
    >>> len(data.X), len(data.X_test), len(data.class_names)
    (4000, 2000, 10)
    """
    with files("subridge.datasets").joinpath("data/fashion_lite0.npz").open("rb") as file:
        return read_quantised(file, "fashion-mnist x efficientnet-lite0")
