"""Image folders in the class-per-subfolder convention."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from subridge.datasets.images.pictures import Pictures
from subridge.model.errors import DataError

if TYPE_CHECKING:
    from PIL import Image

_SUFFIXES = {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm"}
_TEST_FOLDERS = ("val", "test", "validation")


def read_folder(root: str | Path) -> Pictures:
    """Find the images below a folder; `DataError` when there is no folder, no class or no image.

    Each subfolder is a class; or the folder has subfolders ``train`` and ``val`` (or ``test``) that do, as Imagenette
    and Imagewoof unpack.
    """
    root = Path(root)
    if not root.is_dir():
        raise DataError(f"{root} is not a folder of images")
    test = next((name for name in _TEST_FOLDERS if (root / name).is_dir()), None)
    if (root / "train").is_dir() and test is not None:
        splits = [(root / "train", False), (root / test, True)]
    else:
        splits = [(root, False)]
    found = []
    for folder, is_test in splits:
        for below in sorted(path for path in folder.iterdir() if path.is_dir()):
            files = sorted(path for path in below.rglob("*") if path.suffix.lower() in _SUFFIXES)
            found += [(str(path.relative_to(root)), below.name, is_test) for path in files]
    if not found:
        raise DataError(f"{root} has no images in subfolders; expected one subfolder per class, or train/ and val/")
    paths, folders, held_out = zip(*found, strict=True)
    names = tuple(sorted(set(folders)))
    labels = np.array([names.index(name) for name in folders])
    return Pictures(paths, labels, np.array(held_out), names, lambda place: _opened(root, paths[place]))


def _opened(root: Path, path: str) -> "Image.Image":
    from PIL import Image

    try:
        with Image.open(root / path) as picture:
            return picture.convert("RGB")
    except (OSError, ValueError, SyntaxError) as error:  # what Pillow raises, by format
        raise DataError(
            f"image {path} does not decode ({error}); repair or remove it, or skip such images (--skip-unreadable)"
        ) from error
