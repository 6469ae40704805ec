"""Image folders in the class-per-subfolder convention."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from subridge.arrays.types import IntArray
from subridge.spec.errors import DataError

_SUFFIXES = {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm"}
_TEST_FOLDERS = ("val", "test", "validation")


@dataclass(frozen=True, eq=False)
class ImageFolder:
    """Files of labelled images.

    Attributes
    ----------
    root : Path
    paths : tuple of str
        Relative to the root, sorted.
    labels : ndarray of int, shape (n,)
        Positions in ``class_names``.
    is_test : ndarray of bool, shape (n,)
        From the folder's own split; all False where it has none.
    class_names : tuple of str
    """

    root: Path
    paths: tuple[str, ...]
    labels: IntArray
    is_test: np.ndarray
    class_names: tuple[str, ...]


def read_folder(root: str | Path) -> ImageFolder:
    """Find the images below a folder.

    Each subfolder is a class; or the folder has subfolders ``train`` and ``val`` (or ``test``) that do, as Imagenette
    and Imagewoof unpack.

    Raises
    ------
    DataError
        When there is no folder, no class or no image.
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
    for folder, held_out in splits:
        for below in sorted(path for path in folder.iterdir() if path.is_dir()):
            files = sorted(path for path in below.rglob("*") if path.suffix.lower() in _SUFFIXES)
            found += [(str(path.relative_to(root)), below.name, held_out) for path in files]
    if not found:
        raise DataError(f"{root} has no images in subfolders; expected one subfolder per class, or train/ and val/")
    names = tuple(sorted({name for _, name, _ in found}))
    labels = np.array([names.index(name) for _, name, _ in found])
    return ImageFolder(root, tuple(path for path, _, _ in found), labels, np.array([t for *_, t in found]), names)
