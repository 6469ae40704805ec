"""What is known of a published collection of images before it is fetched."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from subridge.arrays.types import IntArray
from subridge.datasets.images.extraction import Extraction
from subridge.datasets.images.pictures import Pictures
from subridge.model.errors import DataError

if TYPE_CHECKING:
    from PIL import Image

Part: TypeAlias = Literal["train", "test"]
Pixels: TypeAlias = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Collection:
    """Published images and the network that sees them.

    `source` says where they come from, and their licence. `read` goes from a folder and "train" or "test" to images and
    labels. `counts` are of all training and all test images, `digests` the SHA-256 of their pixels.
    """

    source: str
    read: Callable[[Path, Part], tuple[Pixels, IntArray]]
    class_names: tuple[str, ...]
    extraction: Extraction
    counts: tuple[int, int]
    digests: tuple[str, str]

    def identity(self, n_train: int | None, n_test: int | None) -> tuple[str, ...]:
        """What tells the first so many images from any others; None means all."""
        counts = (min(n, whole) if n else whole for n, whole in zip((n_train, n_test), self.counts, strict=True))
        return (self.source, *self.digests, *map(str, counts))

    def pictures(self, folder: Path, n_train: int | None, n_test: int | None) -> Pictures:
        """The first so many images in a folder, None takes all; `DataError` where absent or not those published."""
        pixels, labels = self._checked(folder, "train", self.digests[0])
        more_pixels, more_labels = self._checked(folder, "test", self.digests[1])
        chosen = [*pixels[:n_train], *more_pixels[:n_test]]

        def opened(place: int) -> "Image.Image":
            from PIL import Image

            return Image.fromarray(chosen[place])

        is_test = np.arange(len(chosen)) >= len(pixels[:n_train])
        all_labels = np.concatenate([labels[:n_train], more_labels[:n_test]])
        return Pictures(self.identity(n_train, n_test), all_labels, is_test, self.class_names, opened)

    def _checked(self, folder: Path, part: Part, digest: str) -> tuple[Pixels, IntArray]:
        pixels, labels = self.read(folder, part)
        found = hashlib.sha256(np.ascontiguousarray(pixels).tobytes()).hexdigest()
        if found != digest:
            raise DataError(f"the {part} images in {folder} are not those published: SHA-256 {found}, not {digest}")
        return pixels, labels


def find_file(folder: Path, pattern: str) -> Path:
    """The first file of that name in a folder or below it."""
    hits = sorted(folder.rglob(pattern))
    if not hits:
        raise DataError(f"{folder} has no file {pattern}")
    return hits[0]
